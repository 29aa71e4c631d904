//! Receives notifications of changes by other instances: `LISTEN` on a connection of its own.
//!
//! A writer notifies with `pg_notify` inside its transaction, so the notification is sent exactly if the change is
//! committed. Each instance has one listening connection ([`Storage::listen`]). What it receives, together with the
//! instance's own changes, which are published directly, goes to [`Storage::notifications`].
//!
//! An open connection proves nothing: a transaction-mode pooler accepts `LISTEN` and delivers nothing, and after a
//! failover the connection may lead to another server than the pool's. So the heartbeat
//! (`storage::database::heartbeat`) notifies the instance itself, over the same path as its writes. Such a notification
//! is called a word. [`Storage::listening`] is true while a word was received recently on the listening connection.
//! While it is false, notifications are not guaranteed, and code that waits for a change polls. The head cache
//! (`storage::head_cache`) is served, and a standby read, for one second after a received word was sent.

use crate::storage::database::connect::{connect_options, is_direct};
use crate::storage::database::connection::Connection;
use crate::storage::database::hosts::Hosts;
use crate::storage::database::liveness::silence;
use crate::storage::database::notification::{CHANNEL, Notification};
use crate::storage::{Storage, StorageError};
use sqlx::postgres::{PgListener, PgPoolOptions};
use std::io;
use std::time::{Duration, Instant};
use tokio::sync::{broadcast, watch};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

/// The application name of the connection in `pg_stat_activity`.
const LISTENER: &str = "working-memory listener";

/// How long a received word proves that notifications arrive, and how long the first may be on its way.
const WORD_LASTS: Duration = Duration::from_secs(12);

/// How long committed words may stay undelivered before the connection counts as lost.
const MAX_UNRECEIVED: Duration = Duration::from_secs(2);

/// The interval of that check.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The time limit for connecting and `LISTEN`.
const CONNECTED_WITHIN: Duration = Duration::from_secs(5);

/// The pause before connecting again.
const AFTER_FAILURE: Duration = Duration::from_millis(500);

/// The pause before checking again whether a pooler is still in between.
const AFTER_POOLER: Duration = Duration::from_secs(60);

const BEHIND_POOLER: &str = "the database is behind a pooler, through which this instance does not listen: what other \
                             instances write is looked for instead, and no standby is read; set database.listen_url to the database itself";

/// Notifies all instances when the transaction commits.
pub(in crate::storage) async fn notify(
    connection: &mut Connection,
    notifications: &[Notification],
) -> Result<(), StorageError> {
    if notifications.is_empty() {
        return Ok(());
    }
    let payloads: Vec<String> = notifications.iter().map(Notification::payload).collect();
    sqlx::query!("SELECT pg_notify($1, unnest($2::text[]))", CHANNEL, &payloads)
        .execute(connection)
        .await?;
    Ok(())
}

impl Storage {
    /// Subscribes to all changes from now on: local ones at once, others when their notification arrives. Some changes
    /// are received twice.
    #[must_use]
    pub fn notifications(&self) -> broadcast::Receiver<Notification> {
        self.notifications.sender.subscribe()
    }

    /// Whether notifications of other instances are known to arrive at the moment.
    #[must_use]
    pub fn listening(&self) -> watch::Receiver<bool> {
        self.notifications.proved.subscribe()
    }

    /// Listens for as long as it is polled, and reconnects if necessary. `url` must lead to the same database without a
    /// transaction-mode pooler in between.
    pub async fn listen(&self, url: &str) {
        let mut last = None;
        loop {
            let (problem, pause) = match is_direct(url).await {
                Ok(true) => match self.listen_once(url).await {
                    Ok(()) => ("it was lost".to_owned(), AFTER_FAILURE),
                    Err(error) => (error.to_string(), AFTER_FAILURE),
                },
                Ok(false) => (BEHIND_POOLER.to_owned(), AFTER_POOLER),
                Err(error) => (error.to_string(), AFTER_FAILURE),
            };
            self.notifications.head_cache.next_epoch();
            let was_proved = self.notifications.proved.send_replace(false);
            // Logged once for each failure, not for each attempt.
            if was_proved || last.as_ref() != Some(&problem) {
                tracing::warn!(problem, "no listening connection, trying again");
            }
            last = Some(problem);
            sleep(pause).await;
        }
    }

    /// Returns when the connection is lost or does not deliver committed notifications.
    async fn listen_once(&self, url: &str) -> Result<(), StorageError> {
        let connecting = timeout(CONNECTED_WITHIN, listener(url)).await;
        let mut listener = connecting.unwrap_or_else(|_| Err(silence().into()))?;
        self.notifications.head_cache.next_epoch();
        // What was deleted until now was not heard of.
        self.replica_must_catch_up();
        self.liveness.want_beat();
        let mut last_word = None;
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                notification = listener.try_recv() => match notification? {
                    Some(notification) => {
                        if self.receive(notification.payload()) {
                            last_word = Some(Instant::now());
                        }
                    }
                    None => return Ok(()),
                },
                _ = look.tick() => self.look(last_word)?,
            }
        }
    }

    /// Handles a notification. Returns whether it is a word of this instance.
    fn receive(&self, payload: &str) -> bool {
        let word = self.notifications.number_of_word(payload);
        if let Some(number) = word {
            self.notifications.head_cache.lease().received(number);
            let proved = &self.notifications.proved;
            proved.send_if_modified(|proved| !std::mem::replace(proved, true));
        } else if let Ok(notification) = serde_json::from_str(payload) {
            self.publish(notification);
        }
        word.is_some()
    }

    /// Fails if words were committed but not received, as behind a pooler, or on a former primary.
    fn look(&self, last_word: Option<Instant>) -> Result<(), StorageError> {
        if last_word.is_some_and(|word| word.elapsed() > WORD_LASTS) {
            // Watchers wake at the first tick only.
            let proved = &self.notifications.proved;
            proved.send_if_modified(|proved| std::mem::replace(proved, false));
        }
        let at_most = match last_word {
            Some(_) => MAX_UNRECEIVED,
            None => WORD_LASTS,
        };
        match self.notifications.head_cache.lease().unreceived_for() {
            Some(unreceived) if unreceived > at_most => {
                let problem = "nothing arrives on the listening connection; does database.listen_url lead to the same \
                               database, without a transaction-mode pooler between?";
                Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, problem)).into())
            }
            _ => Ok(()),
        }
    }
}

/// Opens a listening connection.
async fn listener(url: &str) -> Result<PgListener, StorageError> {
    let hosts = Hosts::parse(url)?;
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .connect_with(connect_options(hosts.primary().await?, false).application_name(LISTENER))
        .await?;
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    Ok(listener)
}
