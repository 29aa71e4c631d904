//! Compares two documents record by record: what a version did to the records, and whether much was lost.
//! What a version did is derived from the two documents alone. Puts, updates and restores are therefore treated alike, and
//! the table of records can be rebuilt from the versions.

use crate::domain::document::{Record, record_at, record_ranges};
use crate::domain::ids::RecordId;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::ops::Range;
use strum::{EnumDiscriminants, EnumString, IntoStaticStr, VariantNames};

/// The change of one record between two documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordChange {
    /// It is active now and was not before: new or restored.
    Added(Record),
    /// It was and is active, but its time, reason, label or content changed.
    Changed {
        /// What it was.
        old: Record,
        /// What it is.
        new: Record,
    },
    /// It was active and is not any more.
    Archived(Record),
}

/// Returns the record changes from one document to the next: first the archived records, in the order of the
/// old document, then the added and changed ones, in the order of the new document. Linear.
#[must_use]
pub fn project(before: &str, after: &str) -> Vec<RecordChange> {
    let (was, is) = (record_ranges(before), record_ranges(after));
    let mut left: HashMap<RecordId, &Range<usize>, RandomState> =
        was.iter().map(|(id, range)| (*id, range)).collect();
    let changed = is.iter().filter_map(|(id, range)| {
        let new = || record_at(after, *id, range);
        match left.remove(id) {
            None => Some(RecordChange::Added(new())),
            // Most records are unchanged and need no parsing.
            Some(place) if before[place.clone()] == after[range.clone()] => None,
            Some(place) => {
                let (old, new) = (record_at(before, *id, place), new());
                (old != new).then_some(RecordChange::Changed { old, new })
            }
        }
    });
    let changed: Vec<RecordChange> = changed.collect();
    let removed = was.iter().filter(|(id, _)| left.contains_key(id));
    let archived = removed.map(|(id, range)| RecordChange::Archived(record_at(before, *id, range)));
    archived.chain(changed).collect()
}

/// A possible loss when a document is replaced as a whole.
#[derive(Debug, Clone, PartialEq, Eq, EnumDiscriminants)]
#[strum_discriminants(
    name(CollapseKind),
    doc = "The kind of a possible loss.",
    derive(EnumString, IntoStaticStr, VariantNames),
    strum(serialize_all = "snake_case")
)]
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
    #[strum_discriminants(strum(serialize = "archived_id_reused"))]
    IdsReused(Vec<RecordId>),
}

listed! {
    /// What a text can lose.
    CollapseKind as "PutWarningKind";
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
            RecordChange::Archived(record) => Some(record.id),
            RecordChange::Added(_) | RecordChange::Changed { .. } => None,
        })
        .collect();
    if !dropped.is_empty() {
        found.push(Collapse::RecordsDropped(dropped));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::records;
    use proptest::prelude::*;

    /// Reference implementation that compares all records.
    fn by_definition(before: &str, after: &str) -> Vec<RecordChange> {
        let (before, after) = (records(before), records(after));
        let archived = before
            .iter()
            .filter(|old| after.iter().all(|record| record.id != old.id))
            .map(|old| RecordChange::Archived(old.clone()));
        let changed = after
            .iter()
            .filter_map(|record| match before.iter().find(|old| old.id == record.id) {
                None => Some(RecordChange::Added(record.clone())),
                Some(old) => (old != record).then(|| RecordChange::Changed {
                    old: old.clone(),
                    new: record.clone(),
                }),
            });
        archived.chain(changed).collect()
    }

    fn documents() -> impl Strategy<Value = String> {
        let lines = "# Key Learnings\n|# Verbatim Context\n|# Notes\n|- KL-1 [2026-11-21T02:00:00Z] because it is: so\n|\
                     - KL-1 because it is: so \n|-  KL-1   because it is: so|- KL-2 another\r\n|- KL-2\n|- VC-1 a => b\n|  its second line\n|  KL-7\n|\
                     - KL-007 old\n|- no id\n|```\n|\n";
        let line = prop::sample::select(lines.split('|').collect::<Vec<_>>());
        prop::collection::vec(line, 0..12).prop_map(|lines| format!("# Key Learnings\n{}", lines.concat()))
    }

    proptest! {
        #[test]
        fn what_differs_is_what_differs_between_the_records(before in documents(), after in documents()) {
            prop_assert_eq!(project(&before, &after), by_definition(&before, &after));
            prop_assert_eq!(project(&after, &after), vec![]);
        }
    }
}
