//! The retry policy of transactions that lose races.
//!
//! The database aborts one of several transactions that deadlock (40P01) or fail to serialise (40001), and rolls it
//! back. It is run again from its beginning, a few times, with exponential backoff; after that the error is returned,
//! which says that the request may be repeated. Code that changes rows does not call this directly but
//! `Storage::transaction` or `Storage::execute` ([`transaction`](crate::storage::database::transaction)).

use crate::storage::StorageError;
use crate::storage::error::may_repeat;
use crate::telemetry::meters;
use std::time::Duration;
use tokio::time::sleep;

/// Maximum number of repetitions.
const MAX_REPEATS: u32 = 5;

/// The pause before the first repetition; it doubles each time. The losers of one race do not all collide again, since
/// one of them won.
const PAUSE: Duration = Duration::from_millis(1);

/// An error of a transaction, which may be a storage error.
pub(in crate::storage) trait TransactionError: From<StorageError> {
    /// The storage error, if it is one.
    fn of_storage(&self) -> Option<&StorageError>;
}

impl TransactionError for StorageError {
    fn of_storage(&self) -> Option<&StorageError> {
        Some(self)
    }
}

/// Runs a named transaction, and repeats it if it lost a race. Each attempt begins the transaction, reads everything it
/// decides on inside it, and leaves nothing behind when it fails.
pub(in crate::storage) async fn repeated<T, E, F>(
    name: &'static str,
    attempt: impl FnMut() -> F,
) -> Result<T, E>
where
    E: TransactionError,
    F: Future<Output = Result<T, E>>,
{
    repeated_after(name, may_repeat, attempt).await
}

/// As [`repeated`], and repeats also after other errors that a new attempt can avoid.
pub(in crate::storage) async fn repeated_after<T, E, F>(
    name: &'static str,
    may_repeat: impl Fn(&StorageError) -> bool,
    mut attempt: impl FnMut() -> F,
) -> Result<T, E>
where
    E: TransactionError,
    F: Future<Output = Result<T, E>>,
{
    for repeats in 0..MAX_REPEATS {
        let done = attempt().await;
        match done.as_ref().err().and_then(TransactionError::of_storage) {
            Some(error) if may_repeat(error) => {
                tracing::debug!(transaction = name, repeats, %error, "lost a race, running it again");
            }
            _ => return done,
        }
        drop(done);
        meters::transaction_repeated(name);
        sleep(PAUSE * 2_u32.pow(repeats)).await;
    }
    attempt().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::ready;

    async fn attempts(fails: u32, may_repeat: bool) -> (u32, bool) {
        let mut count = 0;
        let attempt = || {
            count += 1;
            ready((count > fails).then_some(()).ok_or(StorageError::KeyTakenOver))
        };
        let done = repeated_after("test", |_| may_repeat, attempt).await;
        (count, done.is_ok())
    }

    #[tokio::test]
    async fn what_loses_a_race_is_run_again_a_few_times() {
        assert_eq!(attempts(2, true).await, (3, true));
        assert_eq!(attempts(u32::MAX, true).await, (MAX_REPEATS + 1, false));
    }

    #[tokio::test]
    async fn other_errors_and_successes_are_the_end() {
        assert_eq!(attempts(0, true).await, (1, true));
        assert_eq!(attempts(1, false).await, (1, false));
    }
}
