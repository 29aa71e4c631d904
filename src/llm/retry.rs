//! The retry policy: timeout per attempt, number of retries, and backoff.
//!
//! The timeout of a role (`llm.timeout_seconds`) applies to each attempt separately, so that a slow model may
//! use all of it and a hung server does not use up the time of later attempts. The same value also limits the
//! sum of the waits between attempts. If `Retry-After` exceeds what is left of that, retrying stops at once,
//! because the server has said that an earlier attempt will fail.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::ModelError;

/// The retry policy of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Maximum number of retries.
    pub max_retries: u32,
    /// Timeout of one attempt, and the maximum sum of the waits between attempts.
    pub timeout: Duration,
    /// The first backoff; it doubles with every further attempt.
    pub base_backoff: Duration,
}

impl Retry {
    /// The configured retry policy of a role.
    #[must_use]
    pub fn new(timeout: Duration, max_retries: u32) -> Self {
        Self {
            max_retries,
            timeout,
            base_backoff: Duration::from_millis(500),
        }
    }

    /// Calls `attempt` with its number until it succeeds, fails permanently, or the retry policy is exhausted. Returns the last
    /// result and the number of attempts.
    pub(super) async fn run<T, F>(&self, mut attempt: impl FnMut(u32) -> F) -> (Result<T, ModelError>, u32)
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        let mut left = self.timeout;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let error = match attempt(attempts).await {
                Ok(answer) => return (Ok(answer), attempts),
                Err(error) => error,
            };
            let Some(wait) = self.wait(attempts, &error, left) else {
                return (Err(error), attempts);
            };
            left -= wait;
            sleep(wait).await;
        }
    }

    /// The wait after `attempts` failed attempts; `None` if there is no further attempt.
    fn wait(&self, attempts: u32, error: &ModelError, left: Duration) -> Option<Duration> {
        if !error.is_retryable() || attempts > self.max_retries {
            return None;
        }
        let asked_for = error.retry_after().unwrap_or_default();
        (asked_for <= left).then(|| self.backoff(attempts).min(left).max(asked_for))
    }

    /// Exponential backoff with jitter between half and full length, so that roles that failed together do
    /// not retry at the same time.
    fn backoff(&self, attempts: u32) -> Duration {
        let whole = self
            .base_backoff
            .saturating_mul(1 << attempts.saturating_sub(1).min(16));
        whole.mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

/// One attempt, which has this time.
pub(super) async fn within<T>(
    time: Duration,
    attempt: impl Future<Output = Result<T, ModelError>>,
) -> Result<T, ModelError> {
    timeout(time, attempt).await.unwrap_or_else(|_| {
        Err(ModelError::TimedOut {
            detail: format!("{} ms for one attempt are over", time.as_millis()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick(max_retries: u32) -> Retry {
        Retry {
            max_retries,
            timeout: Duration::from_millis(300),
            base_backoff: Duration::from_millis(2),
        }
    }

    /// The number of attempts, and the last failure, if every attempt fails with the next of these statuses.
    async fn failing(codes: &[u16], retry: Retry) -> (u32, ModelError) {
        let attempt = |number: u32| {
            let error = ModelError::Status {
                code: codes[number as usize - 1],
                retry_after: None,
                detail: String::new(),
            };
            async move { Err::<(), _>(error) }
        };
        let (result, attempts) = retry.run(attempt).await;
        (attempts, result.unwrap_err())
    }

    #[tokio::test]
    async fn a_client_error_is_not_tried_again() {
        for code in [307, 400, 401, 404, 422] {
            let (attempts, _) = failing(&[code, 500], quick(2)).await;
            assert_eq!(attempts, 1);
        }
    }

    #[tokio::test]
    async fn the_retries_end() {
        let (attempts, last) = failing(&[500, 500, 502], quick(2)).await;
        assert_eq!(attempts, 3);
        assert!(matches!(last, ModelError::Status { code: 502, .. }));
    }

    #[test]
    fn back_off_grows_and_never_overflows() {
        let retry = Retry::new(Duration::from_secs(60), 10);
        assert!(
            retry.backoff(1) >= Duration::from_millis(250) && retry.backoff(1) <= Duration::from_millis(500)
        );
        assert!(retry.backoff(3) >= Duration::from_secs(1));
        assert!(retry.backoff(u32::MAX) > Duration::ZERO);
    }
}
