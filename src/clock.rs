//! Abstraction of time and id generation, so that tests control both.

use chrono::{DateTime, SubsecRound, Utc};
use uuid::Uuid;

/// A source of the current time and new ids.
pub trait Clock: Send + Sync {
    /// The current time in UTC, truncated to microseconds, the precision of PostgreSQL's `timestamptz`.
    fn now(&self) -> DateTime<Utc>;

    /// A new UUID of version 7 (RFC 9562), so that ids sort by creation time.
    fn new_id(&self) -> Uuid;
}

/// The system clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that makes ids")]
    fn new_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}
