//! A standby that answers reads which may be a little behind.
//!
//! How far it is behind is not told by clocks: the primary's place in its write-ahead log is noted with our own time,
//! again and again ([`Storage::follow_replica`]). Once the standby has replayed that place, it has all that was committed
//! before that time. So a primary where nothing is written leaves nobody behind, and a standby that lost its primary is
//! soon too far behind.
//!
//! Which reads may be behind is said by whoever answers them ([`Storage::on_replica`]); all others, and all that is
//! written, go to the primary. So does what the standby cannot take.

mod progress;
mod standby;

pub(in crate::storage) use standby::Replica;

use crate::storage::database::connect::{connect_options, is_usable};
use crate::storage::database::connection::Connection;
use crate::storage::database::hosts::Hosts;
use crate::storage::database::liveness::{Beat, Liveness};
use crate::storage::database::reader::Reader;
use crate::storage::database::session::Door;
use crate::storage::database::transaction::Transaction;
use crate::storage::{Class, Storage, StorageError};
use crate::telemetry::meters;
use progress::Progress;
use sqlx::postgres::PgPoolOptions;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

/// How often the two places are compared.
const COMPARED_EVERY: Duration = Duration::from_millis(500);

/// How long a read waits for one of its connections before it asks the primary.
const WAITS_FOR: Duration = Duration::from_millis(500);

tokio::task_local! {
    /// Set where a read may be behind.
    static MAY_LAG: ();
}

fn has_none(error: &StorageError) {
    tracing::debug!(%error, "the standby has no connection for a read");
}

impl Storage {
    /// The same with a standby for reads that may be this far behind.
    ///
    /// # Errors
    /// A URL that is none, or names several servers.
    pub fn with_replica(mut self, url: &str, max_lag: Duration) -> Result<Self, StorageError> {
        let hosts = Hosts::parse(url)?;
        let server = hosts.only().ok_or_else(|| {
            sqlx::Error::Configuration("database.replica_url names several servers; give it one".into())
        })?;
        let liveness = Arc::new(Liveness::default());
        let (asked, silence_after) = (liveness.clone(), self.deadlines.silence);
        let pool = PgPoolOptions::new()
            .max_connections(self.most_connections())
            .acquire_timeout(WAITS_FOR)
            .test_before_acquire(false)
            .before_acquire(move |connection, about| {
                let liveness = asked.clone();
                Box::pin(async move { is_usable(connection, &about, &liveness, silence_after).await })
            })
            .connect_lazy_with(connect_options(server, self.prepared_statements));
        self.replica = Some(Arc::new(Replica {
            pool,
            liveness,
            max_lag,
            progress: Mutex::new(Progress::new(Instant::now())),
        }));
        Ok(self)
    }

    /// Whether there is a standby for reads at all.
    #[must_use]
    pub fn has_replica(&self) -> bool {
        self.replica.is_some()
    }

    /// How far the standby is behind at most; `None` if there is none, or if it is not to be asked now.
    #[must_use]
    pub fn replica_lag(&self) -> Option<Duration> {
        let replica = self.replica.as_ref()?;
        replica.progress().lag(Instant::now(), replica.max_lag)
    }

    /// Runs a read that may be behind. A task that is spawned in it asks the primary.
    pub async fn on_replica<F: Future>(&self, read: F) -> F::Output {
        MAY_LAG.scope((), read).await
    }

    /// Something was taken out: from now on the standby is not asked until it has that too.
    pub(in crate::storage) fn replica_must_catch_up(&self) {
        if let Some(replica) = &self.replica {
            replica.progress().not_before = Instant::now();
        }
    }

