//! `working-memory openapi`: the API's document as the code registers it.

use super::process::fail;
use crate::http::openapi_yaml;
use std::io::Write as _;
use std::process::ExitCode;

/// Writes the document to standard output.
pub(super) fn run() -> ExitCode {
    match std::io::stdout().write_all(openapi_yaml().as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(error),
    }
}
