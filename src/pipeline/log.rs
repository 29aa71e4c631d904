//! The log of a run: its changes in words.

use super::report::Rejection;
use crate::domain::changelog;
use crate::domain::ids::RecordId;
use crate::domain::memory::{AppliedOperation, RecordChange};
use crate::storage::updates::RunKind;

/// Logged for a text without a section header.
const WHAT_A_HEADER_IS: &str = "! no section header was found: a text of operations begins with a line such as \
`KEY_LEARNINGS:`, below it `ADD:`, and below that `- because <reason>: <insight>`";

/// Appends the hint about headers to the log of a text without one.
pub(super) fn with_header_hint(log: &mut String) {
    log.push('\n');
    log.push_str(WHAT_A_HEADER_IS);
}

/// Builds the log: the title, the changes, then what was not applied.
pub(super) fn log(
    kind: RunKind,
    title: &str,
    operations: &[AppliedOperation],
    changes: &[RecordChange],
    rejected: &[Rejection],
) -> String {
    let named: Vec<RecordId> = operations.iter().filter_map(|operation| operation.id).collect();
    let numbered: Vec<RecordId> = changes
        .iter()
        .filter_map(|change| match change {
            RecordChange::Added(record) if !named.contains(&record.id) => Some(record.id),
            _ => None,
        })
        .collect();
    let words = changelog::of_operations(operations, &numbered);
    let mut lines = match (kind, words.is_empty()) {
        (RunKind::Operations | RunKind::Consolidation, true) => vec!["nothing was applied".to_owned()],
        (RunKind::Update, true) => vec![title.to_owned(), "nothing changed".to_owned()],
        (_, false) => vec![title.to_owned(), words],
    };
    for rejection in rejected {
        let section = rejection
            .section
            .as_deref()
            .map(|section| format!("{section}: "))
            .unwrap_or_default();
        lines.push(format!("! {section}{}: {}", rejection.kind, rejection.detail));
    }
    lines.join("\n")
}
