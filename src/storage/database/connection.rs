//! A pooled connection whose statements have deadlines, in a transaction or not.
//!
//! It is used like the driver's own: `&mut Connection` executes statements. A statement fails, and its connection is
//! closed, if the server does not answer within the deadline of its [`Class`](crate::storage::Class) or if its
//! [generation](crate::storage::database::liveness) is given up. A connection that is lost, or that leads to a read-only
//! server, is closed too. A transaction that is open when the connection is dropped is rolled back.

use crate::fair::Permit;
use crate::storage::StorageError;
use crate::storage::database::liveness::{Generation, Liveness, silence};
use crate::storage::database::notification::Notification;
use crate::storage::error::{DISK_FULL, OutcomeUnknown, READ_ONLY};
use futures::future::{BoxFuture, OptionFuture};
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _, stream};
use sqlx::error::DatabaseError;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnection, PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{Describe, Either, Error, Execute, Executor, Postgres, QueryBuilder, SqlStr};
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

/// The time limit for releasing a connection that has no deadline.
const RELEASED_WITHIN: Duration = Duration::from_mins(1);

/// Returns to the pool when it is dropped, unless it failed.
pub(in crate::storage) struct Connection {
    /// `None` only while it is being dropped.
    live: Option<PoolConnection<Postgres>>,
    watch: Watch,
    /// The concurrency permit of the current caller, held until the connection is back in the pool.
    permit: Option<Permit>,
    /// A transaction is open on it, or may be.
    is_in_transaction: bool,
    /// Of the events in the open transaction, to be published in this process once it is committed.
    pub(in crate::storage) notifications: Vec<Notification>,
}

impl Connection {
    pub(in crate::storage) fn new(
        live: PoolConnection<Postgres>,
        liveness: &Arc<Liveness>,
        generation: Generation,
        deadline: Option<Duration>,
        permit: Option<Permit>,
    ) -> Self {
        Self {
            live: Some(live),
            watch: Watch {
                generation,
                liveness: liveness.clone(),
                deadline,
                is_spent: false,
            },
            permit,
            is_in_transaction: false,
            notifications: Vec::new(),
        }
    }

    /// Whether its database is distributed by vault.
    pub(in crate::storage) fn is_distributed(&self) -> bool {
        self.watch.liveness.is_distributed()
    }

    /// Begins a transaction, unless one is open.
    pub(in crate::storage) async fn begin(&mut self) -> Result<(), Error> {
        self.begin_with("BEGIN").await
    }

    /// As [`begin`](Self::begin), with this statement.
    pub(in crate::storage) async fn begin_with(&mut self, statement: &'static str) -> Result<(), Error> {
        if !self.is_in_transaction {
            // Before it is sent: if this future is dropped meanwhile, the transaction is rolled back.
            self.is_in_transaction = true;
            sqlx::raw_sql(statement).execute(self).await?;
        }
        Ok(())
    }

    /// Whether a transaction is open.
    pub(in crate::storage) fn is_in_transaction(&self) -> bool {
        self.is_in_transaction
    }

    /// Commits the transaction, if one is open, and returns the connection. If this fails without an error from the server, the
    /// outcome is unknown.
    pub(in crate::storage) async fn commit(mut self) -> Result<Self, Error> {
        self.end("COMMIT").await?;
        Ok(self)
    }

    /// Rolls the transaction back, if one is open, and returns the connection.
    pub(in crate::storage) async fn rollback(mut self) -> Result<Self, StorageError> {
        self.end("ROLLBACK").await?;
        self.notifications.clear();
        Ok(self)
    }

    async fn end(&mut self, statement: &'static str) -> Result<(), Error> {
        if self.is_in_transaction {
            sqlx::raw_sql(statement).execute(&mut *self).await?;
            self.is_in_transaction = false;
        }
        Ok(())
    }

    /// The driver's connection, for APIs that accept no other type. Its statements have no deadline.
    pub(in crate::storage) fn raw(&mut self) -> &mut PgConnection {
        self.live.as_mut().expect("there until it is dropped")
    }

