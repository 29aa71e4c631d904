//! The invalidation lease: until when the process may serve from the head cache, or from a standby.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The bound of staleness: how long after a word was sent heads may be served.
pub const STALENESS_BOUND: Duration = Duration::from_secs(1);

/// Until when heads may be served.
///
/// A *word* is a notification that the process sends to itself over the connection path of its writes. When the
/// listening connection receives it, the lease is renewed, counted from the moment when the word was *sent*:
/// notifications arrive in commit order, so all earlier commits that were answered have been received by then. If the
/// two connections lead to different servers, as during a failover, the word does not arrive.
///
/// An *epoch* is a period in which both connections stay the same. It ends when the listening connection ends or a new
/// connection leads to another server. A word of one epoch does not renew the lease in the next, and heads read in one
/// epoch are not valid in the next.
#[derive(Debug)]
pub(in crate::storage) struct InvalidationLease {
    origin: Instant,
    /// Milliseconds after `origin`; 0 means no lease.
    until: AtomicU64,
    epoch: AtomicU64,
    words: Mutex<Words>,
}

#[derive(Debug, Default)]
struct Words {
    /// Number of words sent.
    sent: u64,
    /// The last word, until it is received.
    last: Option<Word>,
    /// Since when a word is committed but neither it nor a later one was received.
    unreceived_since: Option<Instant>,
}

#[derive(Debug)]
struct Word {
    number: u64,
    sent: Instant,
    epoch: u64,
}

impl Default for InvalidationLease {
    fn default() -> Self {
        Self {
            origin: Instant::now(),
            until: AtomicU64::new(0),
            epoch: AtomicU64::new(0),
            words: Mutex::default(),
        }
    }
}

impl InvalidationLease {
    /// Whether heads may be served at this moment.
    pub(in crate::storage) fn holds(&self) -> bool {
        self.millis(Instant::now()) < self.until.load(Ordering::Acquire)
    }

    /// The number of the current epoch.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Starts the next epoch, without a lease.
    pub(super) fn next_epoch(&self) {
        let mut words = self.words.lock();
        words.last = None;
        words.unreceived_since = None;
        self.until.store(0, Ordering::Release);
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Must be called before a word is sent; returns its number.
    pub(in crate::storage) fn word(&self) -> u64 {
        let mut words = self.words.lock();
        words.sent += 1;
        words.last = Some(Word {
            number: words.sent,
            sent: Instant::now(),
            epoch: self.epoch(),
        });
        words.sent
    }

    /// A word was committed.
    pub(in crate::storage) fn committed(&self, number: u64) {
        let mut words = self.words.lock();
        if words.last.as_ref().is_some_and(|last| last.number == number) {
            words.unreceived_since.get_or_insert_with(Instant::now);
        }
    }

    /// A word was received.
    pub(in crate::storage) fn received(&self, number: u64) {
        let mut words = self.words.lock();
        words.unreceived_since = None;
        if let Some(word) = words.last.take_if(|last| last.number == number)
            && word.epoch == self.epoch()
        {
            self.renew(word.sent);
        }
    }

    /// For how long committed words have not been received.
    pub(in crate::storage) fn unreceived_for(&self) -> Option<Duration> {
        self.words.lock().unreceived_since.map(|since| since.elapsed())
    }

    /// Renews the lease: every change answered before `sent` has been received.
    pub(super) fn renew(&self, sent: Instant) {
        let until = self.millis(sent + STALENESS_BOUND);
        self.until.fetch_max(until, Ordering::AcqRel);
    }

    fn millis(&self, at: Instant) -> u64 {
        u64::try_from(at.duration_since(self.origin).as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_renews_when_it_is_received_and_only_the_last_one() {
        let lease = InvalidationLease::default();
        let (first, second) = (lease.word(), lease.word());
        lease.received(first);
        assert!(!lease.holds());
        lease.received(second);
        assert!(lease.holds());
    }

    #[test]
    fn a_word_of_an_earlier_epoch_renews_nothing() {
        let lease = InvalidationLease::default();
        let word = lease.word();
        lease.next_epoch();
        lease.received(word);
        assert!(!lease.holds());
        lease.received(lease.word());
        assert!(lease.holds());
        lease.next_epoch();
        assert!(!lease.holds());
    }

    #[test]
    fn the_lease_counts_from_when_the_word_was_sent() {
        let lease = InvalidationLease::default();
        let word = lease.word();
        std::thread::sleep(Duration::from_millis(20));
        lease.received(word);
        let until = lease.until.load(Ordering::Acquire);
        assert!(until <= lease.millis(Instant::now() + STALENESS_BOUND) - 20);
    }

    #[test]
    fn words_that_are_committed_and_not_received_are_noticed() {
        let lease = InvalidationLease::default();
        assert_eq!(lease.unreceived_for(), None);
        let first = lease.word();
        lease.committed(first);
        assert!(lease.unreceived_for().is_some());
        lease.received(first);
        assert_eq!(lease.unreceived_for(), None);
        // Received before its own sender was answered.
        let second = lease.word();
        lease.received(second);
        lease.committed(second);
        assert_eq!(lease.unreceived_for(), None);
    }
}
