//! The records that a version archives.

use crate::domain::document::{Record, records};
use crate::domain::ids::RecordId;
use crate::domain::memory::RecordChange;
use std::collections::HashMap;

/// Archived records, as in the documents before.
#[derive(Debug, Default)]
pub(super) struct Archived(HashMap<RecordId, Record>);

impl Archived {
    /// The records of a document that `changes` archive. The document is parsed only if there are some.
    pub(super) fn from(document: &str, changes: &[RecordChange]) -> Self {
        let archives = |change: &RecordChange| matches!(change, RecordChange::Archived(_));
        if !changes.iter().any(archives) {
            return Self::default();
        }
        let all = records(document).into_iter();
        Self(all.map(|record| (record.id, record)).collect())
    }

    pub(super) fn get(&self, id: RecordId) -> Option<&Record> {
        self.0.get(&id)
    }
}
