//! The heartbeat: a small write, repeated on its own connection.
//!
//! One statement does three things.
//! - It notifies this instance itself: when the listening connection receives the notification, the invalidation lease
//!   is renewed ([`crate::storage::head_cache`]).
//! - It commits, which shows that writes succeed and not only that the database answers.
//! - Any live database answers it at once. If it is not answered, and nothing else is either, the database is
//!   considered silent ([`crate::storage::database::liveness`]), and everything that waits for it fails.
//!
//! It is sent several times a second while the database is in use, and rarely otherwise.

use crate::storage::database::connection::READ_ONLY;
use crate::storage::database::liveness::{Beat, SILENCE};
use crate::storage::database::notification::CHANNEL;
use crate::storage::database::server::{leads_to, server_of};
use crate::storage::{Storage, StorageError};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// The application name of the connection in `pg_stat_activity`.
const HEARTBEAT: &str = "working-memory heartbeat";

/// The interval while the database is in use: several beats fit in [`crate::storage::STALENESS_BOUND`].
const BUSY_EVERY: Duration = Duration::from_millis(250);

/// The interval otherwise.
const IDLE_EVERY: Duration = Duration::from_secs(5);

/// The heartbeat's connection, and the server that it leads to.
struct Pulse {
    connection: PgConnection,
    server: String,
}

impl Storage {
    /// Sends the heartbeat for as long as it is polled.
    pub async fn heartbeat(&self) {
        let mut pulse = None;
        loop {
            let begun = Instant::now();
            let beat = timeout(SILENCE, self.beat(&mut pulse)).await;
            match beat {
                Ok(Ok(false)) => self.liveness.beat(Beat::Written),
                Ok(Ok(true)) => {
                    pulse = None;
                    self.read_only();
                }
                Ok(Err(error)) => {
                    pulse = None;
                    self.not_written(&error);
                }
                Err(_) => {
                    pulse = None;
                    self.unanswered(begun);
                }
            }
            sleep(BUSY_EVERY.saturating_sub(begun.elapsed())).await;
            if pulse.is_some() {
                let _ = timeout(IDLE_EVERY, self.liveness.wanted()).await;
            }
        }
    }

    /// Sends one heartbeat and returns whether the server is read-only.
    async fn beat(&self, pulse: &mut Option<Pulse>) -> Result<bool, StorageError> {
        let Pulse { connection, .. } = match pulse {
            // Unless a new pool connection has shown that the primary is another server now.
            Some(pulse) if self.liveness.is_server(&pulse.server) => pulse,
            other => other.insert(self.connect_pulse().await?),
        };
        let lease = self.head_cache.lease();
        let number = lease.word();
        // A single message, since a pooler may require it. The payload has only letters, digits, blanks and hyphens.
        let statement = format!(
            "SELECT pg_notify('{}', '{}')::text, current_setting('transaction_read_only')",
            CHANNEL,
            self.notifications.word(number)
        );
        let row = sqlx::raw_sql(AssertSqlSafe(statement))
            .fetch_one(&mut *connection)
            .await?;
        self.liveness.answered();
        lease.committed(number);
        Ok(row.try_get::<&str, _>(1)? == "on")
    }

    async fn connect_pulse(&self) -> Result<Pulse, StorageError> {
        let options = self.find_primary().await?.application_name(HEARTBEAT);
        let mut connection = PgConnection::connect_with(&options).await?;
        let server = server_of(&mut connection).await?;
        leads_to(&server, &self.liveness, &self.head_cache);
        Ok(Pulse { connection, server })
    }

    fn not_written(&self, error: &StorageError) {
        if let StorageError::Unavailable(sqlx::Error::Database(database)) = error
            && database.code().is_some_and(|code| code == READ_ONLY)
        {
            self.read_only();
        } else {
            self.say(Beat::NotWritten("a test write failed"), Some(error));
        }
    }

    /// The server is a former primary or not promoted yet: connections are closed until they lead to a primary.
    fn read_only(&self) {
        self.liveness.retire_read_only();
        self.say(Beat::NotWritten("the database is read-only"), None);
    }

    fn unanswered(&self, begun: Instant) {
        if self.liveness.answered_since(begun) {
            self.say(Beat::NotWritten("a test write had no answer in time"), None);
        } else {
            if self.liveness.generation().is_ok() {
                tracing::warn!("the database does not answer: requests that wait for it fail");
            }
            self.liveness.give_up();
        }
    }

    /// Logs each change of state once.
    fn say(&self, beat: Beat, error: Option<&StorageError>) {
        if let Beat::NotWritten(problem) = &beat
            && self.liveness.last_beat().map(|(last, _)| last) != Some(beat)
        {
            let error = error.map(ToString::to_string);
            tracing::warn!(problem, error, "writes do not get through");
        }
        self.liveness.beat(beat);
    }
}
