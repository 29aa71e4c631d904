//! Transactions.
//!
//! # Named transactions
//!
//! [`Storage::transaction`] runs a change of several statements: it begins a transaction, passes it to a closure, and
//! commits or rolls back as the closure says. The name is that of the span, `db.<table>.<verb>`, and the label of the
//! metrics `transactions_total` and `transaction_repeats_total`.
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
//! database rolled it back and said so (40001, 40P01). So the closure must read everything it decides on inside the
//! transaction, borrow its input without consuming it, and have no effect outside. Notifications of a change belong
//! after [`Storage::transaction`], once it is committed. An error rolls everything back. A commit that failed without
//! an answer of the database is not a lost race: its outcome is unknown, so it is not repeated but returned as an error
//! ([`StorageError::Unavailable`]). A client that sent an `Idempotency-Key` can repeat the request.
//!
//! The parameter is a closure that returns a future and owns the transaction. The future of an async closure that
//! borrows both cannot be shown to be `Send` (Rust 1.95: "implementation of `Send` is not general enough").
//!
//! # One statement
//!
//! A single statement that changes rows is a transaction by itself: [`Storage::execute`] and
//! [`Storage::fetch_optional`] send it without `BEGIN` and `COMMIT`, with the same deadline, the same repetition, and a
//! name. Behind a pooler that does not keep prepared statements it needs a transaction, because preparing and executing
//! are two messages. Work that loops over vaults uses a transaction for a single statement too, with a short lock
//! timeout ([`Storage::sweep_transaction`]).
//!
//! # Other transactions
//!
//! - Reads of several statements ([`Storage::begin_for`]) lose no races: search and its vectors, the snapshot of a
//!   handoff.
//! - Batches (`write/group_commit.rs`, `batcher/small_writes.rs`) keep their connection for the next batch. Each
//!   submitter receives the outcome of the commit and decides whether to repeat its work.
//! - `transfer`: an import reads its input between statements and cannot be repeated; an export is a snapshot.
//! - The check whether the database accepts writes, migrations, and the distribution of tables.
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

/// Rolls back when it is dropped without having ended.
#[derive(Debug)]
pub(in crate::storage) struct Transaction {
    connection: Connection,
}

impl Transaction {
    /// Begins a transaction with `statement`, or with a plain `BEGIN`. Must not be cancelled: nothing would end the
    /// transaction.
    pub(in crate::storage) async fn begin(
        mut connection: Connection,
        statement: Option<SqlStr>,
    ) -> Result<Self, Error> {
        let statement = statement.unwrap_or_else(|| "BEGIN".into_sql_str());
        connection.begins_transaction();
        sqlx::raw_sql(statement).execute(&mut connection).await?;
        Ok(Self { connection })
    }

    /// Ends a named transaction with a commit; `value` is its result.
    pub(in crate::storage) fn commit_with<T>(self, value: T) -> Ending<T> {
        Ending {
            transaction: self,
            value,
            commits: true,
        }
    }

    /// Ends a named transaction with a rollback; `value` is its result.
    pub(in crate::storage) fn roll_back_with<T>(self, value: T) -> Ending<T> {
        Ending {
            transaction: self,
            value,
            commits: false,
        }
    }

    /// Commits. If this fails without an error from the server, the outcome is unknown.
    pub(in crate::storage) async fn commit(self) -> Result<(), Error> {
        self.commit_and_keep().await.map(drop)
    }

    /// As [`commit`](Self::commit), and returns the connection for reuse.
    pub(in crate::storage) async fn commit_and_keep(mut self) -> Result<Connection, Error> {
        sqlx::raw_sql("COMMIT").execute(&mut self.connection).await?;
        self.connection.ended_transaction();
        Ok(self.connection)
    }

    /// Rolls back.
    pub(in crate::storage) async fn rollback(mut self) -> Result<(), Error> {
        sqlx::raw_sql("ROLLBACK").execute(&mut self.connection).await?;
        self.connection.ended_transaction();
        Ok(())
    }
}

/// How the closure of a named transaction ends it.
#[derive(Debug)]
#[must_use]
pub(in crate::storage) struct Ending<T> {
    transaction: Transaction,
    value: T,
    commits: bool,
}

impl<T> Ending<T> {
    /// Commits or rolls back. Returns the result and whether it was committed.
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
