//! Transactions that lose races are run again: one policy for all of them.
//!
//! The database ends one of several transactions that wait for each other (40P01) or contradict each other (40001), and
//! nothing of it was done. It is run again from its beginning, on what the others left, a few times with a growing pause
//! between; after that its error stands, which says that the request may be sent again.

use super::StorageError;
use super::error::may_repeat;
use crate::telemetry::meters;
use std::time::Duration;
use tokio::time::sleep;

/// How often a transaction is run again.
const MAX_REPEATS: u32 = 5;

/// The pause before the first repetition; each further one is twice as long. Those that lost one race do not meet again
/// at once, since one of them won.
const PAUSE: Duration = Duration::from_millis(1);

/// An error of a transaction, which may be the database's.
pub(super) trait TransactionError {
    /// The database's, if it is.
    fn of_storage(&self) -> Option<&StorageError>;
}

impl TransactionError for StorageError {
    fn of_storage(&self) -> Option<&StorageError> {
        Some(self)
    }
}

/// How a transaction that may be run again fares: the one place that says when and how often.
///
/// What is run again is repeatable: it begins the transaction, reads what it decides by in it, and leaves nothing behind
/// when it fails.
pub(super) struct Repeats {
    name: &'static str,
    may_repeat: fn(&StorageError) -> bool,
    count: u32,
}

impl Repeats {
    /// Of a transaction with this name, which is that of its span, after a lost race.
    pub(super) fn of(name: &'static str) -> Self {
        Self::after(name, may_repeat)
    }

    /// The same, also after other errors of the database that the same transaction would not meet again.
    pub(super) fn after(name: &'static str, may_repeat: fn(&StorageError) -> bool) -> Self {
        Self {
            name,
            may_repeat,
            count: 0,
        }
    }

    /// What a run of it came to, if that is its end; `None`, after a pause, if it is to be run again.
    pub(super) async fn end<T, E: TransactionError>(&mut self, done: Result<T, E>) -> Option<Result<T, E>> {
        let lost = done.as_ref().err().and_then(TransactionError::of_storage);
        match lost.filter(|error| self.count < MAX_REPEATS && (self.may_repeat)(error)) {
            None => return Some(done),
            Some(error) => {
                tracing::debug!(transaction = self.name, repeats = self.count, error = %error, "lost a race, running it again");
            }
        }
        drop(done);
        meters::transaction_repeated(self.name);
        sleep(PAUSE * 2_u32.pow(self.count)).await;
        self.count += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost() -> Result<(), StorageError> {
        Err(StorageError::KeyTakenOver)
    }

    #[tokio::test]
    async fn what_loses_a_race_is_run_again_a_few_times() {
        let mut repeats = Repeats::after("test", |_| true);
        for _ in 0..MAX_REPEATS {
            assert!(repeats.end(lost()).await.is_none());
        }
        assert!(repeats.end(lost()).await.is_some_and(|done| done.is_err()));
    }

    #[tokio::test]
    async fn other_errors_and_successes_are_the_end() {
        let mut repeats = Repeats::of("test");
        assert!(repeats.end(lost()).await.is_some_and(|done| done.is_err()));
        assert!(
            repeats
                .end(Ok::<_, StorageError>(()))
                .await
                .is_some_and(|done| done.is_ok())
        );
    }
}
