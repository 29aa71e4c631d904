//! A pooled connection whose statements have deadlines.
//!
//! It is used like the driver's own: `&mut Connection` executes statements. A statement fails, and its connection is
//! closed, if the server does not answer within the deadline of its [`Class`](crate::storage::Class) or if its
//! [generation](crate::storage::database::liveness) is retired. A connection that is lost, or that leads to a read-only
//! server, is closed too.

use crate::fair::Permit;
use crate::storage::database::liveness::{Generation, Liveness, Waiting, silence};
use crate::storage::error::{DISK_FULL, OutcomeUnknown};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt};
use sqlx::error::DatabaseError;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnection, PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{Describe, Either, Error, Execute, Executor, Postgres, SqlStr};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Sleep, sleep, timeout};
use tokio_util::sync::WaitForCancellationFutureOwned;

/// The time limit for releasing a connection that has no deadline.
const RELEASED_WITHIN: Duration = Duration::from_mins(1);

/// Returns to the pool when it is dropped, unless it failed.
pub(in crate::storage) struct Connection {
    /// `None` only while it is being dropped.
    live: Option<PoolConnection<Postgres>>,
    generation: Generation,
    liveness: Arc<Liveness>,
    deadline: Option<Duration>,
    /// A statement was abandoned, or the connection is unusable.
    is_spent: bool,
    /// The concurrency permit of the current caller, held until the connection is back in the pool.
    permit: Option<Permit>,
    /// A transaction is open on it.
    is_in_transaction: bool,
}

impl Connection {
    /// Whether its database is distributed by vault.
    pub(in crate::storage) fn is_distributed(&self) -> bool {
        self.liveness.is_distributed()
    }

    pub(in crate::storage) fn new(
        live: PoolConnection<Postgres>,
        generation: Generation,
        liveness: Arc<Liveness>,
        deadline: Option<Duration>,
    ) -> Self {
        Self {
            live: Some(live),
            generation,
            liveness,
            deadline,
            is_spent: false,
            permit: None,
            is_in_transaction: false,
        }
    }

    /// Must be called before a transaction begins.
    pub(in crate::storage) fn begins_transaction(&mut self) {
        self.is_in_transaction = true;
    }

    /// Must be called after a commit or rollback.
    pub(in crate::storage) fn ended_transaction(&mut self) {
        self.is_in_transaction = false;
    }

    /// Returns the connection with the concurrency permit of its user attached.
    pub(in crate::storage) fn with_permit(self, permit: Option<Permit>) -> Self {
        let mut connection = self;
        connection.permit = permit;
        connection
    }

    /// Whether statements may be sent on it.
    pub(in crate::storage) fn is_current(&self) -> bool {
        !self.is_spent && self.liveness.is_current(&self.generation)
    }

    /// Sets the deadline of the following statements.
    pub(in crate::storage) fn set_deadline(&mut self, deadline: Option<Duration>) {
        self.deadline = deadline;
    }

    /// The driver's connection, for APIs that accept no other type. Its statements have no deadline.
    pub(in crate::storage) fn raw(&mut self) -> &mut PgConnection {
        self.parts().0
    }

    /// Runs an operation on the driver's connection within the deadline.
    pub(in crate::storage) async fn bounded<T>(
        &mut self,
        work: impl for<'a> FnOnce(&'a mut PgConnection) -> BoxFuture<'a, Result<T, Error>>,
    ) -> Result<T, Error> {
        let (raw, mut watch) = self.parts();
        let mut work = work(raw);
        std::future::poll_fn(|context| match work.poll_unpin(context) {
            Poll::Ready(result) => {
                watch.answered();
                Poll::Ready(result.map_err(|error| watch.failed(error)))
            }
            Poll::Pending => watch.poll_over(context).map(Err),
        })
        .await
    }

    fn parts(&mut self) -> (&mut PgConnection, Watch<'_>) {
        let raw: &mut PgConnection = self.live.as_mut().expect("there until it is dropped");
        let watch = Watch {
            _waiting: self.liveness.begin(),
            liveness: &self.liveness,
            generation: &self.generation,
            is_spent: &mut self.is_spent,
            deadline: self.deadline,
            timers: None,
        };
        (raw, watch)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(mut live) = self.live.take() else {
            return;
        };
        let runtime = Handle::try_current();
        let is_over = self.is_spent || self.generation.given_up().is_cancelled();
        let (false, Ok(runtime)) = (is_over, runtime) else {
            // Detach without a goodbye message: a server that does not answer would not read it.
            drop(live.detach());
            return;
        };
        if !self.liveness.is_current(&self.generation) {
            live.close_on_drop();
            return;
        }
        // The pool waits for the answers to abandoned statements, possibly for ever.
        let at_most = self.deadline.unwrap_or(RELEASED_WITHIN);
        let given_up = self.generation.given_up().clone();
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
            let returned = timeout(at_most, live.return_to_pool());
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

/// Enforces the deadline of one statement.
struct Watch<'c> {
    _waiting: Waiting<'c>,
    liveness: &'c Liveness,
    generation: &'c Generation,
    is_spent: &'c mut bool,
    deadline: Option<Duration>,
    /// The timer for the next answer; started at the first wait.
    timers: Option<Timers>,
}

