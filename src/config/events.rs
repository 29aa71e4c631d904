//! `[events]`: retention and limits of events and their streams.

use super::values::within;
use serde::Deserialize;

/// Retention and limits of events and their streams.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EventsConfig {
    /// Hours that events are kept for clients that reconnect.
    pub keep_hours: u32,
    /// Streams that are open at once on this instance, of events and of steps; more are answered 503. Half of them for one
    /// vault, and for one key; more are answered 429.
    pub max_streams: usize,
}

impl Default for EventsConfig {
    fn default() -> Self {
        Self {
            keep_hours: 168,
            max_streams: 1_024,
        }
    }
}

impl EventsConfig {
    pub(super) fn validate(&self) -> Result<(), String> {
        within("events.keep_hours", self.keep_hours, 1..=876_000)?;
        within("events.max_streams", self.max_streams, 0..=100_000)
    }
}
