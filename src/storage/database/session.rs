//! How statements reach the database: one by one, or in a transaction.
//!
//! A transaction-mode pooler hands each transaction another server connection. Where it does not track
//! prepared statements (`database.prepared_statements = false`), their names would be missing there, or
//! taken by somebody else's. So each transaction then begins by forgetting all names, and even a single
//! read is a transaction: its preparation and its execution are two messages.

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
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Row, SqlSafeStr};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// What begins a transaction on a server connection that others named statements on.
pub(in crate::storage) const BEGIN_WITHOUT_NAMES: &str = "BEGIN; DEALLOCATE ALL";

/// A pool, and whether its database is alive.
pub(in crate::storage) type Door<'d> = (&'d PgPool, &'d Arc<Liveness>);

/// Whether prepared statements may be named and kept at this URL: not behind a transaction-mode pooler that
/// does not track them (PgBouncer before 1.21). Found out by trying.
///
/// # Errors
/// A URL that is none, or a database that does not answer.
pub async fn keeps_prepared_statements(url: &str) -> Result<bool, StorageError> {
    if keeps_sessions(url).await? {
        return Ok(true);
    }
    bounded(tracks_names(url)).await
}

/// Whether a connection to this URL keeps one session of the server: not behind a transaction-mode pooler. There a
/// `LISTEN` would stay behind in a session that others use next, whose requests then fail over what it hears.
///
/// # Errors
/// A URL that is none, or a database that does not answer.
pub(in crate::storage) async fn keeps_sessions(url: &str) -> Result<bool, StorageError> {
    Box::pin(bounded(try_sessions(url))).await
}

/// These questions are asked by connections of their own, before there is a pool.
async fn bounded<T>(asked: impl Future<Output = Result<T, StorageError>>) -> Result<T, StorageError> {
    let answered = timeout(ASKED_FOR, asked).await;
    answered.unwrap_or_else(|_| Err(silence().into()))
}

/// How long a question about the database may take in all.
const ASKED_FOR: Duration = Duration::from_secs(10);

/// How long a session that does nothing may wait for another's transaction. Where it has to, they share a connection.
const WAITS_FOR: Duration = Duration::from_secs(2);

/// How often is tried behind a pooler: a busy one may give a session the same server connection many times.
const PROBES: usize = 48;

async fn try_sessions(url: &str) -> Result<bool, StorageError> {
    let options = connect_options(Hosts::parse(url)?.primary().await?, false);
    let mut watched = PgConnection::connect_with(&options).await?;
    let keeps = is_direct(&options).await? || keeps_server_connection(&mut watched, &options).await?;
    if keeps {
        // Whether the good-bye arrives changes nothing.
        let _ = watched.close().await;
    }
    Ok(keeps)
}

/// A setting of nobody, by which a session is known.
const MARK: &str = "working_memory.session";

