//! Where a record comes from.

use crate::domain::evidence::Evidence;
use crate::domain::ids::ActorId;
use crate::storage::records::RecordStatus;
use chrono::{DateTime, Utc};

/// Where a record comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordOrigin {
    /// Whether it stands in the newest version.
    pub status: RecordStatus,
    /// The version that brought it.
    pub version: i64,
    /// When that was made.
    pub at: DateTime<Utc>,
    /// Who made it.
    pub by: ActorId,
    /// What carried it into the memory.
    pub evidence: Vec<Evidence>,
}
