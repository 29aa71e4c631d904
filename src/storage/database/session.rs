//! Access to the database: single statements and transactions.
//!
//! A transaction-mode pooler may run each transaction on another server connection. If it does not track prepared
//! statements (`database.prepared_statements = false`), a statement's name would be missing there or belong to another
//! client. So each transaction first deallocates all names, and even a single read is a transaction, because preparing
//! and executing are two messages.

use crate::fair::Permit;
use crate::random::secret_bytes;
use crate::storage::database::connect::connect_options;
use crate::storage::database::connection::Connection;
use crate::storage::database::hosts::Hosts;
use crate::storage::database::liveness::{Liveness, silence};
use crate::storage::database::reader::Reader;
use crate::storage::database::transaction::Transaction;
use crate::storage::{Class, Storage, StorageError};
use crate::telemetry::meters;
use chrono::{DateTime, Utc};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Row, SqlSafeStr};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Begins a transaction on a server connection on which other clients prepared statements.
pub(in crate::storage) const BEGIN_WITHOUT_NAMES: &str = "BEGIN; DEALLOCATE ALL";

/// A pool and the liveness of its database.
pub(in crate::storage) type Door<'d> = (&'d PgPool, &'d Arc<Liveness>);

/// Whether prepared statements may be named and cached at this URL. They may not behind a transaction-mode pooler that
/// does not track them (PgBouncer before 1.21). The function tries it out.
///
/// # Errors
/// An invalid URL, or a database that does not answer.
pub async fn keeps_prepared_statements(url: &str) -> Result<bool, StorageError> {
    if keeps_sessions(url).await? {
        return Ok(true);
    }
    bounded(tracks_names(url)).await
}

/// Whether a connection to this URL keeps one server session. It does not behind a transaction-mode pooler: there a
/// `LISTEN` would remain in a session that other clients use next, and their requests would fail on its notifications.
///
/// # Errors
/// An invalid URL, or a database that does not answer.
pub(in crate::storage) async fn keeps_sessions(url: &str) -> Result<bool, StorageError> {
    Box::pin(bounded(try_sessions(url))).await
}

/// Limits the time of a probe. Probes use connections of their own, before there is a pool.
async fn bounded<T>(asked: impl Future<Output = Result<T, StorageError>>) -> Result<T, StorageError> {
    let answered = timeout(ASKED_FOR, asked).await;
    answered.unwrap_or_else(|_| Err(silence().into()))
}

/// The total time limit of a probe.
const ASKED_FOR: Duration = Duration::from_secs(10);

/// How long an idle session may wait for another session's transaction. If it has to wait, both share a server
/// connection.
const WAITS_FOR: Duration = Duration::from_secs(2);

/// Number of attempts behind a pooler: a busy one may assign the same server connection many times.
const PROBES: usize = 48;

async fn try_sessions(url: &str) -> Result<bool, StorageError> {
    let options = connect_options(Hosts::parse(url)?.primary().await?, false);
    let mut watched = PgConnection::connect_with(&options).await?;
    let keeps = is_direct(&options).await? || keeps_server_connection(&mut watched, &options).await?;
    if keeps {
        // Best effort: closing may fail.
        let _ = watched.close().await;
    }
    Ok(keeps)
}

/// A setting that nothing else uses, which identifies a session.
const MARK: &str = "working_memory.session";

/// Whether the connection leads to the server itself: the server applies a setting sent at the start of a session. A
/// pooler rejects it or drops it, because its server connections already exist.
async fn is_direct(options: &PgConnectOptions) -> Result<bool, StorageError> {
    let Some(mark) = secret_bytes().map(hex::encode) else {
        return Ok(false);
    };
    let marked = options.clone().options([(MARK, &mark)]);
    // Each pooler rejects it in its own way; any other error also occurs on the next connection.
    let Ok(mut marked) = PgConnection::connect_with(&marked).await else {
        return Ok(false);
    };
    let statement = format!("SELECT current_setting('{MARK}', true)");
    let found = sqlx::raw_sql(AssertSqlSafe(statement))
        .fetch_one(&mut marked)
        .await?;
    let found: Option<String> = found.try_get(0)?;
    let _ = marked.close().await;
    Ok(found.is_some_and(|found| found == mark))
}

/// Whether a pooler keeps this session on the same server connection.
async fn keeps_server_connection(
    watched: &mut PgConnection,
    options: &PgConnectOptions,
) -> Result<bool, StorageError> {
    let mut beside = PgConnection::connect_with(options).await?;
    let first = session_of(watched).await?;
    for _ in 0..PROBES {
        // A transaction has a server session to itself, so the pooler has to use another one for `watched`.
        let mut transaction = beside.begin().await?;
        let held = session_of(&mut transaction).await?;
        let Ok(now) = timeout(WAITS_FOR, session_of(watched)).await else {
            return Ok(false);
        };
        let now = now?;
        transaction.rollback().await?;
        if held == first || now != first {
            return Ok(false);
        }
    }
    let _ = beside.close().await;
    Ok(true)
}

