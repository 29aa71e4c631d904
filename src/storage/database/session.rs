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
use crate::storage::{Class, Storage, StorageError};
use crate::telemetry::meters;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Row};
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

/// How often acquiring a connection is tried if its generation is retired meanwhile.
const ACQUIRE_TRIES: u32 = 3;

/// The lock timeout of work that loops over vaults.
const SWEEP_WAITS_FOR: &str = "2s";

impl Storage {
    /// A connection for reading; waits for the caller's concurrency permit.
    pub(in crate::storage) async fn reader(&self) -> Result<Connection, StorageError> {
        self.reader_for(Class::Read).await
    }

    /// A connection for reading, for this class of work; from the standby if the read may be stale.
    pub(in crate::storage) async fn reader_for(&self, class: Class) -> Result<Connection, StorageError> {
        match self.on_standby(class, false).await {
            Some(reader) => Ok(reader),
            None => self.primary_reader(class).await,
        }
    }

    /// A connection to the primary, for a statement that changes data or a read that must not be stale.
    pub(in crate::storage) async fn primary_reader(&self, class: Class) -> Result<Connection, StorageError> {
        self.on_primary(class, false).await
    }

    /// A transaction for this class of work; on the standby if it only reads and may be stale.
    pub(in crate::storage) async fn begin(&self, class: Class) -> Result<Connection, StorageError> {
        if let Some(transaction) = self.on_standby(class, true).await {
            return Ok(transaction);
        }
        let mut transaction = self.on_primary(class, true).await?;
        if class == Class::Sweep {
            sqlx::query!(
                "SELECT set_config('lock_timeout', $1, true) AS lock_timeout",
                SWEEP_WAITS_FOR
            )
            .fetch_one(&mut transaction)
            .await?;
        }
        Ok(transaction)
    }

    async fn on_primary(&self, class: Class, begins: bool) -> Result<Connection, StorageError> {
        let waiting = Instant::now();
        let (pool, limit) = self.lanes.of(class, &self.pool);
        let permit = match limit {
            Some(limit) => self.lanes.acquire(limit).await?,
            None => None,
        };
        let connection = self.open((pool, &self.liveness), class, permit, begins).await?;
        meters::pool_wait(waiting.elapsed());
        Ok(connection)
    }

    /// A connection to the primary without a concurrency permit, for work of the service itself and for batches, which
    /// serve many callers.
    pub(in crate::storage) async fn connection(&self, class: Class) -> Result<Connection, StorageError> {
        let waiting = Instant::now();
        let connection = self.open(self.primary(), class, None, false).await?;
        meters::pool_wait(waiting.elapsed());
        Ok(connection)
    }

    /// A connection of a pool, in a transaction if that is wanted or if a single statement takes several messages.
    pub(super) async fn open(
        &self,
        door: Door<'_>,
        class: Class,
        permit: Option<Permit>,
        begins: bool,
    ) -> Result<Connection, StorageError> {
        let mut connection = self.acquire(door, class, permit).await?;
        if !self.prepared_statements {
            connection.begin_with(BEGIN_WITHOUT_NAMES).await?;
        } else if begins {
            connection.begin().await?;
        }
        Ok(connection)
    }

    /// Acquires a connection of the current generation; fails at once while the database is silent.
    pub(super) async fn acquire(
        &self,
        (pool, liveness): Door<'_>,
        class: Class,
        permit: Option<Permit>,
    ) -> Result<Connection, StorageError> {
        let deadline = self.deadlines.of(class);
        let mut tries = 1;
        loop {
            let generation = liveness.generation()?;
            liveness.want_beat();
            // The pool's future takes 4 KiB. Boxed, it does not enlarge every future above it, which are moved many
            // times during a request even if they never use the pool.
            let acquired = Box::pin(generation.given_up().run_until_cancelled(pool.acquire())).await;
            let connection = Connection::new(acquired.ok_or_else(silence)??, liveness, generation, deadline);
            if connection.is_current() || tries == ACQUIRE_TRIES {
                return Ok(connection.with_permit(permit));
            }
            tries += 1;
        }
    }

    pub(super) fn primary(&self) -> Door<'_> {
        (&self.pool, &self.liveness)
    }
}
