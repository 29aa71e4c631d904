//! A standby that serves reads which may be slightly stale.
//!
//! The lag is not measured by clocks of the servers: the primary's WAL position is noted with this process's time at
//! regular intervals ([`Storage::follow_replica`]). Once the standby has replayed that position, it has everything
//! committed before that time. So an idle primary causes no lag, and a standby that lost its primary soon exceeds the
//! bound.
//!
//! Callers mark reads that may be stale ([`Storage::on_replica`]). All other reads and all writes go to the primary,
//! and so do stale reads that the standby cannot serve.

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

/// The interval between comparisons of the WAL positions.
const COMPARED_EVERY: Duration = Duration::from_millis(500);

/// How long a read waits for a connection to the standby before it uses the primary.
const WAITS_FOR: Duration = Duration::from_millis(500);

tokio::task_local! {
    /// Set while a read may be stale.
    static MAY_LAG: ();
}

fn has_none(error: &StorageError) {
    tracing::debug!(%error, "the standby has no connection for a read");
}

impl Storage {
    /// Adds a standby for reads that may be stale by at most `max_lag`.
    ///
    /// # Errors
    /// An invalid URL, or one that names several servers.
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

    /// Whether a standby is configured.
    #[must_use]
    pub fn has_replica(&self) -> bool {
        self.replica.is_some()
    }

    /// Upper bound of the standby's lag; `None` if there is none or it cannot be used now.
    #[must_use]
    pub fn replica_lag(&self) -> Option<Duration> {
        let replica = self.replica.as_ref()?;
        replica.progress().lag(Instant::now(), replica.max_lag)
    }

    /// Runs a read that may be stale. A task spawned in it reads from the primary.
    pub async fn on_replica<F: Future>(&self, read: F) -> F::Output {
        MAY_LAG.scope((), read).await
    }

    /// Data was removed: the standby is not used until it has replayed that.
    pub(in crate::storage) fn replica_must_catch_up(&self) {
        if let Some(replica) = &self.replica {
            replica.progress().not_before = Instant::now();
        }
    }

    /// The pool of the standby, for a read that may be stale.
    fn replica_door(&self, class: Class) -> Option<Door<'_>> {
        let replica = self.replica.as_ref()?;
        let may_lag = matches!(class, Class::Read | Class::Search) && MAY_LAG.try_with(|()| ()).is_ok();
        (may_lag && self.replica_lag().is_some()).then_some((&replica.pool, &replica.liveness))
    }

    /// A connection to the standby, if the read may be stale and one is available.
    pub(in crate::storage) async fn replica_reader(&self, class: Class) -> Option<Reader> {
        let door = self.replica_door(class)?;
        // The concurrency limits of the primary's connections apply here too.
        let permit = self.lanes.connection().await.ok()?;
        let reader = self.reader_from(door, class, permit).await;
        reader.inspect_err(has_none).ok()
    }

    /// As [`Self::replica_reader`], for a read of several statements.
    pub(in crate::storage) async fn replica_transaction(&self, class: Class) -> Option<Transaction> {
        let door = self.replica_door(class)?;
        let permit = self.lanes.connection().await.ok()?;
        let transaction = self.begin_from(door, class, permit).await;
        transaction.inspect_err(has_none).ok()
    }

    /// Compares the primary and the standby for as long as it is polled; returns at once without a standby.
    pub async fn follow_replica(&self) {
        let Some(replica) = &self.replica else { return };
        let mut notifications = self.notifications();
        let mut compared = tokio::time::interval(COMPARED_EVERY);
        compared.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut known = Instant::now();
        loop {
            tokio::select! {
                received = notifications.recv() => match received {
                    Ok(notification) if !notification.forget => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => self.replica_must_catch_up(),
                    // Unreachable while this storage, which holds the sender, exists.
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

    /// Notes the WAL position of the primary. Asks the standby for its position before that, since a standby is never
    /// ahead of its primary, and afterwards, to see whether it has reached the noted position.
    async fn compare(&self, replica: &Replica) -> Result<(), StorageError> {
        let before = timeout(self.deadlines.silence, self.ask(replica)).await;
        let (place, of) = match before {
            Err(_) => {
                // Statements that wait for it fail and are sent to the primary.
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
        // If the primary is unavailable, the lag grows with time.
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
        // If it does not answer now, the next comparison reports that.
        if let Ok(Ok((Some(place), _))) = after {
            replica.follows(place);
        }
        Ok(())
    }

    /// The WAL position that the standby has replayed, and the identity of its database.
    async fn ask(&self, replica: &Replica) -> Result<(Option<i64>, (i64, String)), StorageError> {
        if replica.liveness.generation().is_err() {
            // It was given up; an answer ends that.
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

    /// Closes the standby's connections.
    pub(in crate::storage) async fn close_replica(&self) {
        if let Some(replica) = &self.replica {
            replica.pool.close().await;
        }
    }
}
