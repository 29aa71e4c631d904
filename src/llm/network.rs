//! Failures of the network on the way to a model server.

use super::ModelError;

/// A failure of the network in our words; the address stays out of it.
pub(super) fn network_error(error: reqwest::Error) -> ModelError {
    let error = error.without_url();
    let detail = chain(&error);
    if error.is_timeout() {
        ModelError::TimedOut { detail }
    } else {
        ModelError::Unreachable { detail }
    }
}

/// An error with its causes, since the outermost of `reqwest` says little.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