struct Timers {
    deadline: Option<Pin<Box<Sleep>>>,
    given_up: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Watch<'_> {
    /// Ready once the wait is over.
    fn poll_over(&mut self, context: &mut Context<'_>) -> Poll<Error> {
        let (deadline, generation) = (self.deadline, self.generation);
        let timers = self.timers.get_or_insert_with(|| Timers {
            deadline: deadline.map(|deadline| Box::pin(sleep(deadline))),
            given_up: Box::pin(generation.given_up().clone().cancelled_owned()),
        });
        let error = if timers.given_up.as_mut().poll(context).is_ready() {
            silence()
        } else if let Some(over) = &mut timers.deadline
            && over.as_mut().poll(context).is_ready()
        {
            // Other connections of its generation may be dead too.
            self.liveness.retire();
            let seconds = deadline.unwrap_or_default().as_secs_f64();
            let problem = format!("a statement had no answer within {seconds} s and was aborted");
            Error::Io(io::Error::new(io::ErrorKind::TimedOut, problem))
        } else {
            return Poll::Pending;
        };
        *self.is_spent = true;
        Poll::Ready(error)
    }

    fn answered(&mut self) {
        self.timers = None;
        self.liveness.answered();
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
                *self.is_spent = true;
                self.liveness.retire();
            }
            Error::Protocol(_) => *self.is_spent = true,
            Error::Database(database) => match database.code().as_deref() {
                Some(READ_ONLY) => {
                    *self.is_spent = true;
                    self.liveness.retire_read_only();
                }
                Some(DISK_FULL) => self.liveness.set_disk_full(true),
                // The server shuts down, or this session was terminated.
                Some(code) if code.starts_with("57P") => *self.is_spent = true,
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

/// The error code of a server that is read-only: a former primary, or a standby that is not promoted yet.
pub(in crate::storage) const READ_ONLY: &str = "25006";

/// The stream of answers to one statement.
struct Answers<'c, T> {
    answers: BoxStream<'c, Result<T, Error>>,
    watch: Watch<'c>,
    is_over: bool,
}

impl<T> Stream for Answers<'_, T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        match self.answers.poll_next_unpin(context) {
            Poll::Ready(answer) => {
                self.watch.answered();
                Poll::Ready(answer.map(|answer| answer.map_err(|error| self.watch.failed(error))))
            }
            Poll::Pending => {
                let over = std::task::ready!(self.watch.poll_over(context));
                self.is_over = true;
                Poll::Ready(Some(Err(over)))
            }
        }
    }
}

/// The answer to one statement.
struct Answer<'c, T> {
    answer: BoxFuture<'c, Result<T, Error>>,
    watch: Watch<'c>,
}

impl<T> Future for Answer<'_, T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.answer.poll_unpin(context) {
            Poll::Ready(answer) => {
                self.watch.answered();
                Poll::Ready(answer.map_err(|error| self.watch.failed(error)))
            }
            Poll::Pending => self.watch.poll_over(context).map(Err),
        }
    }
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
        Answers {
            answers,
            watch,
            is_over: false,
        }
        .boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let (raw, watch) = self.parts();
        let answer = raw.fetch_optional(query);
        Answer { answer, watch }.boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'c: 'e,
    {
        let (raw, watch) = self.parts();
        let answer = raw.prepare_with(sql, parameters);
        Answer { answer, watch }.boxed()
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, Error>>
    where
        'c: 'e,
    {
        let (raw, watch) = self.parts();
        let answer = raw.describe(sql);
        Answer { answer, watch }.boxed()
    }
}
