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

use crate::storage::database::connection::Connection;
use crate::storage::error::may_repeat;
use crate::storage::{Class, Storage, StorageError};
use crate::telemetry::meters::{self, TransactionResult};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::{Map, Query};
use sqlx::{Error, Postgres, SqlSafeStr as _, SqlStr};
use std::ops::{Deref, DerefMut};
use std::time::Duration;
use tokio::time::sleep;

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

impl Storage {
    /// Runs a transaction of a request that changes data. `body` may be called again.
    pub(in crate::storage) async fn transaction<T, E, F>(
        &self,
        name: &'static str,
        body: impl Fn(Transaction) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<Ending<T>, E>>,
    {
        self.transaction_for(Class::Write, name, body).await
    }

    /// As [`Self::transaction`], for this class of work.
    pub(in crate::storage) async fn transaction_for<T, E, F>(
        &self,
        class: Class,
        name: &'static str,
        body: impl Fn(Transaction) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<Ending<T>, E>>,
    {
        self.transaction_after(class, name, may_repeat, body).await
    }

    /// As [`Self::transaction_for`], and repeats also after other errors that a new attempt can avoid.
    pub(in crate::storage) async fn transaction_after<T, E, F>(
        &self,
        class: Class,
        name: &'static str,
        may_repeat: impl Fn(&StorageError) -> bool,
        body: impl Fn(Transaction) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<Ending<T>, E>>,
    {
        run(name, may_repeat, || self.begin_for(class), body).await
    }

    /// As [`Self::transaction`], for work that loops over vaults: it has a short lock timeout.
    pub(in crate::storage) async fn sweep_transaction<T, E, F>(
        &self,
        name: &'static str,
        body: impl Fn(Transaction) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<Ending<T>, E>>,
    {
        run(name, may_repeat, || self.begin_sweep(), body).await
    }

    /// As [`Self::transaction`], on one of the connections for events.
    pub(in crate::storage) async fn event_transaction<T, E, F>(
        &self,
        name: &'static str,
        body: impl Fn(Transaction) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<Ending<T>, E>>,
    {
        run(name, may_repeat, || self.event_writer(), body).await
    }

    /// Runs one statement that changes rows, as its own transaction, and returns the number of rows.
    pub(in crate::storage) async fn execute<'q>(
        &self,
        name: &'static str,
        query: impl Fn() -> Query<'q, Postgres, PgArguments>,
    ) -> Result<u64, StorageError> {
        self.execute_for(Class::Write, name, query).await
    }

    /// As [`Self::execute`], for this class of work.
    pub(in crate::storage) async fn execute_for<'q>(
        &self,
        class: Class,
        name: &'static str,
        query: impl Fn() -> Query<'q, Postgres, PgArguments>,
    ) -> Result<u64, StorageError> {
        let query = &query;
        let attempt = move || async move {
            let mut connection = self.primary_reader_for(class).await?;
            let done = query().execute(&mut *connection).await?;
            connection.commit().await?;
            Ok::<_, StorageError>(done.rows_affected())
        };
        let done = repeated(name, attempt).await;
        meters::transaction_ended(name, result(&done, true));
        done
    }

    /// As [`Self::execute`], for a statement that returns a row if it changed one.
    pub(in crate::storage) async fn fetch_optional<'q, O, M>(
        &self,
        name: &'static str,
        query: impl Fn() -> Map<'q, Postgres, M, PgArguments>,
    ) -> Result<Option<O>, StorageError>
    where
        M: FnMut(PgRow) -> Result<O, sqlx::Error> + Send,
        O: Send + Unpin,
    {
        self.fetch_optional_for(Class::Write, name, query).await
    }

    /// As [`Self::fetch_optional`], for this class of work.
    pub(in crate::storage) async fn fetch_optional_for<'q, O, M>(
        &self,
        class: Class,
        name: &'static str,
        query: impl Fn() -> Map<'q, Postgres, M, PgArguments>,
    ) -> Result<Option<O>, StorageError>
    where
        M: FnMut(PgRow) -> Result<O, sqlx::Error> + Send,
        O: Send + Unpin,
    {
        let query = &query;
        let attempt = move || async move {
            let mut connection = self.primary_reader_for(class).await?;
            let row = query().fetch_optional(&mut *connection).await?;
            connection.commit().await?;
            Ok::<_, StorageError>(row)
        };
        let done = repeated(name, attempt).await;
        meters::transaction_ended(name, result(&done, true));
        done
    }
}

async fn run<T, E, B, F>(
    name: &'static str,
    may_repeat: impl Fn(&StorageError) -> bool,
    begin: impl Fn() -> B,
    body: impl Fn(Transaction) -> F,
) -> Result<T, E>
where
    E: TransactionError,
    B: Future<Output = Result<Transaction, StorageError>>,
    F: Future<Output = Result<Ending<T>, E>>,
{
    let (begin, body) = (&begin, &body);
    let attempt = move || async move {
        let transaction = begin().await?;
        // Boxed, because the futures above it are moved during a request.
        Box::pin(body(transaction)).await?.end().await.map_err(E::from)
    };
    let done = repeated_after(name, may_repeat, attempt).await;
    let commits = done.as_ref().is_ok_and(|(_, commits)| *commits);
    meters::transaction_ended(name, result(&done, commits));
    done.map(|(value, _)| value)
}

fn result<T, E: TransactionError>(done: &Result<T, E>, commits: bool) -> TransactionResult {
    match done {
        Ok(_) if commits => TransactionResult::Committed,
        Err(error) if error.of_storage().is_some() => TransactionResult::Failed,
        _ => TransactionResult::RolledBack,
    }
}

/// Maximum number of repetitions.
const MAX_REPEATS: u32 = 5;

/// The pause before the first repetition; it doubles each time. The losers of one race do not all collide again, since
/// one of them won.
const PAUSE: Duration = Duration::from_millis(1);

/// An error of a transaction, which may be a storage error.
pub(in crate::storage) trait TransactionError: From<StorageError> {
    /// The storage error, if it is one.
    fn of_storage(&self) -> Option<&StorageError>;
}

impl TransactionError for StorageError {
    fn of_storage(&self) -> Option<&StorageError> {
        Some(self)
    }
}

/// Runs a named transaction, and repeats it if it lost a race. Each attempt begins the transaction, reads everything it
/// decides on inside it, and leaves nothing behind when it fails.
pub(in crate::storage) async fn repeated<T, E, F>(
    name: &'static str,
    attempt: impl FnMut() -> F,
) -> Result<T, E>
where
    E: TransactionError,
    F: Future<Output = Result<T, E>>,
{
    repeated_after(name, may_repeat, attempt).await
}

/// As [`repeated`], and repeats also after other errors that a new attempt can avoid.
pub(in crate::storage) async fn repeated_after<T, E, F>(
    name: &'static str,
    may_repeat: impl Fn(&StorageError) -> bool,
    mut attempt: impl FnMut() -> F,
) -> Result<T, E>
where
    E: TransactionError,
    F: Future<Output = Result<T, E>>,
{
    for repeats in 0..MAX_REPEATS {
        let done = attempt().await;
        match done.as_ref().err().and_then(TransactionError::of_storage) {
            Some(error) if may_repeat(error) => {
                tracing::debug!(transaction = name, repeats, %error, "lost a race, running it again");
            }
            _ => return done,
        }
        drop(done);
        meters::transaction_repeated(name);
        sleep(PAUSE * 2_u32.pow(repeats)).await;
    }
    attempt().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::ready;

    async fn attempts(fails: u32, may_repeat: bool) -> (u32, bool) {
        let mut count = 0;
        let attempt = || {
            count += 1;
            ready((count > fails).then_some(()).ok_or(StorageError::KeyTakenOver))
        };
        let done = repeated_after("test", |_| may_repeat, attempt).await;
        (count, done.is_ok())
    }

    #[tokio::test]
    async fn what_loses_a_race_is_run_again_a_few_times() {
        assert_eq!(attempts(2, true).await, (3, true));
        assert_eq!(attempts(u32::MAX, true).await, (MAX_REPEATS + 1, false));
    }

    #[tokio::test]
    async fn other_errors_and_successes_are_the_end() {
        assert_eq!(attempts(0, true).await, (1, true));
        assert_eq!(attempts(1, false).await, (1, false));
    }
}
