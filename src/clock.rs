//! Time and ids are passed in, never read from the air, so that tests decide both.

use chrono::{DateTime, SubsecRound, Utc};
use uuid::Uuid;

/// Gives the time and new ids.
pub trait Clock: Send + Sync {
    /// The time now, in UTC, cut to microseconds: what PostgreSQL's `timestamptz` keeps.
    fn now(&self) -> DateTime<Utc>;

    /// A new id: a UUID of version 7 (RFC 9562), so that ids sort by the time they were made.
    fn new_id(&self) -> Uuid;
}

/// The machine's clock.
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
