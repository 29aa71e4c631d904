//! `[log]`: what the service writes to standard error.

use super::words::read_from_words;
use serde::Deserialize;
use strum::{EnumString, VariantNames};

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

read_from_words!(LogFormat);

/// What the service writes to its log.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// Text or JSON.
    pub format: LogFormat,
    /// A `tracing` filter such as `info` or `info,working_memory::pipeline=debug`.
    pub filter: String,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            format: LogFormat::Text,
            filter: "info,sqlx=warn".to_owned(),
        }
    }
}
