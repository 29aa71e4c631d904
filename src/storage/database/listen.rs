//! What other instances write, told at once: `LISTEN` on a connection of its own.
//!
//! A writer says what it changed with `pg_notify`, a statement of its own inside its transaction, so that it is said
//! exactly if the change is committed. One connection an instance listens ([`Storage::listen`]) and hands on what it
//! hears, beside what this instance itself writes, which needs no way round ([`Storage::notifications`]).
//!
//! A connection that looks open proves nothing: behind a transaction-mode pooler `LISTEN` is answered and nothing ever
//! comes, and after a failover it may lead to another server than the pool's. So the heartbeat (`storage::database::heartbeat`)
//! sends a word to the instance itself, on the way of its writes. [`Storage::listening`] says whether a word was heard
//! on the listening connection lately: while it says no, nobody may rely on being told, and whoever waits for a change
//! looks by himself. The cache of heads (`storage::head_cache`) is served for a second after a word that was heard.

use crate::storage::database::connect::connect_options;
use crate::storage::database::connection::Connection;
use crate::storage::database::hosts::Hosts;
use crate::storage::database::liveness::silence;
use crate::storage::database::notification::{CHANNEL, Notification, joined_words};
use crate::storage::database::session::keeps_sessions;
use crate::storage::{Storage, StorageError};
use sqlx::postgres::{PgListener, PgPoolOptions};
use std::time::{Duration, Instant};
use tokio::sync::{broadcast, watch};
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};

/// What the listening connection calls itself, so that an operator finds it in `pg_stat_activity`.
const LISTENER: &str = "working-memory listener";

/// For how long a word that was heard says that others will be.
const WORD_LASTS: Duration = Duration::from_secs(12);

/// For how long words may be committed and not heard before the connection counts as lost.
const UNHEARD_FOR: Duration = Duration::from_secs(2);

/// How often that is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How long it may take to connect and to begin to listen.
const CONNECTED_WITHIN: Duration = Duration::from_secs(5);

/// How long to wait before connecting again.
const AFTER_FAILURE: Duration = Duration::from_millis(500);

/// How long until it is tried again whether a pooler is gone.
const AFTER_POOLER: Duration = Duration::from_secs(60);

/// Has all instances told when the transaction commits, in as few words as they fit in: transactions that notify
/// commit one after another.
#[tracing::instrument(name = "db.notify", skip_all)]
pub(in crate::storage) async fn notify(
    connection: &mut Connection,
    notifications: &[Notification],
) -> Result<(), StorageError> {
    for word in joined_words(notifications.iter()) {
        send(connection, &word).await?;
    }
    Ok(())
}

async fn send(connection: &mut Connection, line: &str) -> Result<(), StorageError> {
    sqlx::query!("SELECT pg_notify($1, $2)", CHANNEL, line)
        .execute(connection)
        .await?;
    Ok(())
}

impl Storage {
    /// What is written from now on, here at once and elsewhere as soon as it is heard of. Some things are told twice.
    #[must_use]
    pub fn notifications(&self) -> broadcast::Receiver<Notification> {
        self.notifications.heard.subscribe()
    }

    /// Whether what other instances write is certain to be heard of at the moment.
    #[must_use]
    pub fn listening(&self) -> watch::Receiver<bool> {
        self.notifications.proved.subscribe()
    }

    /// Listens for as long as it is polled, connecting again where it has to. `url` must lead to the same database
    /// without a transaction-mode pooler between.
    pub async fn listen(&self, url: &str) {
        let (mut complained, mut failed) = (false, false);
        loop {
            let ended = match keeps_sessions(url).await {
                Ok(true) => self.listen_once(url).await,
                Ok(false) => {
                    if !std::mem::replace(&mut complained, true) {
                        tracing::warn!(
                            "the database is behind a transaction-mode pooler, which cannot listen: what other \
                             instances write is looked for instead; set database.listen_url to the database itself"
                        );
                    }
                    sleep(AFTER_POOLER).await;
                    continue;
                }
                Err(error) => Err(error),
            };
            self.notifications.head_cache.revoke();
            let was_heard = self.notifications.proved.send_replace(false);
            match ended {
                Ok(()) => tracing::warn!("the listening connection was lost, connecting again"),
                // Said once a failure, however often it is tried again.
                Err(error) if was_heard || !std::mem::replace(&mut failed, true) => {
                    tracing::warn!(%error, "no listening connection, trying again");
                }
                Err(error) => tracing::debug!(%error, "no listening connection, trying again"),
            }
            failed &= !was_heard;
            sleep(AFTER_FAILURE).await;
        }
    }

    /// Returns when the connection is lost, or nothing that was committed is heard on it.
    async fn listen_once(&self, url: &str) -> Result<(), StorageError> {
        let connecting = timeout(CONNECTED_WITHIN, listener(url)).await;
        let mut listener = connecting.unwrap_or_else(|_| Err(silence().into()))?;
        self.notifications.head_cache.next_epoch();
        self.liveness.want_beat();
        let mut heard = Heard::default();
        let mut look = every(LOOK_EVERY);
        loop {
            tokio::select! {
                notification = listener.try_recv() => match notification? {
                    Some(notification) => self.hear(notification.payload(), &mut heard),
                    None => return Ok(()),
                },
                _ = look.tick() => self.look(&mut heard)?,
            }
        }
    }

    fn hear(&self, line: &str, heard: &mut Heard) {
        if let Some(number) = self.notifications.number_of_word(line) {
            self.notifications.head_cache.lease().heard(number);
            heard.word = Some(Instant::now());
            let proved = &self.notifications.proved;
            proved.send_if_modified(|proved| !std::mem::replace(proved, true));
        } else {
            for notification in line.lines().filter_map(Notification::from_line) {
                self.notifications.publish(notification);
            }
        }
    }

    /// Words that were committed and are not heard: whatever answers here does not hear what is written.
    fn look(&self, heard: &mut Heard) -> Result<(), StorageError> {
        let unheard = self.notifications.head_cache.lease().unheard_for();
        match (heard.word, unheard) {
            (Some(word), _) if word.elapsed() > WORD_LASTS => {
                self.notifications.proved.send_replace(false);
            }
            _ => {}
        }
        match (heard.word, unheard) {
            (Some(_), Some(unheard)) if unheard > UNHEARD_FOR => Err(silence().into()),
            (None, Some(unheard))
                if unheard > WORD_LASTS && !std::mem::replace(&mut heard.complained, true) =>
            {
                tracing::warn!(
                    "nothing arrives on the listening connection; does database.listen_url lead to the same \
                     database, without a transaction-mode pooler between?"
                );
                Ok(())
            }
            // It may have led to the server that was the primary.
            (None, Some(unheard)) if unheard > 2 * WORD_LASTS => Err(silence().into()),
            _ => Ok(()),
        }
    }
}

/// What arrived on a listening connection.
#[derive(Default)]
struct Heard {
    /// When a word did last.
    word: Option<Instant>,
    complained: bool,
}

/// A connection that listens.
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

/// Ticks that are late are not caught up with.
fn every(time: Duration) -> Interval {
    let mut interval = interval(time);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}
