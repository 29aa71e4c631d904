//! The retention policy.

use chrono::TimeDelta;

/// Which versions are kept. The newest version is always kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Number of the newest versions of a memory that are kept; `None` keeps all.
    pub max_versions: Option<i64>,
    /// How long a version is kept after it was superseded; `None` keeps it forever. Every point in time
    /// within this period can be reconstructed.
    pub max_age: Option<TimeDelta>,
    /// Whether to keep the versions that introduced a record that is still active.
    pub keep_provenance: bool,
}
