//! Configuration and exit codes of commands that run in a process of their own.

use super::client;
use crate::config::{Config, ConfigError};
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

/// The exit code of a failure.
const FAILED: u8 = 1;

/// Prints the error.
pub(super) fn fail(error: &dyn Display) -> ExitCode {
    client::print_failure(FAILED, &error.to_string(), None);
    ExitCode::FAILURE
}

/// The configuration of this process.
pub(super) fn load_config(file: Option<&Path>) -> Result<Config, ConfigError> {
    // The service has no variables that are not UTF-8.
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Config::load(file, environment)
}
