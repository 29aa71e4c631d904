//! What a version did to the records, from the two documents alone: so puts, updates and restores are told
//! alike, and the table of records can be rebuilt from the versions.

use crate::domain::document::{Record, records};
use crate::domain::ids::RecordId;
use std::collections::{HashMap, HashSet};

/// What happened to one record between two documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordChange {
    /// It is active and was not: new, or brought back.
    Added(Record),
    /// It is active and was, with another time, reason, label or content; this is the new state.
    Changed(Record),
    /// It was active and is no longer.
    Archived(RecordId),
}

/// The changes of the records from one document to the next: first what was archived, in the order of the
/// document before, then what was added or changed, in the order of the document after. Linear.
#[must_use]
pub fn project(before: &str, after: &str) -> Vec<RecordChange> {
    let (before, after) = (records(before), records(after));
    let still_active: HashSet<_> = after.iter().map(|record| record.id).collect();
    let was: HashMap<_, _> = before.iter().map(|record| (record.id, record)).collect();
    let archived = before
        .iter()
        .map(|record| record.id)
        .filter(|id| !still_active.contains(id));
    let changed = after.iter().filter_map(|record| match was.get(&record.id) {
        None => Some(RecordChange::Added(record.clone())),
        Some(old) if *old != record => Some(RecordChange::Changed(record.clone())),
        Some(_) => None,
    });
    archived.map(RecordChange::Archived).chain(changed).collect()
}
