//! Configuration and exit codes of commands that run in a process of their own.

use super::client::{Exit, Failure, print_failure};
use crate::config::{Config, ConfigError};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// Prints the error and returns its exit code: 2 for a wrong setting or a wrong argument, otherwise 1.
pub(super) fn fail(error: impl Into<Box<dyn Error>>) -> ExitCode {
    let error = error.into();
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return print_failure(failure.exit, &failure.sentence, None);
    }
    let exit = match error.is::<ConfigError>() {
        true => Exit::Usage,
        false => Exit::Failed,
    };
    print_failure(exit, &error.to_string(), None)
}

/// The configuration of this process.
pub(super) fn load_config(file: Option<&Path>) -> Result<Config, ConfigError> {
    // The service has no variables that are not UTF-8.
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Config::load(file, environment)
}
