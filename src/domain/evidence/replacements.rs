//! Matches additions to the records that they replace.

use super::actives::words_of;
use super::archives::{Addition, Words};
use crate::domain::document::records;
use crate::domain::ids::RecordId;
use crate::domain::operation::Operation;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Sets `replaces` on additions that share words with a record archived in the same answer. Pairs that share
/// most words are matched first; an addition replaces at most one record, and a record is replaced at most
/// once. Existing `replaces` values are kept.
pub fn name_replaced(document: &str, operations: &mut [&mut Operation]) {
    let replaced: HashSet<RecordId> = operations.iter().filter_map(|it| it.replaces()).collect();
    let archived: HashSet<RecordId> = operations
        .iter()
        .filter_map(|operation| match operation {
            Operation::Archive { id, .. } => Some(*id).filter(|id| !replaced.contains(id)),
            _ => None,
        })
        .collect();
    let additions: Vec<(usize, Words)> = operations
        .iter()
        .enumerate()
        .filter(|(_, operation)| operation.replaces().is_none())
        .filter(|(_, operation)| {
            matches!(
                operation,
                Operation::AddLearning { .. } | Operation::AddVerbatim { .. }
            )
        })
        .map(|(place, operation)| {
            let is_applied = true;
            (
                place,
                Words::of(&Addition {
                    operation,
                    is_applied,
                }),
            )
        })
        .collect();
    if archived.is_empty() || additions.is_empty() {
        return;
    }
    let mut pairs = Vec::new();
    for record in records(document) {
        if archived.contains(&record.id) {
            let words = words_of(&record);
            pairs.extend(additions.iter().filter_map(|(place, addition)| {
                let in_common = addition.in_common(record.id.kind, &words)?;
                Some((Reverse(in_common), record.id, *place))
            }));
        }
    }
    pairs.sort_unstable();
    let mut done: HashSet<RecordId> = HashSet::new();
    for (_, id, place) in pairs {
        if operations[place].replaces().is_none() && done.insert(id) {
            operations[place].replace(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::Marks;

    const DOCUMENT: &str = "# Key Learnings\n- KL-1 because it fails: the parser drops the last bullet\n\
        - KL-2 because it is slow: the index is built twice at start\n";

    fn learning(content: &str) -> Operation {
        Operation::AddLearning {
            reason: "it is so now".to_owned(),
            content: content.to_owned(),
            replaces: None,
            merges: Vec::new(),
            marks: Marks::default(),
        }
    }

    fn archive(id: &str) -> Operation {
        Operation::Archive {
            id: id.parse().unwrap(),
            reason: "it is wrong".to_owned(),
            ground: None,
        }
    }

    fn named(mut operations: Vec<Operation>) -> Vec<Option<String>> {
        name_replaced(DOCUMENT, &mut operations.iter_mut().collect::<Vec<_>>());
        let ids = operations.iter().map(|it| it.replaces().map(|id| id.to_string()));
        ids.collect()
    }

    #[test]
    fn an_addition_names_the_archived_record_whose_words_it_shares() {
        assert_eq!(records(DOCUMENT).len(), 2);
        let found = named(vec![
            archive("KL-2"),
            archive("KL-1"),
            learning("a whale sings"),
            learning("the parser keeps the last bullet"),
            learning("the parser keeps the last bullet without a line end"),
        ]);
        assert_eq!(found[2], None);
        assert_eq!(found[3].as_deref(), Some("KL-1"), "the first of equal ones");
        assert_eq!(found[4], None, "a record is replaced once");
    }

    #[test]
    fn what_is_not_archived_is_not_replaced() {
        let found = named(vec![
            archive("KL-2"),
            learning("the parser keeps the last bullet"),
        ]);
        assert_eq!(found, [None, None]);
    }
}
