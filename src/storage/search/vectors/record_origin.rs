//! The origin of a record.

use crate::domain::evidence::Evidence;
use crate::domain::ids::ActorId;
use crate::storage::records::RecordStatus;
use chrono::{DateTime, Utc};

/// The origin of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordOrigin {
    /// Whether it is in the newest version.
    pub status: RecordStatus,
    /// The version that introduced it.
    pub version: i64,
    /// When that version was created.
    pub at: DateTime<Utc>,
    /// Who created it.
    pub by: ActorId,
    /// The passages of the input that support the record.
    pub evidence: Vec<Evidence>,
}
