//! The heartbeat: a small write, repeated on its own connection.
//!
//! One statement does three things.
//! - It notifies this instance itself: when the listening connection receives the notification, the invalidation lease
//!   is renewed ([`crate::storage::head_cache`]).
//! - It commits, which shows that writes succeed and not only that the database answers.
//! - Any live database answers it at once. If it is not answered or not connected, and nothing else is answered either, the
//!   database is considered silent ([`crate::storage::database::liveness`]), and everything that waits for it fails.
//!
//! It is sent several times a second while the database is in use, and rarely otherwise.

use crate::storage::database::liveness::{SILENCE, SILENT};
use crate::storage::database::server::{BLOCKED_AS_READ_ONLY, leads_to, server_of, write_notice};
use crate::storage::error::{READ_ONLY, has_code};
use crate::storage::{Storage, StorageError};
use sqlx::{Connection as _, PgConnection};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// The application name of the connection in `pg_stat_activity`.
const HEARTBEAT: &str = "working-memory heartbeat";

/// The interval while the database is in use: several beats fit in [`crate::storage::STALENESS_BOUND`].
const BUSY_EVERY: Duration = Duration::from_millis(250);

/// The interval otherwise.
const IDLE_EVERY: Duration = Duration::from_secs(5);

/// The heartbeat's connection, and the server that it leads to.
type HeartbeatConnection = (PgConnection, String);

impl Storage {
    /// Sends the heartbeat for as long as it is polled.
    pub async fn heartbeat(&self) {
        let mut connection = None;
        loop {
            let begun = Instant::now();
            let sent = timeout(SILENCE, self.beat(&mut connection)).await;
            let beat = match &sent {
                Ok(Ok(false)) => Ok(()),
                Ok(Ok(true)) => Err(BLOCKED_AS_READ_ONLY),
                Ok(Err(error)) if has_code(error, READ_ONLY) => Err(BLOCKED_AS_READ_ONLY),
                // Connections are refused, as by a server that was stopped.
                Ok(Err(StorageError::Unavailable(sqlx::Error::Io(_))))
                    if !self.liveness.answered_since(begun - SILENCE) =>
                {
                    Err(SILENT)
                }
                Ok(Err(_)) => Err("a test write failed"),
                Err(_) if self.liveness.answered_since(begun) => Err("a test write had no answer in time"),
                Err(_) => Err(SILENT),
            };
            if let Err(problem) = beat {
                connection = None;
                // Each change of state is logged once.
                if self.liveness.last_beat().map(|(last, _)| last) != Some(beat) {
                    let error = sent.ok().and_then(Result::err);
                    let error = error.map(|error| error.to_string());
                    tracing::warn!(problem, error, "writes do not get through");
                }
            }
            match beat {
                Err(SILENT) => self.liveness.give_up(),
                // The server is a former primary or not promoted yet: connections are closed until they lead to a primary.
                Err(BLOCKED_AS_READ_ONLY) => {
                    self.liveness.retire_read_only();
                    self.liveness.beat(beat);
                }
                beat => self.liveness.beat(beat),
            }
            sleep(BUSY_EVERY.saturating_sub(begun.elapsed())).await;
            if connection.is_some() {
                let _ = timeout(IDLE_EVERY, self.liveness.wanted()).await;
            }
        }
    }

    /// Sends one heartbeat and returns whether the server is read-only.
    async fn beat(&self, last: &mut Option<HeartbeatConnection>) -> Result<bool, StorageError> {
        let (connection, _) = match last {
            // Unless a new pool connection has shown that the primary is another server now.
            Some(same) if self.liveness.is_server(&same.1) => same,
            other => other.insert(self.connect_heartbeat().await?),
        };
        let lease = self.head_cache.lease();
        let number = lease.word();
        let is_read_only = write_notice(&mut *connection, &self.notifications.word(number)).await?;
        self.liveness.answered();
        lease.committed(number);
        Ok(is_read_only)
    }

    async fn connect_heartbeat(&self) -> Result<HeartbeatConnection, StorageError> {
        let options = self.find_primary().await?.application_name(HEARTBEAT);
        let mut connection = PgConnection::connect_with(&options).await?;
        let server = server_of(&mut connection).await?;
        leads_to(&server, &self.liveness, &self.head_cache);
        Ok((connection, server))
    }
}
