//! Responses about a temporary state.

/// Marks a response about a temporary state, such as that the service is starting: its log line is not an error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passing;
