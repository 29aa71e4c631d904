//! Compares two documents record by record.

use super::project::{RecordChange, project};
use crate::domain::document::{Record, SectionsChanged, records, sections_changed};
use std::collections::HashMap;

/// The differences between two documents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// Records that only the new document contains, in its order.
    pub added: Vec<Record>,
    /// Records that differ between the documents, as (old, new), in the order of the new document.
    pub changed: Vec<(Record, Record)>,
    /// Records that only the old document contains, in its order.
    pub archived: Vec<Record>,
    /// Differences in the sections without records.
    pub sections: SectionsChanged,
}

/// Compares two documents of one memory. Linear.
#[must_use]
pub fn compare(before: &str, after: &str) -> Comparison {
    let mut was: HashMap<_, _> = records(before)
        .into_iter()
        .map(|record| (record.id, record))
        .collect();
    let mut comparison = Comparison {
        sections: sections_changed(before, after),
        ..Comparison::default()
    };
    for change in project(before, after) {
        match change {
            RecordChange::Added(record) => comparison.added.push(record),
            RecordChange::Changed(record) => {
                comparison
                    .changed
                    .extend(was.remove(&record.id).map(|old| (old, record)));
            }
            RecordChange::Archived(id) => comparison.archived.extend(was.remove(&id)),
        }
    }
    comparison
}
