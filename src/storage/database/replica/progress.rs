//! Tracks how far a standby has replayed, by WAL positions of the primary at known times.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

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
