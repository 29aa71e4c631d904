//! Rate limits per key and per address, in requests per minute.
//!
//! Each subject has a token bucket with the requests of one minute, which is refilled continuously, so bursts are
//! accepted. A bounded number of buckets is kept, those used most.

use crate::domain::ids::KeyId;
use crate::http::problem::{Kind, Problem};
use crate::http::state::Settings;
use crate::telemetry;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use quick_cache::sync::Cache;
use std::convert::Infallible;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of buckets for keys, and for addresses. An evicted bucket was little used.
const BUCKETS: usize = 10_000;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

type Bucket = DefaultDirectRateLimiter<StateInformationMiddleware>;

/// Whose requests are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// Requests with this key.
    Key(KeyId),
    /// Requests from this address without a key.
    Address(IpAddr),
}

/// The state of a subject's rate limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RateLimitState {
    limit: u32,
    remaining: u32,
    reset: Duration,
}

impl RateLimitState {
    /// Sets the rate limit headers.
    pub(crate) fn write(self, headers: &mut HeaderMap) {
        headers.extend(self.headers());
    }

    fn headers(self) -> [(HeaderName, HeaderValue); 3] {
        [
            (LIMIT, self.limit.into()),
            (REMAINING, self.remaining.into()),
            (RESET, whole_seconds(self.reset).into()),
        ]
    }
}

/// The buckets of an instance.
pub(crate) struct Rates {
    per_key: Option<Quota>,
    per_address: Option<Quota>,
    buckets: Cache<Subject, Arc<Bucket>>,
}

impl Rates {
    pub(crate) fn new(settings: &Settings) -> Self {
        let quota = |rate| NonZeroU32::new(rate).map(Quota::per_minute);
        Self {
            per_key: quota(settings.rate_per_key),
            per_address: quota(settings.rate_per_address),
            buckets: Cache::new(BUCKETS),
        }
    }

    /// Counts a request. `None` is not counted.
    ///
    /// # Errors
    /// 429 if the bucket is empty, with the rate limit headers.
    pub(crate) fn count(&self, subject: Option<Subject>) -> Result<Option<RateLimitState>, Problem> {
        let Some(subject) = subject else { return Ok(None) };
        let (quota, setting) = match subject {
            Subject::Key(_) => (self.per_key, "http.rate_per_key"),
            Subject::Address(_) => (self.per_address, "http.rate_per_address"),
        };
        let Some(quota) = quota else { return Ok(None) };
        let limit = quota.burst_size().get();
        match self.bucket(&subject, quota).check() {
            Ok(state) => {
                let remaining = state.remaining_burst_capacity();
                let reset = quota.replenish_interval() * limit.saturating_sub(remaining);
                Ok(Some(RateLimitState {
                    limit,
                    remaining,
                    reset,
                }))
            }
            Err(until) => {
                telemetry::refused("rate");
                let reset = until.wait_time_from(DefaultClock::default().now());
                let exceeded = RateLimitState {
                    limit,
                    remaining: 0,
                    reset,
                };
                let detail =
                    format!("more than {limit} requests a minute ({setting}); wait as Retry-After says");
                let problem = Problem::new(Kind::TooManyRequests, detail)
                    .with("limit", limit)
                    .retry_after(whole_seconds(reset));
                let headers = exceeded.headers().into_iter();
                Err(headers.fold(problem, |problem, (name, value)| problem.header(name, value)))
            }
        }
    }

    fn bucket(&self, subject: &Subject, quota: Quota) -> Arc<Bucket> {
        let new = || {
            let bucket = RateLimiter::direct(quota).with_middleware::<StateInformationMiddleware>();
            Ok::<_, Infallible>(Arc::new(bucket))
        };
        match self.buckets.get_or_insert_with(subject, new) {
            Ok(bucket) => bucket,
            Err(never) => match never {},
        }
    }
}

/// Whole seconds, rounded up and at least one, so that no client retries too early.
fn whole_seconds(time: Duration) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;

    fn key(id: &str) -> Option<Subject> {
        Some(Subject::Key(id.parse().unwrap()))
    }

    fn rates(per_key: u32) -> Rates {
        Rates::new(&Settings {
            rate_per_key: per_key,
            ..Settings::default()
        })
    }

    #[test]
    fn one_too_many_is_refused_and_another_key_is_not() {
        let rates = rates(2);
        assert_eq!(rates.count(key("a")).unwrap().unwrap().remaining, 1);
        assert_eq!(rates.count(key("a")).unwrap().unwrap().remaining, 0);
        let problem = rates.count(key("a")).unwrap_err();
        assert_eq!(problem.kind(), Kind::TooManyRequests);
        let reset = problem.into_response().headers()[RESET].to_str().unwrap().parse();
        assert!((1..=30).contains(&reset.unwrap()));
        assert!(rates.count(key("b")).is_ok());
    }

    #[test]
    fn nothing_is_counted_where_no_rate_is_set() {
        let rates = rates(0);
        for _ in 0..100 {
            assert!(rates.count(key("a")).unwrap().is_none());
        }
    }

    #[test]
    fn the_buckets_are_bounded_in_number() {
        let rates = rates(2);
        for number in 0..BUCKETS * 2 {
            rates.count(key(&format!("k{number}"))).unwrap();
        }
        assert!(rates.buckets.len() <= BUCKETS);
    }
}
