//! `[events]`: retention and limits of events and their streams.

use super::values::section;

section! {
    /// Retention and limits of events and their streams.
    pub struct EventsConfig in "events" {
        /// Hours that events are kept for clients that reconnect.
        pub keep_hours: u32 = 168, in 1..=876_000;
        /// Streams that are open at once on this instance, of events and of steps; more are answered 503. Half of them for one
        /// vault, and for one key; more are answered 429.
        pub max_streams: usize = 1_024, in 0..=100_000;
    }
}
