//! Limits of one answer.

/// Maximum number of records added per section.
pub(super) const MAX_ADDITIONS: usize = 3;
/// Maximum number of records archived per section.
pub(super) const MAX_ARCHIVES: usize = 3;
