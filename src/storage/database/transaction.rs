//! Transactions.
//!
//! # Named transactions
//!
//! [`Storage::transaction`] runs a change of several statements: it begins a transaction, passes it to a closure, and
//! commits it when the closure returns it with its result, unless the closure has rolled it back. The name is that of the
//! span, `db.<table>.<verb>`, and the label of the metrics `transactions_total` and `transaction_repeats_total`.
//!
//! ```text
//! self.transaction("db.sessions.insert", |mut transaction| async move {
//!     insert(&mut transaction, …).await?;
//!     Ok((transaction, ()))
//! })
//! .await
//! ```
//!
//! **The closure is called again** when the transaction lost a race: the database rolled it back and said so (40001,
//! 40P01), or a row that it refers to was deleted meanwhile (23503). So the closure must read everything it decides on inside the
//! transaction, borrow its input without consuming it, and have no effect outside. The events that it appends are published
//! in this process once they are committed. An error rolls everything back. A commit that failed without
//! an answer of the database is not a lost race: its outcome is unknown, so it is not repeated but returned as an error
//! ([`StorageError::Unavailable`]). A client that sent an `Idempotency-Key` can repeat the request.
//!
//! The parameter is a closure that returns a future and owns the transaction. The future of an async closure that
//! borrows both cannot be shown to be `Send` (Rust 1.95: "implementation of `Send` is not general enough").
//!
//! # One statement
//!
//! A single statement that changes rows is a transaction by itself: [`Storage::execute`] sends it without `BEGIN` and
//! `COMMIT`, with the same deadline, the same repetition, and a name. Behind a pooler that does not keep prepared statements
//! it needs a transaction, because preparing and executing are two messages. Work that loops over vaults uses a transaction
//! for a single statement too, with a short lock timeout ([`Class::Sweep`]).
//!
//! # Other transactions
//!
//! - Reads of several statements ([`Storage::begin`]) lose no races: search and its vectors, the snapshot of a
//!   handoff.
//! - Batches (`write/group_commit.rs`, `batcher`). Each submitter receives the outcome of the commit and decides whether to
//!   repeat its work.
//! - `transfer`: an import reads its input between statements and cannot be repeated; an export is a snapshot.
//! - The check whether the database accepts writes, migrations, and the distribution of tables.
//!
//! [`Storage::transaction`]: crate::storage::Storage::transaction
//! [`Storage::execute`]: crate::storage::Storage::execute
//! [`Storage::begin`]: crate::storage::Storage::begin
//! [`StorageError::Unavailable`]: crate::storage::StorageError::Unavailable

use crate::storage::database::connection::Connection;
use crate::storage::database::notification::Notification;
use crate::storage::error::may_repeat;
use crate::storage::{Class, Storage, StorageError};
use crate::telemetry::{meters, traces};
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use std::mem::take;
use std::time::Duration;
use tokio::time::sleep;

impl Storage {
    /// Runs a transaction of a request that changes data. `body` may be called again.
    pub(in crate::storage) async fn transaction<T, E, F>(
        &self,
        name: &'static str,
        body: impl Fn(Connection) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<(Connection, T), E>>,
    {
        self.transaction_for(Class::Write, name, body).await
    }

    /// As [`Self::transaction`], for this class of work.
    pub(in crate::storage) async fn transaction_for<T, E, F>(
        &self,
        class: Class,
        name: &'static str,
        body: impl Fn(Connection) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<(Connection, T), E>>,
    {
        run(self, name, || self.begin(class), body).await
    }

    /// Runs one statement that changes rows, as its own transaction, and returns the number of rows. Work that loops over
    /// vaults needs a transaction in any case, for its lock timeout.
    pub(in crate::storage) async fn execute<'q>(
        &self,
        class: Class,
        name: &'static str,
        query: impl Fn() -> Query<'q, Postgres, PgArguments>,
    ) -> Result<u64, StorageError> {
        let query = &query;
        let begin = || self.on_primary(class, class == Class::Sweep);
        run(self, name, begin, |mut connection| async move {
            let done = query().execute(&mut connection).await?;
            Ok((connection, done.rows_affected()))
        })
        .await
    }

    /// Wakes the readers of this process after a commit of its own, or one of another instance that it was notified of. Without
    /// this call after its own they may have to wait for the listening connection.
    pub(super) fn publish(&self, notification: Notification) {
        if notification.forget {
            self.replica_must_catch_up();
        }
        self.notifications.publish(notification);
    }
}

/// Runs a named transaction, and repeats it if it lost a race. Each attempt begins the transaction, reads everything it
/// decides on inside it, and leaves nothing behind when it fails.
async fn run<T, E, B, F>(
    storage: &Storage,
    name: &'static str,
    begin: impl Fn() -> B,
    body: impl Fn(Connection) -> F,
) -> Result<T, E>
where
    E: TransactionError,
    B: Future<Output = Result<Connection, StorageError>>,
    F: Future<Output = Result<(Connection, T), E>>,
{
    let (begin, body) = (&begin, &body);
    let attempt = move || async move {
        let transaction = begin().await?;
        let is_begun = transaction.is_in_transaction();
        // Boxed, because the futures above it are moved during a request.
        let (mut transaction, value) = Box::pin(body(transaction)).await?;
        let is_rolled_back = is_begun && !transaction.is_in_transaction();
        let notifications = take(&mut transaction.notifications);
        transaction.commit().await.map_err(StorageError::from)?;
        for notification in notifications {
            storage.publish(notification);
        }
        Ok((value, !is_rolled_back))
    };
    let mut repeats = 0;
    let done = loop {
        let done: Result<(T, bool), E> = traces::database(name, attempt()).await;
        match done.as_ref().err().and_then(TransactionError::of_storage) {
            Some(error) if repeats < MAX_REPEATS && may_repeat(error) => {
                tracing::debug!(transaction = name, repeats, %error, "lost a race, running it again");
            }
            _ => break done,
        }
        drop(done);
        metrics::counter!(meters::TRANSACTION_REPEATS_TOTAL, "transaction" => name).increment(1);
        sleep(PAUSE * 2_u32.pow(repeats)).await;
        repeats += 1;
    };
    let result = match &done {
        Ok((_, true)) => "committed",
        Err(error) if error.of_storage().is_some() => "failed",
        // There was nothing to change, or it was refused.
        _ => "rolled_back",
    };
    metrics::counter!(meters::TRANSACTIONS_TOTAL, "transaction" => name, "result" => result).increment(1);
    done.map(|(value, _)| value)
}

/// Waits for the lock of this name, which is held until the transaction ends: for what has no row to lock.
pub(in crate::storage) async fn lock_name(
    connection: &mut Connection,
    name: &str,
) -> Result<(), StorageError> {
    sqlx::query!("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", name)
        .execute(connection)
        .await?;
    Ok(())
}

/// Maximum number of repetitions.
const MAX_REPEATS: u32 = 5;

/// The pause before the first repetition; it doubles each time. The losers of one race do not all collide again, since
/// one of them won.
const PAUSE: Duration = Duration::from_millis(1);

/// An error of a transaction, which may be a storage error.
pub trait TransactionError: From<StorageError> {
    /// The storage error, if it is one.
    fn of_storage(&self) -> Option<&StorageError>;
}

impl TransactionError for StorageError {
    fn of_storage(&self) -> Option<&StorageError> {
        Some(self)
    }
}