/// The process id of the server session, read in a single message, since a pooler may require it.
async fn session_of(connection: &mut PgConnection) -> Result<i32, StorageError> {
    let row = sqlx::raw_sql("SELECT pg_backend_pid()")
        .fetch_one(connection)
        .await?;
    Ok(row.try_get(0)?)
}

/// Whether a pooler that moves sessions between server connections tracks statement names: a named statement must be
/// answered by two server sessions.
async fn tracks_names(url: &str) -> Result<bool, StorageError> {
    let options = connect_options(Hosts::parse(url)?.primary().await?, true);
    let mut watched = PgConnection::connect_with(&options).await?;
    let mut beside = PgConnection::connect_with(&options).await?;
    let Some(mark) = secret_bytes().map(hex::encode) else {
        return Ok(false);
    };
    let Some(first) = named_session_of(&mut watched, &mark).await? else {
        return Ok(false);
    };
    for _ in 0..PROBES {
        let transaction = beside.begin().await?;
        let now = timeout(WAITS_FOR, named_session_of(&mut watched, &mark)).await;
        let Some(now) = now.unwrap_or(Ok(None))? else {
            return Ok(false);
        };
        transaction.rollback().await?;
        if now != first {
            return Ok(true);
        }
    }
    // The move was not observed.
    Ok(false)
}

/// A number of parameters that no statement of the service has.
const UNLIKELY_PARAMETERS: usize = 48;

