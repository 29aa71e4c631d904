//! How much one answer may change.

/// The most records one answer adds to a section.
pub(super) const MAX_ADDITIONS: usize = 3;
/// The most records one answer archives in a section.
pub(super) const MAX_ARCHIVES: usize = 3;
