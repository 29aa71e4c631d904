//! `[events]`: retention and limits of events and their streams.

use serde::Deserialize;

/// Retention and limits of events and their streams.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EventsConfig {
    /// Hours that events are kept for clients that reconnect.
    pub keep_hours: u32,
    /// Streams that are open at once on this instance, of events and of steps; more are answered 503.
    pub max_streams: usize,
    /// Streams of one vault that are open at once on this instance; more are answered 429.
    pub max_streams_per_vault: usize,
    /// Streams with one key that are open at once on this instance; more are answered 429.
    pub max_streams_per_key: usize,
    /// Seconds between two heartbeat comments on a stream without events.
    pub heartbeat_seconds: u32,
}

impl Default for EventsConfig {
    fn default() -> Self {
        Self {
            keep_hours: 168,
            max_streams: 1_024,
            max_streams_per_vault: 512,
            max_streams_per_key: 512,
            heartbeat_seconds: 15,
        }
    }
}

impl EventsConfig {
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.keep_hours == 0 || self.keep_hours > 876_000 {
            return Err("events.keep_hours must be 1 to 876000".to_owned());
        }
        if self.heartbeat_seconds == 0 || self.heartbeat_seconds > 3_600 {
            return Err("events.heartbeat_seconds must be 1 to 3600".to_owned());
        }
        if self.max_streams > 100_000 {
            return Err("events.max_streams must be 0 to 100000".to_owned());
        }
        for (key, value) in [
            ("max_streams_per_vault", self.max_streams_per_vault),
            ("max_streams_per_key", self.max_streams_per_key),
        ] {
            if !(1..=100_000).contains(&value) {
                return Err(format!("events.{key} must be 1 to 100000"));
            }
        }
        Ok(())
    }
}
