//! Detects that a replaced document lost much of its content, or reuses ids with another meaning.

use super::project::RecordChange;
use crate::domain::ids::RecordId;
use strum::{IntoStaticStr, VariantNames};

/// A possible loss when a document is replaced as a whole.
#[derive(Debug, Clone, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Collapse {
    /// More than half of the bytes were dropped.
    BytesDropped {
        /// Size of the old document in bytes.
        before: usize,
        /// Size of the new document in bytes.
        after: usize,
    },
    /// Active records that the new document lacks, which archives them; in the order of the old document.
    RecordsDropped(Vec<RecordId>),
    /// Ids of archived records that the new document uses for new records.
    #[strum(serialize = "archived_id_reused")]
    IdsReused(Vec<RecordId>),
}

/// Detects losses between a document and its replacement; `changes` are the record changes between them.
/// Empty if there was no document.
#[must_use]
pub fn collapse(before: &str, after: &str, changes: &[RecordChange]) -> Vec<Collapse> {
    let mut found = Vec::new();
    if after.len() < before.len().div_ceil(2) {
        found.push(Collapse::BytesDropped {
            before: before.len(),
            after: after.len(),
        });
    }
    let dropped: Vec<_> = changes
        .iter()
        .filter_map(|change| match change {
            RecordChange::Archived(id) => Some(*id),
            RecordChange::Added(_) | RecordChange::Changed(_) => None,
        })
        .collect();
    if !dropped.is_empty() {
        found.push(Collapse::RecordsDropped(dropped));
    }
    found
}
