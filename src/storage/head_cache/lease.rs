//! Until when the process may believe that it hears of every change.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long after it was put to the proof a listening connection is believed: the bound of staleness.
pub const STALENESS_BOUND: Duration = Duration::from_secs(1);

/// Until when heads may be given out. An *epoch* is the life of one listening connection: what was read in one is
/// worth nothing in the next.
#[derive(Debug)]
pub(super) struct InvalidationLease {
    origin: Instant,
    /// Milliseconds after `origin`; 0 if nothing is believed.
    until: AtomicU64,
    epoch: AtomicU64,
}

impl Default for InvalidationLease {
    fn default() -> Self {
        Self {
            origin: Instant::now(),
            until: AtomicU64::new(0),
            epoch: AtomicU64::new(0),
        }
    }
}

impl InvalidationLease {
    /// Whether changes are heard of at this moment.
    pub(super) fn holds(&self) -> bool {
        self.millis(Instant::now()) < self.until.load(Ordering::Acquire)
    }

    /// The number of the present epoch.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Begins the next epoch, in which nothing is believed yet.
    pub(super) fn next_epoch(&self) {
        self.until.store(0, Ordering::Release);
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// The proof that was asked for at `asked` came back: every change whose writer was answered
    /// before was heard of.
    pub(super) fn renew(&self, asked: Instant) {
        self.until
            .store(self.millis(asked + STALENESS_BOUND), Ordering::Release);
    }

    fn millis(&self, at: Instant) -> u64 {
        u64::try_from(at.duration_since(self.origin).as_millis()).unwrap_or(u64::MAX)
    }
}
