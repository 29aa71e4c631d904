//! Applies operations to a document: all or nothing, in the order that the design defines.

use super::Limits;
use super::edit::{ChangedDocument, Counters, Edit, EditError};
use crate::domain::consolidation::Ground;
use crate::domain::document::{NewRecord, Record, progress_body};
use crate::domain::evidence::Evidence;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::Operation;
use chrono::{DateTime, Utc};
use std::collections::{HashMap, HashSet};
use strum::{IntoStaticStr, VariantNames};

/// The kind of change that an operation made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum OperationName {
    /// The body of `Current Progress` was replaced.
    RewriteProgress,
    /// A record was added.
    Add,
    /// A record was archived.
    Archive,
    /// A record was pinned or let go, or given another end.
    Mark,
    /// Goal or blocker of `Active Context` were set.
    RewriteStatus,
}

impl OperationName {
    /// The stable name used in responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// An applied operation, described as it is in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedOperation {
    /// The kind of change.
    pub op: OperationName,
    /// The record added, archived or marked.
    pub id: Option<RecordId>,
    /// The record's label; VC only.
    pub label: Option<String>,
    /// For an addition the record's reason, for another change the reason of the change.
    pub reason: Option<String>,
    /// The record's content, its marks after a change of them, or the new body of `Current Progress`.
    pub content: Option<String>,
    /// The record that replaces an archived one.
    pub superseded_by: Option<RecordId>,
    /// Passages of the update's input that support it.
    pub evidence: Vec<Evidence>,
    /// The index of the operation that made it, of those that [`apply`] was given.
    pub cause: Option<usize>,
}

/// Applies operations: first `Current Progress` (the last rewrite counts), then for each kind of record the
/// archivings, the marks and after them the additions, regardless of their order in the list. An addition that replaces
/// a record not archived by an operation of its own archives that record, with the reason of the addition.
/// Linear in the document and the operations.
///
/// `counters` are the stored counters of the memory; the numbers in the document are taken into account too.
///
/// # Errors
///
/// [`EditError`]; nothing is applied. Operations that [`validate`](super::validate()) accepted for this
/// document can only fail because of size or exhausted ids.
pub fn apply(
    document: &str,
    counters: Counters,
    operations: &[Operation],
    now: DateTime<Utc>,
    limits: &Limits,
) -> Result<ChangedDocument, EditError> {
    let mut edit = Edit::new(document, counters, now);
    let last_rewrite = operations
        .iter()
        .enumerate()
        .rev()
        .find_map(|(cause, operation)| {
            let Operation::RewriteProgress(progress) = operation else {
                return None;
            };
            Some((cause, progress))
        });
    if let Some((cause, progress)) = last_rewrite {
        edit.rewrite_progress(progress_body(progress));
        caused(&mut edit, 0, cause);
    }
    let archivings = archivings(operations);
    let mut archived: HashMap<RecordId, usize> = HashMap::with_capacity(archivings.len());
    for kind in RecordKind::ALL {
        for archiving in archivings.iter().filter(|archiving| archiving.id.kind == kind) {
            let place = edit.operations.len();
            edit.archive(archiving.id, archiving.reason)?;
            edit.operations[place].superseded_by = archiving.kept;
            archived.insert(archiving.id, place);
            caused(&mut edit, place, archiving.cause);
        }
        for (cause, operation) in operations.iter().enumerate() {
            let Operation::Mark {
                id,
                reason,
                pinned,
                until,
            } = operation
            else {
                continue;
            };
            if id.kind == kind {
                let place = edit.operations.len();
                edit.mark(*id, reason, |marks| marks.changed(*pinned, *until))?;
                caused(&mut edit, place, cause);
            }
        }
        for (cause, operation) in operations.iter().enumerate() {
            let Some(added) = operation.addition().filter(|added| added.kind() == kind) else {
                continue;
            };
            let record = NewRecord {
                marks: added.marks,
                reason: Some(&added.reason),
                label: added.label.as_deref(),
                content: &added.content,
            };
            let place = edit.operations.len();
            let id = edit.add(kind, &record, now)?;
            caused(&mut edit, place, cause);
            // A record that was archived concurrently is not marked as replaced.
            for replaced in added.replaces.iter().chain(&added.merges) {
                if let Some(place) = archived.get(replaced) {
                    edit.operations[*place].superseded_by = Some(id);
                }
            }
        }
    }
    edit.finish().within(limits.context_bytes, document)
}

/// Names the operation that made the changes from a place on.
fn caused(edit: &mut Edit<'_>, from: usize, cause: usize) {
    for operation in &mut edit.operations[from..] {
        operation.cause = Some(cause);
    }
}

/// An archiving that an operation asks for.
struct Archiving<'o> {
    id: RecordId,
    reason: &'o str,
    /// The record that stays in its place.
    kept: Option<RecordId>,
    /// The index of the operation.
    cause: usize,
}

/// All archivings: explicit ones first, then those implied by additions that replace a record.
fn archivings(operations: &[Operation]) -> Vec<Archiving<'_>> {
    let numbered = || operations.iter().enumerate();
    let named = numbered().filter_map(|(cause, operation)| match operation {
        Operation::Archive { id, reason, ground } => Some(Archiving {
            id: *id,
            reason,
            kept: ground.and_then(Ground::kept),
            cause,
        }),
        _ => None,
    });
    let mut archivings: Vec<_> = named.collect();
    let mut ids: HashSet<RecordId> = archivings.iter().map(|archiving| archiving.id).collect();
    for (cause, operation) in numbered() {
        let Some(added) = operation.addition() else {
            continue;
        };
        let replaced = added.replaces.iter().chain(&added.merges).copied();
        let implied = replaced.filter(|id| ids.insert(*id)).map(|id| Archiving {
            id,
            reason: &added.reason,
            kept: None,
            cause,
        });
        archivings.extend(implied);
    }
    archivings
}

impl AppliedOperation {
    /// Describes a section without records that was written anew.
    pub(in crate::domain) fn of_section(op: OperationName, content: String) -> Self {
        Self {
            op,
            id: None,
            label: None,
            reason: None,
            content: Some(content),
            superseded_by: None,
            evidence: Vec::new(),
            cause: None,
        }
    }

    /// Describes an addition from the added record.
    pub(in crate::domain) fn added(record: Record) -> Self {
        Self {
            op: OperationName::Add,
            reason: record.reason.clone(),
            ..Self::archived(record, "")
        }
    }

    /// Describes a change of marks and its reason.
    pub(in crate::domain) fn marked(record: Record, reason: &str) -> Self {
        let marks = record.marks;
        let marks = match marks.is_empty() {
            true => "no marks".to_owned(),
            false => marks.to_string(),
        };
        Self {
            op: OperationName::Mark,
            content: Some(marks),
            ..Self::archived(record, reason)
        }
    }

    /// Describes an archiving and its reason.
    pub(in crate::domain) fn archived(record: Record, reason: &str) -> Self {
        Self {
            id: Some(record.id),
            label: record.label,
            reason: Some(reason.to_owned()),
            ..Self::of_section(OperationName::Archive, record.content)
        }
    }
}
