//! What retention keeps.

use chrono::TimeDelta;

/// Which versions stay. The newest one always does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How many of the newest versions of a memory stay; `None` for all.
    pub max_versions: Option<i64>,
    /// How long a version stays after another took its place; `None` for ever. So every moment within
    /// this time can be looked back at.
    pub max_age: Option<TimeDelta>,
    /// Whether versions stay in which an active record first stood.
    pub keep_provenance: bool,
}
