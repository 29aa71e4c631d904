//! Network errors of requests to model servers.

use super::ModelError;

/// Converts a network error; the address is removed.
pub(super) fn network_error(error: reqwest::Error) -> ModelError {
    let error = error.without_url();
    let detail = chain(&error);
    if error.is_timeout() {
        ModelError::TimedOut { detail }
    } else {
        ModelError::Unreachable { detail }
    }
}

/// An error with all its causes, because the outermost one of `reqwest` contains few details.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
