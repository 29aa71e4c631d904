//! What a command that runs in a process of its own takes from there, and how that ends if it fails.

use super::client;
use crate::config::{Config, ConfigError};
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

/// What a process ends with that failed.
const FAILED: u8 = 1;

/// Tells the user what went wrong.
pub(super) fn fail(error: &dyn Display) -> ExitCode {
    client::tell_failure(FAILED, &error.to_string(), None);
    ExitCode::FAILURE
}

/// The configuration of this process.
pub(super) fn load_config(file: Option<&Path>) -> Result<Config, ConfigError> {
    // A variable that is not UTF-8 cannot be one of the service's.
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Config::load(file, environment)
}
