//! Access to the database: single statements and transactions.
//!
//! A transaction-mode pooler may run each transaction on another server connection. If it does not track prepared
//! statements (`database.prepared_statements = false`, the default behind a pooler), a statement's name would be missing
//! there or belong to another client. So each transaction first deallocates all names, and even a single read is a transaction, because preparing
//! and executing are two messages.

use crate::fair::Permit;
use crate::storage::database::connect::connect_options;
use crate::storage::database::connection::Connection;
use crate::storage::database::hosts::Hosts;
use crate::storage::database::liveness::{Liveness, silence};
use crate::storage::database::transaction::Transaction;
use crate::storage::{Class, Storage, StorageError};
use crate::telemetry::meters;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Row, SqlSafeStr};
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Begins a transaction on a server connection on which other clients prepared statements.
pub(in crate::storage) const BEGIN_WITHOUT_NAMES: &str = "BEGIN; DEALLOCATE ALL";

/// A pool and the liveness of its database.
pub(in crate::storage) type Door<'d> = (&'d PgPool, &'d Arc<Liveness>);

/// The time limit of [`is_direct`].
const ASKED_FOR: Duration = Duration::from_secs(10);

/// How many connections with the setting are lost, while others are made, until that counts as a rejection.
const MARKED_TRIES: u32 = 3;

/// A setting that nothing else uses, which identifies a session.
const MARK: &str = "working_memory.session";

/// Whether a URL leads to the server itself: it applies a setting that is sent at the start of a session. A pooler rejects
/// the setting or drops it, because its server connections exist already. Behind one, a `LISTEN` would remain in a session
/// that other clients use next, and the names of prepared statements may be missing or belong to other clients.
///
/// # Errors
/// An invalid URL, or a database that does not answer.
pub async fn is_direct(url: &str) -> Result<bool, StorageError> {
    let asked = timeout(ASKED_FOR, Box::pin(is_setting_applied(url))).await;
    asked.unwrap_or_else(|_| Err(silence().into()))
}

async fn is_setting_applied(url: &str) -> Result<bool, StorageError> {
    let options = connect_options(Hosts::parse(url)?.primary().await?, false);
    let with_mark = options.clone().options([(MARK, "direct")]);
    let mut lost = 0;
    let mut marked = loop {
        let error = match PgConnection::connect_with(&with_mark).await {
            Ok(marked) => break marked,
            Err(error) => error,
        };
        // Each pooler rejects it in its own way, some by closing the connection. Any other error occurs again without it.
        let plain = PgConnection::connect_with(&options).await?;
        let _ = plain.close().await;
        lost += 1;
        // A connection is lost for other reasons too, but not again and again while others are made.
        if matches!(error, sqlx::Error::Database(_)) || lost == MARKED_TRIES {
            return Ok(false);
        }
    };
    let statement = format!("SELECT current_setting('{MARK}', true)");
    let found = sqlx::raw_sql(AssertSqlSafe(statement))
        .fetch_one(&mut marked)
        .await?;
    let found: Option<String> = found.try_get(0)?;
    let _ = marked.close().await;
    Ok(found.is_some_and(|found| found == "direct"))
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

/// A connection on which each statement is its own transaction, or a transaction if that takes several messages.
/// Changes are rolled back unless committed.
pub(in crate::storage) enum Reader {
    Connection(Connection),
    Transaction(Transaction),
}

impl Reader {
    /// Commits changes that were not committed with their statement.
    pub(in crate::storage) async fn commit(self) -> Result<(), StorageError> {
        match self {
            Self::Connection(_) => Ok(()),
            Self::Transaction(transaction) => Ok(transaction.commit().await?),
        }
    }
}

impl Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match self {
            Self::Connection(connection) => connection,
            Self::Transaction(transaction) => transaction,
        }
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut Connection {
        match self {
            Self::Connection(connection) => connection,
            Self::Transaction(transaction) => transaction,
        }
    }
}
