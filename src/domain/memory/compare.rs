//! What lies between two documents, record by record.

use super::project::{RecordChange, project};
use crate::domain::document::{Record, SectionsChanged, records, sections_changed};
use std::collections::HashMap;

/// What is different in one document against another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// Records that only the document after has, in its order.
    pub added: Vec<Record>,
    /// Records that both have and that read differently: before, after; in the order of the document after.
    pub changed: Vec<(Record, Record)>,
    /// Records that only the document before has, in its order.
    pub archived: Vec<Record>,
    /// Sections without records.
    pub sections: SectionsChanged,
}

/// Compares any two documents of one memory. Linear.
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
