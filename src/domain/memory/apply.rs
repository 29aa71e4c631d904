//! Applies operations to a document: all or nothing, in the order that the design defines.

use super::Limits;
use super::edit::{ChangedDocument, Counters, Edit, EditError};
use crate::domain::consolidation::Ground;
use crate::domain::document::progress_body;
use crate::domain::evidence::Evidence;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{AddedRecord, Operation};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use strum::{IntoStaticStr, VariantNames};
use utoipa::ToSchema;

/// The kind of change that an operation made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantNames, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
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

/// One change that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = OperationReport)]
pub struct AppliedOperation {
    /// The number by which it is approved; only of a proposal, and not of what belongs to its record.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// `rewrite_progress`, `add`, `archive` or `mark`; with a record also `rewrite_status`.
    #[schema(value_type = String, examples("add"))]
    pub op: OperationName,
    /// The record it made, archived or marked.
    #[schema(value_type = Option<String>, examples("KL-3"))]
    pub id: Option<RecordId>,
    /// The label of a verbatim record.
    pub label: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The insight, snippet or new progress; of an archived record what it said, of a marked one its marks.
    pub content: Option<String>,
    /// For an archived record, the one that replaces it; absent if none does.
    #[schema(nullable = false, value_type = Option<String>, examples("KL-4"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<RecordId>,
    /// What of the task and the messages carries it, at most two passages; of a model's change only.
    pub evidence: Vec<Evidence>,
    /// The index of the operation that made it, of those that [`apply`] was given.
    #[serde(skip)]
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
    let numbered = || operations.iter().enumerate();
    let mut rewrites = numbered().filter_map(|(cause, operation)| match operation {
        Operation::RewriteProgress(progress) => Some((cause, progress)),
        _ => None,
    });
    if let Some((cause, progress)) = rewrites.next_back() {
        edit.cause = Some(cause);
        edit.rewrite_progress(progress_body(progress));
    }
    let archivings = archivings(operations);
    // The records that stay in the place of archived ones.
    let grounds = operations.iter().filter_map(|operation| match operation {
        Operation::Archive { id, ground, .. } => Some((*id, ground.and_then(Ground::kept)?)),
        _ => None,
    });
    let mut kept: HashMap<RecordId, RecordId> = grounds.collect();
    for kind in RecordKind::ALL {
        for (cause, id, reason) in archivings.iter().filter(|(_, id, _)| id.kind == kind) {
            edit.cause = Some(*cause);
            edit.archive(*id, reason)?;
        }
        for (cause, operation) in numbered() {
            if let Operation::Mark {
                id,
                reason,
                pinned,
                until,
            } = operation
                && id.kind == kind
            {
                edit.cause = Some(cause);
                edit.mark(*id, reason, *pinned, *until)?;
            }
        }
        for (cause, operation) in numbered() {
            let Some(added) = operation.addition().filter(|added| added.kind() == kind) else {
                continue;
            };
            edit.cause = Some(cause);
            let id = edit.add(kind, added, now)?;
            kept.extend(replaced_by(added).map(|replaced| (replaced, id)));
        }
    }
    let archived = edit.operations.iter_mut();
    for archived in archived.filter(|operation| operation.op == OperationName::Archive) {
        archived.superseded_by = archived.id.and_then(|id| kept.get(&id).copied());
    }
    edit.finish().within(limits.context_bytes, document)
}

/// The records that an addition takes the place of.
fn replaced_by(added: &AddedRecord) -> impl Iterator<Item = RecordId> {
    added.replaces.iter().chain(&added.merges).copied()
}

/// All archivings, each with its reason and the index of the operation that asks for it: explicit ones first, then those
/// implied by additions that replace a record.
fn archivings(operations: &[Operation]) -> Vec<(usize, RecordId, &str)> {
    let numbered = || operations.iter().enumerate();
    let named = numbered().filter_map(|(cause, operation)| match operation {
        Operation::Archive { id, reason, .. } => Some((cause, *id, reason.as_str())),
        _ => None,
    });
    let additions = numbered().filter_map(|(cause, operation)| Some((cause, operation.addition()?)));
    let implied = additions
        .flat_map(|(cause, added)| replaced_by(added).map(move |id| (cause, id, added.reason.as_str())));
    let mut archivings: Vec<_> = named.collect();
    let mut ids: HashSet<RecordId> = archivings.iter().map(|(_, id, _)| *id).collect();
    archivings.extend(implied.filter(|(_, id, _)| ids.insert(*id)));
    archivings
}

impl AppliedOperation {
    /// Describes a section without records that was written anew.
    pub(in crate::domain) fn of_section(op: OperationName, content: String) -> Self {
        Self {
            number: None,
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
}