/// Whether the server itself answers: a session that is begun with a setting has it. A pooler refuses such a start, or
/// forgets the setting, since its connections to the server began before.
async fn is_direct(options: &PgConnectOptions) -> Result<bool, StorageError> {
    let Some(mark) = secret_bytes().map(hex::encode) else {
        return Ok(false);
    };
    let marked = options.clone().options([(MARK, &mark)]);
    // Each pooler refuses in its own way; what else is wrong meets the next connection too.
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

/// Whether a pooler leaves this session its server connection.
async fn keeps_server_connection(
    watched: &mut PgConnection,
    options: &PgConnectOptions,
) -> Result<bool, StorageError> {
    let mut beside = PgConnection::connect_with(options).await?;
    let first = session_of(watched).await?;
    for _ in 0..PROBES {
        // A transaction has its session to itself: a pooler that lent out this one has to take another.
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

/// Which session of the server answers; in one message, as a pooler may need it.
async fn session_of(connection: &mut PgConnection) -> Result<i32, StorageError> {
    let row = sqlx::raw_sql("SELECT pg_backend_pid()")
        .fetch_one(connection)
        .await?;
    Ok(row.try_get(0)?)
}

/// Whether a pooler that moves sessions between server connections takes the names of their statements along: a named
/// statement has to be answered by two of them.
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
    // It was not seen to do it.
    Ok(false)
}

/// As many parameters as no statement of the service has.
const UNLIKELY_PARAMETERS: usize = 48;

/// [`session_of`] by a named statement; `None` where the name is taken, missing, or somebody else's. The driver numbers its
/// names, so a pooler may lead this one to a statement of another instance. Nobody's has as many parameters, so that the
/// server refuses it instead of doing what the other wanted; and whoever tries the same at this moment has another mark.
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

/// A statement's name that is taken (42P05), not there (26000), or of a statement with other parameters (08P01).
fn is_about_names(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|database| database.code());
    code.is_some_and(|code| ["42P05", "26000", "08P01"].contains(&&*code))
}

tokio::task_local! {
    /// Set in work that goes through vaults.
    static SWEEPS: ();
}

/// How long work that goes through vaults waits for a row that somebody else holds.
const SWEEP_WAITS_FOR: &str = "2s";

/// How often a connection is asked for where its generation ends meanwhile.
const ACQUIRE_TRIES: u32 = 3;

impl Storage {
    /// A connection for reading, when it is the turn of whoever asks.
    pub(in crate::storage) async fn reader(&self) -> Result<Reader, StorageError> {
        self.reader_for(Class::Read).await
    }

    /// A connection for reading, for work of this class; of the standby, where the read may be behind.
    pub(in crate::storage) async fn reader_for(&self, class: Class) -> Result<Reader, StorageError> {
        if self.has_replica()
            && let Some(reader) = Box::pin(self.replica_reader(class)).await
        {
            return Ok(reader);
        }
        self.primary_reader_for(class).await
    }

    /// A connection of the primary for reading what must not be behind.
    pub(in crate::storage) async fn primary_reader(&self) -> Result<Reader, StorageError> {
        self.primary_reader_for(Class::Read).await
    }

    /// The same for work of this class.
    pub(in crate::storage) async fn primary_reader_for(&self, class: Class) -> Result<Reader, StorageError> {
        let waiting = Instant::now();
        let turn = self.lanes.connection().await?;
        let reader = self.reader_of(&self.pool, class, turn).await?;
        meters::pool_wait(waiting.elapsed());
        Ok(reader)
    }

    /// A connection of the service itself, for work of this class.
    pub(in crate::storage) async fn connection(&self, class: Class) -> Result<Connection, StorageError> {
        let waiting = Instant::now();
        let connection = self.acquire(&self.pool, class, None).await?;
        meters::pool_wait(waiting.elapsed());
        Ok(connection)
    }

    /// A connection for reading, of one of the pools.
    pub(in crate::storage) async fn reader_of(
        &self,
        pool: &PgPool,
        class: Class,
        turn: Option<Permit>,
    ) -> Result<Reader, StorageError> {
        self.reader_from((pool, &self.liveness), class, turn).await
    }

    /// A connection for reading, of a pool whose database is alive or not.
    pub(in crate::storage) async fn reader_from(
        &self,
        door: Door<'_>,
        class: Class,
        turn: Option<Permit>,
    ) -> Result<Reader, StorageError> {
        if self.prepared_statements {
            Ok(Reader::Connection(self.acquire_from(door, class, turn).await?))
        } else {
            Ok(Reader::Transaction(self.begin_from(door, class, turn).await?))
        }
    }

    /// A connection of the present generation; none at once while the database is silent.
    async fn acquire(
        &self,
        pool: &PgPool,
        class: Class,
        turn: Option<Permit>,
    ) -> Result<Connection, sqlx::Error> {
        self.acquire_from((pool, &self.liveness), class, turn).await
    }

    async fn acquire_from(
        &self,
        (pool, liveness): Door<'_>,
        class: Class,
        turn: Option<Permit>,
    ) -> Result<Connection, sqlx::Error> {
        let mut tries = 1;
        loop {
            let generation = liveness.generation()?;
            liveness.want_beat();
            // The pool's own future takes four kilobytes. In its place each future above it would have them too, and
            // those are moved many times on the way of a request, also where none of them ever asks the pool.
            let acquired = Box::pin(generation.given_up().run_until_cancelled(pool.acquire())).await;
            let acquired = acquired.ok_or_else(silence)??;
            let deadline = self.deadlines.of(class);
            let connection = Connection::new(acquired, generation, liveness.clone(), deadline);
            if connection.is_current() || tries == ACQUIRE_TRIES {
                return Ok(connection.holding(turn));
            }
            tries += 1;
        }
    }

    /// A connection on which a statement is a transaction of its own; `None` where that takes several messages, behind a
    /// pooler. It is the service's: a batch is of many.
    pub(in crate::storage) async fn autocommit(&self) -> Result<Option<Connection>, StorageError> {
        match self.prepared_statements {
            true => Ok(Some(self.connection(Class::Write).await?)),
            false => Ok(None),
        }
    }

    /// A transaction for writing, when it is the turn of whoever asks.
    pub(in crate::storage) async fn begin(&self) -> Result<Transaction, StorageError> {
        self.begin_for(Class::Write).await
    }

    /// A transaction for work of this class; of the standby, where it reads what may be behind.
    pub(in crate::storage) async fn begin_for(&self, class: Class) -> Result<Transaction, StorageError> {
        if self.has_replica()
            && let Some(transaction) = Box::pin(self.replica_transaction(class)).await
        {
            return Ok(transaction);
        }
        let waiting = Instant::now();
        let turn = self.lanes.connection().await?;
        let mut transaction = self.begin_on(&self.pool, class, turn).await?;
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

    /// Runs work that goes through vaults: a transaction of [`Class::Maintenance`] fails in it where somebody holds a row
    /// of it for long, and the work goes on with others meanwhile.
    pub async fn sweep<F: Future>(&self, work: F) -> F::Output {
        SWEEPS.scope((), work).await
    }

    /// A transaction of such work.
    pub(in crate::storage) async fn begin_sweep(&self) -> Result<Transaction, StorageError> {
        SWEEPS.scope((), self.begin_for(Class::Maintenance)).await
    }

    /// A transaction on one of the pools. It is begun by a task of its own: a caller that goes away meanwhile would leave
    /// the connection in a transaction that nobody ends, and the pool would give it to others so.
    pub(in crate::storage) async fn begin_on(
        &self,
        pool: &PgPool,
        class: Class,
        turn: Option<Permit>,
    ) -> Result<Transaction, StorageError> {
        self.begin_from((pool, &self.liveness), class, turn).await
    }

    /// The same on a pool whose database is alive or not.
    pub(in crate::storage) async fn begin_from(
        &self,
        door: Door<'_>,
        class: Class,
        turn: Option<Permit>,
    ) -> Result<Transaction, StorageError> {
        let connection = self.acquire_from(door, class, turn).await?;
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