    /// Runs an operation on the driver's connection within the deadline.
    fn bounded<'c, T: Send + 'c>(
        &'c mut self,
        work: impl FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, Error>>,
    ) -> BoxFuture<'c, Result<T, Error>> {
        let (raw, watch) = self.parts();
        let work = work(raw);
        async move { watch.answer(work).await?.map_err(|error| watch.failed(error)) }.boxed()
    }

    fn parts(&mut self) -> (&mut PgConnection, &mut Watch) {
        let raw = self.live.as_mut().expect("there until it is dropped");
        (raw, &mut self.watch)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(mut live) = self.live.take() else {
            return;
        };
        let runtime = Handle::try_current();
        let given_up = self.watch.generation.given_up();
        let is_over = self.watch.is_spent || given_up.is_cancelled();
        let (false, Ok(runtime)) = (is_over, runtime) else {
            // Detach without a goodbye message: a server that does not answer would not read it.
            drop(live.detach());
            return;
        };
        // The pool waits for the answers to abandoned statements, possibly for ever.
        let at_most = self.watch.deadline.unwrap_or(RELEASED_WITHIN);
        let given_up = given_up.clone();
        let is_in_transaction = self.is_in_transaction;
        let permit = self.permit.take();
        runtime.spawn(async move {
            let _permit = permit;
            if is_in_transaction {
                let undone = sqlx::raw_sql("ROLLBACK").execute(&mut *live);
                let undone = given_up.run_until_cancelled(timeout(at_most, undone)).await;
                if !matches!(undone, Some(Ok(Ok(_)))) {
                    drop(live.detach());
                    return;
                }
            }
            // Boxed: the pool's future takes 14 KiB, and what contains it is moved several times.
            let returned = timeout(at_most, Box::pin(live.return_to_pool()));
            // A connection that is not released in time is closed.
            let _ = given_up.run_until_cancelled(returned).await;
        });
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// Enforces the deadline of the statements of a connection.
struct Watch {
    generation: Generation,
    liveness: Arc<Liveness>,
    deadline: Option<Duration>,
    /// A statement was abandoned, or the connection is unusable.
    is_spent: bool,
}

impl Watch {
    /// The next answer of the server; an error if it does not come in time.
    async fn answer<T>(&mut self, answer: impl Future<Output = T>) -> Result<T, Error> {
        let waiting = self.liveness.begin();
        let error = tokio::select! {
            biased;
            answer = answer => {
                self.liveness.answered();
                return Ok(answer);
            }
            () = self.generation.given_up().cancelled() => silence(),
            Some(()) = OptionFuture::from(self.deadline.map(sleep)) => {
                // Other connections of its generation may be dead too.
                self.liveness.retire();
                let seconds = self.deadline.unwrap_or_default().as_secs_f64();
                let problem = format!("a statement had no answer within {seconds} s and was aborted");
                Error::Io(io::Error::new(io::ErrorKind::TimedOut, problem))
            }
        };
        drop(waiting);
        self.is_spent = true;
        Err(error)
    }

    /// Marks the connection as unusable if the error says so, and maps the errors of a distributed database.
    fn failed(&mut self, error: Error) -> Error {
        self.judge(&error);
        match error {
            Error::Database(of_node) if self.liveness.is_distributed() && is_of_a_node(&*of_node) => {
                Error::AnyDriverError(Box::new(OutcomeUnknown(of_node)))
            }
            other => other,
        }
    }

    fn judge(&mut self, error: &Error) {
        match error {
            Error::Io(_) | Error::Tls(_) | Error::WorkerCrashed => {
                self.is_spent = true;
                self.liveness.retire();
            }
            Error::Protocol(_) => self.is_spent = true,
            Error::Database(database) => match database.code().as_deref() {
                Some(READ_ONLY) => {
                    self.is_spent = true;
                    self.liveness.retire_read_only();
                }
                Some(DISK_FULL) => self.liveness.set_disk_full(true),
                // The server shuts down, or this session was terminated.
                Some(code) if code.starts_with("57P") => self.is_spent = true,
                _ => {}
            },
            _ => {}
        }
    }
}

/// Whether a distributed database reports that it lost a node, or that two transactions changed the same row.
fn is_of_a_node(error: &dyn DatabaseError) -> bool {
    error.code().is_some_and(|code| code == "XX000")
}

/// Executes a statement that was built for some number of rows. Only the one for a single row is kept prepared: those for other
/// numbers are many, and would displace others.
pub(in crate::storage) async fn execute_rows(
    connection: &mut Connection,
    mut statement: QueryBuilder<Postgres>,
    rows: usize,
) -> Result<(), StorageError> {
    let is_kept = rows == 1;
    statement.build().persistent(is_kept).execute(connection).await?;
    Ok(())
}

impl<'c> Executor<'c> for &'c mut Connection {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let (raw, watch) = self.parts();
        let answers = raw.fetch_many(query);
        let next = |(mut answers, watch): (BoxStream<'e, _>, &'e mut Watch)| async move {
            let answer = watch.answer(answers.try_next()).await?;
            let answer = answer.map_err(|error| watch.failed(error))?;
            Ok(answer.map(|answer| (answer, (answers, watch))))
        };
        stream::try_unfold((answers, watch), next).boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        self.bounded(|raw| raw.fetch_optional(query))
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'c: 'e,
    {
        self.bounded(|raw| raw.prepare_with(sql, parameters))
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, Error>>
    where
        'c: 'e,
    {
        self.bounded(|raw| raw.describe(sql))
    }
}
