//! Answers that tell of a passing state.

/// Marks an answer that tells of a passing state, such as that the service starts: its log line is no error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passing;
