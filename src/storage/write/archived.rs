//! The records that a version archives.

use crate::domain::document::{Record, records};
use crate::domain::ids::RecordId;
use crate::domain::memory::RecordChange;
use std::collections::HashMap;

/// Records that versions archive, as the documents before had them.
#[derive(Debug, Default)]
pub(super) struct Archived(HashMap<RecordId, Record>);

impl Archived {
    /// Those that `changes` archive from a document. It is read only if there are some.
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
