//! A standby that serves reads which may be slightly stale.
//!
//! The lag is not measured by clocks of the servers: the primary's WAL position is noted with this process's time at
//! regular intervals ([`Storage::follow_replica`]). Once the standby has replayed that position, it has everything
//! committed before that time. So an idle primary causes no lag, and a standby that lost its primary soon exceeds the
//! bound.
//!
//! What was deleted must not be read from a standby that has not replayed the deletion. So after each notification of
//! one, and after a time in which notifications may have been lost, the standby must catch up, and it is read only while
//! they are known to arrive ([`crate::storage::database::listen`]): as with the head cache, a deletion by another instance is
//! noticed within a second.
//!
//! Callers mark reads that may be stale ([`Storage::on_replica`]). All other reads and all writes go to the primary,
//! and so do stale reads that the standby cannot serve.

use crate::storage::database::connect::{connect_options, pool_options};
use crate::storage::database::connection::Connection;
use crate::storage::database::hosts::Hosts;
use crate::storage::database::liveness::{Liveness, SILENCE};
use crate::storage::{Class, Storage, StorageError};
use crate::telemetry::meters;
use parking_lot::Mutex;
use sqlx::PgPool;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The interval between comparisons of the WAL positions.
const COMPARED_EVERY: Duration = Duration::from_millis(500);

/// How long a read waits for a connection to the standby before it uses the primary.
const WAITS_FOR: Duration = Duration::from_millis(500);

tokio::task_local! {
    /// Set while a read may be stale.
    static MAY_LAG: ();
}

impl Storage {
    /// Adds a standby for reads that may be stale by at most `max_lag`.
    ///
    /// # Errors
    /// An invalid URL, or one that names several servers.
    pub fn with_replica(mut self, url: &str, max_lag: Duration) -> Result<Self, StorageError> {
        let refusal = |problem: String| StorageError::InvalidUrl(format!("database.replica_url: {problem}"));
        let hosts = Hosts::parse_standby(url).map_err(|error| match error {
            StorageError::InvalidUrl(problem) => refusal(problem),
            other => other,
        })?;
        let server = hosts
            .only()
            .ok_or_else(|| refusal("it names several servers; give it one".to_owned()))?;
        let liveness = Arc::new(Liveness::default());
        let pool = pool_options(&liveness)
            .max_connections(self.most_connections())
            .acquire_timeout(WAITS_FOR)
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
        let hears_of_deletions = self.head_cache.lease().holds();
        let lag = replica.progress.lock().lag(Instant::now(), replica.max_lag);
        lag.filter(|_| hears_of_deletions)
    }

    /// Runs a read that may be stale. A task spawned in it reads from the primary.
    pub async fn on_replica<F: Future>(&self, read: F) -> F::Output {
        MAY_LAG.scope((), read).await
    }

    /// Data was removed, or may have been: the standby is not used until it has replayed that.
    pub(in crate::storage) fn replica_must_catch_up(&self) {
        if let Some(replica) = &self.replica {
            replica.progress.lock().not_before = Instant::now();
        }
    }

    /// A connection to the standby, or a transaction on it, if the read may be stale and one is available.
    pub(super) async fn on_standby(&self, class: Class, begins: bool) -> Option<Connection> {
        let replica = self.replica.as_ref()?;
        let may_lag = matches!(class, Class::Read | Class::Search) && MAY_LAG.try_with(|()| ()).is_ok();
        if !may_lag || self.replica_lag().is_none() {
            return None;
        }
        // The concurrency limits of the primary's connections apply here too.
        let permit = self.permit(class).await.ok()?;
        let pool = (&replica.pool, &replica.liveness);
        // Boxed, because most reads do not come here.
        let connection = Box::pin(self.open(pool, class, permit, begins)).await;
        let no_connection =
            |error: &StorageError| tracing::debug!(%error, "the standby has no connection for a read");
        connection.inspect_err(no_connection).ok()
    }

    /// Compares the primary and the standby for as long as it is polled; returns at once without a standby.
    pub async fn follow_replica(&self) {
        let Some(replica) = &self.replica else { return };
        let mut compared = tokio::time::interval(COMPARED_EVERY);
        compared.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut known = Instant::now();
        loop {
            compared.tick().await;
            if let Err(error) = self.compare(replica).await {
                tracing::debug!(%error, "the place of the primary could not be read");
            }
            known = replica.progress.lock().has_all_until.unwrap_or(known);
            metrics::gauge!(meters::REPLICA_LAG_SECONDS).set(known.elapsed());
        }
    }

