//! Transactions: what changes rows, and how it ends.
//!
//! # By name
//!
//! What changes rows in several statements is run by [`Storage::transaction`]: it begins a transaction, hands it to a
//! closure, and commits or rolls back as the closure says. The name is that of the span, `db.<table>.<verb>`; by it the
//! metrics count transactions (`transactions_total`) and their repetitions (`transaction_repeats_total`).
//!
//! ```text
//! self.transaction("db.sessions.insert", |mut transaction| async move {
//!     insert(&mut transaction, …).await?;
//!     Ok(transaction.commit_with(()))
//! })
//! .await
//! ```
//!
//! **The closure is called again** when the transaction lost a race ([`repeat`](crate::storage::database::repeat)): the
//! database undid it and said so (40001, 40P01). So it reads in the transaction all that it decides by, borrows what it is
//! given and gives nothing away, and has no effect outside; what is told of a change is told behind
//! [`Storage::transaction`], once it is committed. An error rolls back, whatever was done before it. A commit that broke
//! without a word of the database is no lost race: whether it was done is unknown, so it is not repeated but stands as
//! an error ([`StorageError::Unavailable`]), unless a request with an `Idempotency-Key` is sent again.
//!
//! It is a closure that returns a future, and gets the transaction as its own, because that of an async closure that
//! borrows both cannot be shown to be `Send` (Rust 1.95: "implementation of `Send` is not general enough").
//!
//! # One statement
//!
//! A single statement that changes rows is a transaction by itself: [`Storage::execute`] and [`Storage::fetch_optional`]
//! send it without `BEGIN` and `COMMIT`, with the same deadline, the same repetition, and a name. Only behind a pooler
//! that does not keep prepared statements it takes a transaction, since its preparation and its execution are two
//! messages. Work that goes through vaults takes a transaction for one statement too, in which locks are waited for only
//! for a moment ([`Storage::sweep_transaction`]).
//!
//! # What is begun otherwise
//!
//! - Reads of several statements ([`Storage::begin_for`]): they lose no races. Search and its vectors, a handoff's
//!   snapshot.
//! - Batches (`write/group_commit.rs`, `batcher/small_writes.rs`): their transaction is on a connection that is kept for
//!   the next batch, and what a commit came to is told to each of the senders, who knows whether to send again.
//! - `transfer`: an import reads its input between the statements of a transaction and cannot begin it again; an export
//!   is a snapshot.
//! - Whether the database may be written to, migrations and the distribution of tables.
//!
//! [`Storage::transaction`]: crate::storage::Storage::transaction
//! [`Storage::execute`]: crate::storage::Storage::execute
//! [`Storage::fetch_optional`]: crate::storage::Storage::fetch_optional
//! [`Storage::sweep_transaction`]: crate::storage::Storage::sweep_transaction
//! [`Storage::begin_for`]: crate::storage::Storage::begin_for
//! [`StorageError::Unavailable`]: crate::storage::StorageError::Unavailable

use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use sqlx::{Error, SqlSafeStr as _, SqlStr};
use std::ops::{Deref, DerefMut};

/// Rolled back when it is dropped without having ended.
#[derive(Debug)]
pub(in crate::storage) struct Transaction {
    connection: Connection,
}

impl Transaction {
    /// Begins one with `statement`, or with a plain `BEGIN`. To be awaited to its end: nobody would end what was begun.
    pub(in crate::storage) async fn begin(
        mut connection: Connection,
        statement: Option<SqlStr>,
    ) -> Result<Self, Error> {
        let statement = statement.unwrap_or_else(|| "BEGIN".into_sql_str());
        connection.begins_transaction();
        sqlx::raw_sql(statement).execute(&mut connection).await?;
        Ok(Self { connection })
    }

    /// The end of a named transaction that is committed; `value` is what it came to.
    pub(in crate::storage) fn commit_with<T>(self, value: T) -> Ending<T> {
        Ending {
            transaction: self,
            value,
            commits: true,
        }
    }

    /// The end of a named transaction that leaves nothing behind; `value` is what it came to.
    pub(in crate::storage) fn roll_back_with<T>(self, value: T) -> Ending<T> {
        Ending {
            transaction: self,
            value,
            commits: false,
        }
    }

    /// Commits it. Where that fails without the database having said so, it is unknown whether it was committed.
    pub(in crate::storage) async fn commit(self) -> Result<(), Error> {
        self.commit_and_keep().await.map(drop)
    }

    /// As [`commit`](Self::commit); its connection is for what comes next.
    pub(in crate::storage) async fn commit_and_keep(mut self) -> Result<Connection, Error> {
        sqlx::raw_sql("COMMIT").execute(&mut self.connection).await?;
        self.connection.ended_transaction();
        Ok(self.connection)
    }

    /// Undoes what was done in it.
    pub(in crate::storage) async fn rollback(mut self) -> Result<(), Error> {
        sqlx::raw_sql("ROLLBACK").execute(&mut self.connection).await?;
        self.connection.ended_transaction();
        Ok(())
    }
}

/// How a named transaction ends, said by its closure.
#[derive(Debug)]
#[must_use]
pub(in crate::storage) struct Ending<T> {
    transaction: Transaction,
    value: T,
    commits: bool,
}

impl<T> Ending<T> {
    /// Commits or rolls back. What the transaction came to, and whether it was committed.
    pub(in crate::storage) async fn end(self) -> Result<(T, bool), StorageError> {
        match self.commits {
            true => self.transaction.commit().await?,
            false => self.transaction.rollback().await?,
        }
        Ok((self.value, self.commits))
    }
}

impl Deref for Transaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