/// [`session_of`] through a named statement; `None` if the name is taken, missing, or belongs to another client. The
/// driver numbers its names, so a pooler may resolve this name to a statement of another instance. No other statement
/// has this number of parameters, so the server returns an error instead of running it. A concurrent probe has another
/// mark.
async fn named_session_of(connection: &mut PgConnection, mark: &str) -> Result<Option<i32>, StorageError> {
    let parameters: Vec<_> = (1..=UNLIKELY_PARAMETERS)
        .map(|number| format!("${number}::bool"))
        .collect();
    let parameters = parameters.join(", ");
    let statement = format!("SELECT pg_backend_pid(), '{mark}'::text WHERE num_nulls({parameters}) = 0");
    let mut query = sqlx::query_as(AssertSqlSafe(statement));
    for _ in 0..UNLIKELY_PARAMETERS {
        query = query.bind(true);
    }
    let answer: Result<(i32, String), _> = query.fetch_one(connection).await;
    match answer {
        Ok((session, marked)) => Ok((marked == mark).then_some(session)),
        Err(error) if is_about_names(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Errors about statement names: taken (42P05), missing (26000), or a statement with other parameters (08P01).
fn is_about_names(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|database| database.code());
    code.is_some_and(|code| ["42P05", "26000", "08P01"].contains(&&*code))
}

tokio::task_local! {
    /// Set while work loops over vaults.
    static SWEEPS: ();
}

/// The lock timeout of work that loops over vaults.
const SWEEP_WAITS_FOR: &str = "2s";

/// How often acquiring a connection is tried if its generation is retired meanwhile.
const ACQUIRE_TRIES: u32 = 3;

impl Storage {
    /// A connection for reading; waits for the caller's concurrency permit.
    pub(in crate::storage) async fn reader(&self) -> Result<Reader, StorageError> {
        self.reader_for(Class::Read).await
    }

    /// A connection for reading, for this class of work; from the standby if the read may be stale.
    pub(in crate::storage) async fn reader_for(&self, class: Class) -> Result<Reader, StorageError> {
        if self.has_replica()
            && let Some(reader) = Box::pin(self.replica_reader(class)).await
        {
            return Ok(reader);
        }
        self.primary_reader_for(class).await
    }

    /// A connection to the primary, for reads that must not be stale.
    pub(in crate::storage) async fn primary_reader(&self) -> Result<Reader, StorageError> {
        self.primary_reader_for(Class::Read).await
    }

    /// As [`Self::primary_reader`], for this class of work.
    pub(in crate::storage) async fn primary_reader_for(&self, class: Class) -> Result<Reader, StorageError> {
        let waiting = Instant::now();
        let permit = self.lanes.connection().await?;
        let reader = self.reader_of(&self.pool, class, permit).await?;
        meters::pool_wait(waiting.elapsed());
        Ok(reader)
    }

    /// A connection without a concurrency permit, for internal work of this class.
    pub(in crate::storage) async fn connection(&self, class: Class) -> Result<Connection, StorageError> {
        let waiting = Instant::now();
        let connection = self.acquire(&self.pool, class, None).await?;
        meters::pool_wait(waiting.elapsed());
        Ok(connection)
    }

    /// A connection for reading from one of the pools.
    pub(in crate::storage) async fn reader_of(
        &self,
        pool: &PgPool,
        class: Class,
        permit: Option<Permit>,
    ) -> Result<Reader, StorageError> {
        self.reader_from((pool, &self.liveness), class, permit).await
    }

    /// A connection for reading from a pool, with the liveness of its database.
    pub(in crate::storage) async fn reader_from(
        &self,
        door: Door<'_>,
        class: Class,
        permit: Option<Permit>,
    ) -> Result<Reader, StorageError> {
        if self.prepared_statements {
            Ok(Reader::Connection(self.acquire_from(door, class, permit).await?))
        } else {
            Ok(Reader::Transaction(self.begin_from(door, class, permit).await?))
        }
    }

    /// Acquires a connection of the current generation; fails at once while the database is silent.
    async fn acquire(
        &self,
        pool: &PgPool,
        class: Class,
        permit: Option<Permit>,
    ) -> Result<Connection, sqlx::Error> {
        self.acquire_from((pool, &self.liveness), class, permit).await
    }

    async fn acquire_from(
        &self,
        (pool, liveness): Door<'_>,
        class: Class,
        permit: Option<Permit>,
    ) -> Result<Connection, sqlx::Error> {
        let mut tries = 1;
        loop {
            let generation = liveness.generation()?;
            liveness.want_beat();
            // The pool's future takes 4 KiB. Boxed, it does not enlarge every future above it, which are moved many
            // times during a request even if they never use the pool.
            let acquired = Box::pin(generation.given_up().run_until_cancelled(pool.acquire())).await;
            let acquired = acquired.ok_or_else(silence)??;
            let deadline = self.deadlines.of(class);
            let connection = Connection::new(acquired, generation, liveness.clone(), deadline);
            if connection.is_current() || tries == ACQUIRE_TRIES {
                return Ok(connection.with_permit(permit));
            }
            tries += 1;
        }
    }

    /// A connection on which a single statement is its own transaction; `None` behind a pooler that needs several
    /// messages for that. It needs no permit, because a batch serves many callers.
    pub(in crate::storage) async fn autocommit(&self) -> Result<Option<Connection>, StorageError> {
        match self.prepared_statements {
            true => Ok(Some(self.connection(Class::Write).await?)),
            false => Ok(None),
        }
    }

    /// A transaction for writing; waits for the caller's concurrency permit.
    pub(in crate::storage) async fn begin(&self) -> Result<Transaction, StorageError> {
        self.begin_for(Class::Write).await
    }

    /// A transaction for this class of work; on the standby if it only reads and may be stale.
    pub(in crate::storage) async fn begin_for(&self, class: Class) -> Result<Transaction, StorageError> {
        if self.has_replica()
            && let Some(transaction) = Box::pin(self.replica_transaction(class)).await
        {
            return Ok(transaction);
        }
        let waiting = Instant::now();
        let permit = self.lanes.connection().await?;
        let mut transaction = self.begin_on(&self.pool, class, permit).await?;
        meters::pool_wait(waiting.elapsed());
        if class == Class::Maintenance && SWEEPS.try_with(|()| ()).is_ok() {
            sqlx::query!(
                "SELECT set_config('lock_timeout', $1, true) AS lock_timeout",
                SWEEP_WAITS_FOR
            )
            .fetch_one(&mut *transaction)
            .await?;
        }
        Ok(transaction)
    }

    /// The time of the database, by which leases and due times are judged. Statements that change rows get it as a value:
    /// a distributed database takes no function of time in all of them.
    pub(in crate::storage) async fn database_now(&self) -> Result<DateTime<Utc>, StorageError> {
        Ok(sqlx::query_scalar!(r#"SELECT now() AS "now!""#)
            .fetch_one(&mut *self.primary_reader().await?)
            .await?)
    }

    /// Runs work that loops over vaults. A [`Class::Maintenance`] transaction in it fails if another session holds a
    /// row lock for long, and the work continues with other vaults.
    pub async fn sweep<F: Future>(&self, work: F) -> F::Output {
        SWEEPS.scope((), work).await
    }

    /// A transaction of work that loops over vaults.
    pub(in crate::storage) async fn begin_sweep(&self) -> Result<Transaction, StorageError> {
        SWEEPS.scope((), self.begin_for(Class::Maintenance)).await
    }

    /// A transaction on one of the pools. A separate task begins it: if the caller were cancelled meanwhile, the
    /// connection would go back to the pool inside an open transaction.
    pub(in crate::storage) async fn begin_on(
        &self,
        pool: &PgPool,
        class: Class,
        permit: Option<Permit>,
    ) -> Result<Transaction, StorageError> {
        self.begin_from((pool, &self.liveness), class, permit).await
    }

    /// As [`Self::begin_on`], for a pool with the liveness of its database.
    pub(in crate::storage) async fn begin_from(
        &self,
        door: Door<'_>,
        class: Class,
        permit: Option<Permit>,
    ) -> Result<Transaction, StorageError> {
        let connection = self.acquire_from(door, class, permit).await?;
        let statement = (!self.prepared_statements).then(|| BEGIN_WITHOUT_NAMES.into_sql_str());
        let begun = tokio::spawn(Transaction::begin(connection, statement)).await;
        match begun {
            Ok(begun) => Ok(begun?),
            Err(ended) => match ended.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(_) => Err(sqlx::Error::PoolClosed.into()),
            },
        }
    }
}