    /// Notes the WAL position of the primary. Asks the standby for its position before that, since a standby is never
    /// ahead of its primary, and afterwards, to see whether it has reached the noted position.
    async fn compare(&self, replica: &Replica) -> Result<(), StorageError> {
        let before = timeout(SILENCE, self.ask(replica)).await;
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
                replica.fails("it is not a standby", None);
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
        .fetch_one(&mut self.reader_for(Class::Health).await?)
        .await?;
        if of != (primary.system, primary.database) {
            replica.fails("it is of another database", None);
            return Ok(());
        }
        if place > primary.place {
            replica.fails("it followed another primary", None);
            return Ok(());
        }
        replica.progress.lock().note(primary.place, at);
        let after = timeout(SILENCE, self.ask(replica)).await;
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
            replica.liveness.beat(Ok(()));
        }
        let pool = (&replica.pool, &replica.liveness);
        let mut connection = self.open(pool, Class::Health, None, false).await?;
        let row = sqlx::query!(
            r#"SELECT CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn() - '0/0')::bigint END AS place,
                      (SELECT system_identifier FROM pg_control_system()) AS "system!",
                      current_database()::text AS "database!""#
        )
        .fetch_one(&mut connection)
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

/// The standby.
pub(in crate::storage) struct Replica {
    pub(super) pool: PgPool,
    pub(super) liveness: Arc<Liveness>,
    pub(super) max_lag: Duration,
    pub(super) progress: Mutex<Progress>,
}

impl Replica {
    /// It answered and is replaying.
    pub(super) fn follows(&self, place: i64) {
        self.liveness.beat(Ok(()));
        let mut progress = self.progress.lock();
        progress.replayed(place);
        if progress.why_not.take().is_some() {
            tracing::info!("the standby for reads answers again");
        }
    }

    /// It cannot be used for this reason, which is logged once.
    pub(super) fn fails(&self, why_not: &'static str, error: Option<&StorageError>) {
        let mut progress = self.progress.lock();
        progress.forget();
        if progress.why_not.replace(why_not) != Some(why_not) {
            let error = error.map(ToString::to_string);
            tracing::warn!(
                error,
                why_not,
                "the primary answers instead of the standby for reads"
            );
        }
    }
}

/// Maximum number of positions that are remembered: enough for the longest bound.
const REMEMBERED: usize = 8_192;

/// What is known about the replay.
#[derive(Debug)]
pub(super) struct Progress {
    /// Positions of the primary that the standby has not replayed, with the time before they were read; oldest first.
    noted: VecDeque<(i64, Instant)>,
    /// Everything committed before this time is replayed.
    pub(super) has_all_until: Option<Instant>,
    /// Older states must not be served: data was removed at this time.
    pub(super) not_before: Instant,
    /// Why the standby is not used, for the log.
    pub(super) why_not: Option<&'static str>,
}

impl Progress {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            noted: VecDeque::new(),
            has_all_until: None,
            not_before: now,
            why_not: None,
        }
    }

    /// The primary was at this position at this time, or later.
    pub(super) fn note(&mut self, place: i64, at: Instant) {
        if self.noted.back().is_some_and(|(last, _)| *last > place) {
            // A new primary has another WAL timeline.
            self.forget();
        }
        if self.noted.len() == REMEMBERED {
            self.noted.pop_front();
        }
        self.noted.push_back((place, at));
    }

    /// The standby has replayed everything before this position.
    pub(super) fn replayed(&mut self, place: i64) {
        while let Some((noted, at)) = self.noted.front()
            && *noted <= place
        {
            self.has_all_until = Some(*at);
            self.noted.pop_front();
        }
    }

    /// Resets the state: it may be another standby, or none.
    pub(super) fn forget(&mut self) {
        self.noted.clear();
        self.has_all_until = None;
    }

    /// Upper bound of the lag; `None` if it exceeds `max`.
    pub(super) fn lag(&self, now: Instant, max: Duration) -> Option<Duration> {
        let until = self.has_all_until.filter(|until| *until >= self.not_before)?;
        let lag = now.saturating_duration_since(until);
        (lag <= max).then_some(lag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_secs(10);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_lag_is_that_of_the_newest_replayed_position() {
        let start = Instant::now();
        let mut progress = Progress::new(start);
        assert_eq!(progress.lag(start, MAX), None);
        progress.note(100, start);
        progress.note(200, start + seconds(1));
        progress.replayed(99);
        assert_eq!(progress.lag(start + seconds(1), MAX), None);
        progress.replayed(150);
        assert_eq!(progress.lag(start + seconds(4), MAX), Some(seconds(4)));
        progress.replayed(200);
        assert_eq!(progress.lag(start + seconds(4), MAX), Some(seconds(3)));
        // Without writes the standby does not fall behind.
        progress.note(200, start + seconds(20));
        progress.replayed(200);
        assert_eq!(progress.lag(start + seconds(20), MAX), Some(seconds(0)));
    }

    #[test]
    fn a_standby_that_lags_or_shows_removed_text_is_not_read() {
        let start = Instant::now();
        let mut progress = Progress::new(start);
        progress.note(1, start);
        progress.replayed(1);
        assert_eq!(progress.lag(start + MAX, MAX), Some(MAX));
        assert_eq!(progress.lag(start + MAX + seconds(1), MAX), None);
        progress.not_before = start + seconds(1);
        assert_eq!(progress.lag(start + seconds(2), MAX), None);
        progress.note(2, start + seconds(2));
        progress.replayed(2);
        assert_eq!(progress.lag(start + seconds(2), MAX), Some(seconds(0)));
    }

    #[test]
    fn places_of_another_primary_say_nothing_of_this_one() {
        let start = Instant::now();
        let mut progress = Progress::new(start);
        progress.note(500, start);
        progress.replayed(500);
        progress.note(900, start + seconds(1));
        progress.note(700, start + seconds(2));
        assert_eq!(progress.lag(start + seconds(2), MAX), None);
        progress.replayed(600);
        assert_eq!(progress.lag(start + seconds(2), MAX), None);
    }
}
