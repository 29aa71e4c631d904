//! Derives what a version did to the records from the two documents alone. Puts, updates and restores are
//! therefore treated alike, and the table of records can be rebuilt from the versions.

use super::Counters;
use crate::domain::document::{Record, RecordLines};
use crate::domain::ids::RecordId;
use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};

/// The change of one record between two documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordChange {
    /// It is active now and was not before: new or restored.
    Added(Record),
    /// It was and is active, but its time, reason, label or content changed; contains the new state.
    Changed(Record),
    /// It was active and is not any more.
    Archived(RecordId),
}

/// Returns the record changes from one document to the next: first the archived records, in the order of the
/// old document, then the added and changed ones, in the order of the new document. Linear.
#[must_use]
pub fn project(before: &str, after: &str) -> Vec<RecordChange> {
    changes(&RecordLines::of(before), &RecordLines::of(after))
}

/// Like [`project`], and returns the largest id numbers in the new document.
#[must_use]
pub fn project_and_count(before: &str, after: &str) -> (Vec<RecordChange>, Counters) {
    let after = RecordLines::of(after);
    (
        changes(&RecordLines::of(before), &after),
        Counters::seen_on(&after),
    )
}

/// Most records are unchanged and in the same order; only the others are looked up and parsed.
fn changes(before: &RecordLines<'_>, after: &RecordLines<'_>) -> Vec<RecordChange> {
    let same = |((old, _), (new, _)): &(_, _)| old == new;
    let head = before.all().zip(after.all()).take_while(same).count();
    let tails = before.all().skip(head).rev().zip(after.all().skip(head).rev());
    let tail = tails.take_while(same).count();
    let (was, is) = (before.len() - tail, after.len() - tail);
    let moved: HashMap<_, _, RandomState> = before.all().take(was).skip(head).collect();
    let still_active: HashSet<_, RandomState> = after.all().take(is).skip(head).map(|(id, _)| id).collect();
    let removed = before.all().take(was).skip(head).map(|(id, _)| id);
    let archived = removed.filter(|id| !still_active.contains(id));
    let changed = after.all().enumerate().filter_map(|(place, (id, lines))| {
        let old = if place < head {
            before.at(place)
        } else if place < is {
            moved.get(&id).copied()
        } else {
            before.at(place - is + was)
        };
        change_of(id, old, lines)
    });
    archived.map(RecordChange::Archived).chain(changed).collect()
}

/// The change of a record that is active now, given its previous lines if it was active.
fn change_of(id: RecordId, old: Option<&str>, lines: &str) -> Option<RecordChange> {
    match old {
        None => Some(RecordChange::Added(RecordLines::read(id, lines))),
        Some(old) if old == lines => None,
        Some(old) => {
            let record = RecordLines::read(id, lines);
            (RecordLines::read(id, old) != record).then_some(RecordChange::Changed(record))
        }
    }
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
            .map(|old| RecordChange::Archived(old.id));
        let changed = after
            .iter()
            .filter_map(|record| match before.iter().find(|old| old.id == record.id) {
                None => Some(RecordChange::Added(record.clone())),
                Some(old) => (old != record).then(|| RecordChange::Changed(record.clone())),
            });
        archived.chain(changed).collect()
    }

    fn documents() -> impl Strategy<Value = String> {
        let line = prop::sample::select(vec![
            "# Key Learnings\n",
            "# Verbatim Context\n",
            "# Notes\n",
            "- KL-1 [2026-11-21T02:00:00Z] because it is: so\n",
            "- KL-1 because it is: so \n",
            "-  KL-1   because it is: so",
            "- KL-2 another\r\n",
            "- KL-2\n",
            "- VC-1 a => b\n",
            "  its second line\n",
            "  KL-7\n",
            "- KL-007 old\n",
            "- no id\n",
            "```\n",
            "\n",
        ]);
        prop::collection::vec(line, 0..12).prop_map(|lines| format!("# Key Learnings\n{}", lines.concat()))
    }

    proptest! {
        #[test]
        fn what_differs_is_what_differs_between_the_records(before in documents(), after in documents()) {
            let (changes, counters) = project_and_count(&before, &after);
            prop_assert_eq!(&changes, &by_definition(&before, &after));
            prop_assert_eq!(&changes, &project(&before, &after));
            prop_assert_eq!(counters, Counters::seen_in(&after));
            prop_assert_eq!(project(&after, &after), vec![]);
        }
    }
}
