//! A clock that changes only when a test advances it.

use chrono::{DateTime, Utc};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use uuid::Uuid;
use working_memory::clock::Clock;

/// Starts at 2026-11-21T02:00:00Z. Ids increase with every call.
pub(crate) struct TestClock {
    now: Mutex<DateTime<Utc>>,
    ids: AtomicU64,
}

impl TestClock {
    pub(crate) fn new() -> Self {
        let start = DateTime::parse_from_rfc3339("2026-11-21T02:00:00Z")
            .unwrap()
            .to_utc();
        Self {
            now: Mutex::new(start),
            ids: AtomicU64::new(0),
        }
    }

    /// Moves the clock forward.
    pub(crate) fn advance(&self, time: Duration) {
        *self.now.lock().unwrap() += time;
    }

    /// Moves the clock back.
    pub(crate) fn set_back(&self, time: Duration) {
        *self.now.lock().unwrap() -= time;
    }
}

impl Clock for TestClock {
    fn now(&self) -> DateTime<Utc> {
        *self.now.lock().unwrap()
    }

    fn new_id(&self) -> Uuid {
        let millis = u64::try_from(self.now().timestamp_millis()).unwrap();
        let mut counter = [0; 10];
        counter[2..].copy_from_slice(&self.ids.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        uuid::Builder::from_unix_timestamp_millis(millis, &counter).into_uuid()
    }
}
