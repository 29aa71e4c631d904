//! `[log]`: what the service writes to standard error. `[telemetry]`: traces to an OpenTelemetry collector.

use super::values::{one_of, section};
use serde::Deserialize;
use std::io::IsTerminal as _;
use strum::{EnumString, VariantNames};
use tracing_subscriber::EnvFilter;
use url::Url;

/// The format of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString, VariantNames)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// What the service writes to its log.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// Text or JSON.
    #[serde(deserialize_with = "one_of::<_, LogFormat, _>")]
    pub format: LogFormat,
    /// A `tracing` filter such as `info` or `info,working_memory::pipeline=debug`. Unset: `info,sqlx=warn`; on a terminal `warn`,
    /// since the command says there itself what a person wants to know.
    pub filter: Option<String>,
}

impl LogConfig {
    /// Which lines are written.
    #[must_use]
    pub fn filter(&self) -> &str {
        let usual = if self.is_screen() {
            "warn"
        } else {
            "info,sqlx=warn"
        };
        self.filter.as_deref().unwrap_or(usual)
    }

    /// Checks what its type cannot express.
    pub(super) fn validate(&self) -> Result<(), String> {
        let read = EnvFilter::try_new(self.filter());
        read.map(drop).map_err(|error| format!("log.filter: {error}"))
    }

    /// Whether standard error is a terminal, with nothing chosen that says what to write there.
    #[must_use]
    pub fn is_screen(&self) -> bool {
        self.format == LogFormat::Text && self.filter.is_none() && std::io::stderr().is_terminal()
    }
}

section! {
    /// Traces. Nothing is set up without an endpoint.
    pub struct TelemetryConfig in "telemetry" {
        /// Address of a collector that accepts OTLP over HTTP, without its `/v1/traces`: `http://127.0.0.1:4318`. Unset: no
        /// traces.
        #[serde(deserialize_with = "super::values::address")]
        pub otlp_endpoint: Option<Url> = None;
        /// The share of requests that are traced, 0 to 1, unless the caller's `traceparent` decides.
        pub sampling_ratio: f64 = 1.0, in 0.0..=1.0;
    }
}
