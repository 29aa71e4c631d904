//! Signs that a text put as a whole has lost what the document said, or says it under ids that meant something else.

use super::project::RecordChange;
use crate::domain::ids::RecordId;
use strum::{IntoStaticStr, VariantNames};

/// What a text put as a whole would lose.
#[derive(Debug, Clone, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Collapse {
    /// More than half of the bytes.
    BytesDropped {
        /// The size of the document before, in bytes.
        before: usize,
        /// The size of the text, in bytes.
        after: usize,
    },
    /// Active records, which it archives as left out, in the order of the document before.
    RecordsDropped(Vec<RecordId>),
    /// Ids that were given before and were not active: under them other records are found now.
    #[strum(serialize = "archived_id_reused")]
    IdsReused(Vec<RecordId>),
}

impl Collapse {
    /// Whether something is lost by it: what an id meant before is still read in its record's history.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        !matches!(self, Self::IdsReused(_))
    }
}

/// What the step from one document to a text put in its place loses; `changes` are what it does to the records.
/// Nothing if there was no document.
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