    /// The way to the standby, for a read that may be behind.
    fn replica_door(&self, class: Class) -> Option<Door<'_>> {
        let replica = self.replica.as_ref()?;
        let may_lag = matches!(class, Class::Read | Class::Search) && MAY_LAG.try_with(|()| ()).is_ok();
        (may_lag && self.replica_lag().is_some()).then_some((&replica.pool, &replica.liveness))
    }

    /// A connection of the standby, where the read may be behind and it has one.
    pub(in crate::storage) async fn replica_reader(&self, class: Class) -> Option<Reader> {
        let door = self.replica_door(class)?;
        // Its shares are those of the primary's connections.
        let turn = self.lanes.connection().await.ok()?;
        let reader = self.reader_from(door, class, turn).await;
        reader.inspect_err(has_none).ok()
    }

    /// The same for a read of several statements.
    pub(in crate::storage) async fn replica_transaction(&self, class: Class) -> Option<Transaction> {
        let door = self.replica_door(class)?;
        let turn = self.lanes.connection().await.ok()?;
        let transaction = self.begin_from(door, class, turn).await;
        transaction.inspect_err(has_none).ok()
    }

    /// Compares the primary and the standby for as long as it is polled; at once over without a standby.
    pub async fn follow_replica(&self) {
        let Some(replica) = &self.replica else { return };
        let mut told = self.notifications();
        let mut compared = tokio::time::interval(COMPARED_EVERY);
        compared.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut known = Instant::now();
        loop {
            tokio::select! {
                told = told.recv() => match told {
                    Ok(notification) if !notification.forget => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => self.replica_must_catch_up(),
                    // The storage that sends is the one that is asked here.
                    Err(RecvError::Closed) => return,
                },
                _ = compared.tick() => {
                    if let Err(error) = self.compare(replica).await {
                        tracing::debug!(%error, "the place of the primary could not be read");
                    }
                    known = replica.progress().has_all_until.unwrap_or(known);
                    meters::replica_lag(known.elapsed());
                }
            }
        }
    }

    /// Notes where the primary is, and asks the standby where it is: before, since a follower is never ahead of what it
    /// follows, and afterwards, to see whether it has come there.
    async fn compare(&self, replica: &Replica) -> Result<(), StorageError> {
        let before = timeout(self.deadlines.silence, self.ask(replica)).await;
        let (place, of) = match before {
            Err(_) => {
                // What waits for it is given up, and asks the primary.
                replica.liveness.give_up();
                replica.fails("it is silent", None);
                return Ok(());
            }
            Ok(Err(error)) => {
                replica.fails("it does not answer", Some(&error));
                return Ok(());
            }
            Ok(Ok((None, _))) => {
                replica.fails("it is no standby", None);
                return Ok(());
            }
            Ok(Ok((Some(place), of))) => (place, of),
        };
        let at = Instant::now();
        // Where the primary is away, the standby is as far behind as that is long.
        let primary = sqlx::query!(
            r#"SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint AS "place!",
                      (SELECT system_identifier FROM pg_control_system()) AS "system!",
                      current_database()::text AS "database!""#
        )
        .fetch_one(&mut *self.own_reader().await?)
        .await?;
        if of != (primary.system, primary.database) {
            replica.fails("it is of another database", None);
            return Ok(());
        }
        if place > primary.place {
            replica.fails("it followed another primary", None);
            return Ok(());
        }
        replica.progress().note(primary.place, at);
        let after = timeout(self.deadlines.silence, self.ask(replica)).await;
        // If it does not answer now, the next comparison says so.
        if let Ok(Ok((Some(place), _))) = after {
            replica.follows(place);
        }
        Ok(())
    }

    /// The place that the standby has replayed, and of which database it is.
    async fn ask(&self, replica: &Replica) -> Result<(Option<i64>, (i64, String)), StorageError> {
        if replica.liveness.generation().is_err() {
            // It was given up. If it answers now, that is over.
            replica.liveness.beat(Beat::Written);
        }
        let door = (&replica.pool, &replica.liveness);
        let mut reader = self.reader_from(door, Class::Health, None).await?;
        let connection: &mut Connection = &mut reader;
        let row = sqlx::query!(
            r#"SELECT CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn() - '0/0')::bigint END AS place,
                      (SELECT system_identifier FROM pg_control_system()) AS "system!",
                      current_database()::text AS "database!""#
        )
        .fetch_one(connection)
        .await?;
        Ok((row.place, (row.system, row.database)))
    }

    /// Closes its connections.
    pub(in crate::storage) async fn close_replica(&self) {
        if let Some(replica) = &self.replica {
            replica.pool.close().await;
        }
    }
}
