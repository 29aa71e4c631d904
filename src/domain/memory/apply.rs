//! Applying operations to a document: all or nothing, in the order of the design.

use super::Limits;
use super::counters::{Counters, IdsExhausted};
use super::edit::Edit;
use crate::domain::document::{ManagedSection, NewRecord, Record, progress_body};
use crate::domain::evidence::Evidence;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::Operation;
use chrono::{DateTime, Utc};
use std::collections::{HashMap, HashSet};
use strum::{IntoStaticStr, VariantNames};

/// The state of a memory after operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The document; equal to the one before if nothing changed.
    pub text: String,
    /// The numbers given so far.
    pub counters: Counters,
    /// What was done, in the order in which it was done. An operation that changed nothing is not in it.
    pub operations: Vec<AppliedOperation>,
}

/// What kind of change an operation made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum OperationName {
    /// The body of `Current Progress` was replaced.
    RewriteProgress,
    /// A record was added.
    Add,
    /// A record was archived.
    Archive,
    /// Goal or blocker of `Active Context` were set.
    RewriteStatus,
}

impl OperationName {
    /// The stable name used in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// An operation that was applied, told as it stands in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedOperation {
    /// What it did.
    pub op: OperationName,
    /// The record added or archived.
    pub id: Option<RecordId>,
    /// The record's label; VC only.
    pub label: Option<String>,
    /// Why: of an addition the record's reason, of an archive the reason given for it.
    pub reason: Option<String>,
    /// The record's content, or the new body of `Current Progress`.
    pub content: Option<String>,
    /// Of an archived record the one that takes its place.
    pub superseded_by: Option<RecordId>,
    /// What of an update's input carries it.
    pub evidence: Vec<Evidence>,
}

/// Why operations could not be applied; nothing was. The message is fit to be shown to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The document would be over the cap.
    #[error(
        "the context would have {bytes} bytes, over limits.context_bytes = {limit}; it has {before_bytes} now"
    )]
    TooLarge {
        /// How long the document would be.
        bytes: usize,
        /// How long it may be.
        limit: usize,
        /// How long it is.
        before_bytes: usize,
    },
    /// No id is left for a new record.
    #[error(transparent)]
    IdsExhausted(#[from] IdsExhausted),
    /// An `ARCHIVE` names a record that is not active; [`validate`](super::validate()) does not accept it.
    #[error("{0} is not an active record")]
    NotActive(RecordId),
}

/// Applies operations: `Current Progress` (of several the last counts), then kind by kind the archives and
/// then the additions, whatever their order in the list. An addition that replaces a record which no archiving of
/// the list names archives it itself, for its own reason. Linear in the document and the operations.
///
/// `counters` are the numbers stored for the memory; the document's own are seen here.
///
/// # Errors
///
/// [`ApplyError`]; then nothing is applied. Operations that [`validate`](super::validate()) accepted for this document
/// fail for size or exhausted ids only.
pub fn apply(
    document: &str,
    counters: Counters,
    operations: &[Operation],
    now: DateTime<Utc>,
    limits: &Limits,
) -> Result<Applied, ApplyError> {
    let mut edit = Edit::new(document, counters, now);
    let mut done = Vec::new();
    done.extend(rewrite_progress(&mut edit, operations));
    let archivings = archivings(operations);
    let mut archived: HashMap<RecordId, usize> = HashMap::with_capacity(archivings.len());
    for kind in RecordKind::ALL {
        for (id, reason) in archivings.iter().filter(|(id, _)| id.kind == kind) {
            let record = edit.archive(*id)?.ok_or(ApplyError::NotActive(*id))?;
            archived.insert(*id, done.len());
            done.push(AppliedOperation::archived(record, reason));
        }
        for operation in operations {
            let Some(record) = new_record(operation, kind) else {
                continue;
            };
            let added = edit.add(kind, &record)?;
            // What somebody else archived meanwhile is not replaced any more.
            let replaced = operation.replaces().and_then(|id| archived.get(&id));
            if let Some(place) = replaced {
                done[*place].superseded_by = Some(added.id);
            }
            done.push(AppliedOperation::added(added));
        }
    }
    let (text, counters) = edit.finish();
    if text.len() > limits.context_bytes && text != document {
        let (bytes, limit, before_bytes) = (text.len(), limits.context_bytes, document.len());
        return Err(ApplyError::TooLarge {
            bytes,
            limit,
            before_bytes,
        });
    }
    Ok(Applied {
        text,
        counters,
        operations: done,
    })
}

/// What is archived and why: by archivings first, then by additions that replace what none of them names.
fn archivings(operations: &[Operation]) -> Vec<(RecordId, &str)> {
    let named = operations.iter().filter_map(|operation| match operation {
        Operation::Archive { id, reason } => Some((*id, reason.as_str())),
        _ => None,
    });
    let mut archivings: Vec<_> = named.collect();
    let mut ids: HashSet<RecordId> = archivings.iter().map(|(id, _)| *id).collect();
    for operation in operations {
        let (Operation::AddLearning { reason, replaces, .. }
        | Operation::AddVerbatim { reason, replaces, .. }) = operation
        else {
            continue;
        };
        archivings.extend(
            replaces
                .filter(|id| ids.insert(*id))
                .map(|id| (id, reason.as_str())),
        );
    }
    archivings
}

fn rewrite_progress(edit: &mut Edit<'_>, operations: &[Operation]) -> Option<AppliedOperation> {
    let progress = operations.iter().rev().find_map(|operation| match operation {
        Operation::RewriteProgress(progress) => Some(progress),
        _ => None,
    })?;
    let body = progress_body(progress);
    edit.rewrite(ManagedSection::CurrentProgress, body.clone())
        .then_some(AppliedOperation {
            op: OperationName::RewriteProgress,
            id: None,
            label: None,
            reason: None,
            content: Some(body),
            superseded_by: None,
            evidence: Vec::new(),
        })
}

/// What an operation adds to the records of a kind.
fn new_record(operation: &Operation, kind: RecordKind) -> Option<NewRecord<'_>> {
    match (operation, kind) {
        (Operation::AddLearning { reason, content, .. }, RecordKind::Learning) => Some(NewRecord {
            reason: Some(reason),
            label: None,
            content,
        }),
        (
            Operation::AddVerbatim {
                reason,
                label,
                snippet,
                ..
            },
            RecordKind::Verbatim,
        ) => Some(NewRecord {
            reason: Some(reason),
            label: Some(label),
            content: snippet,
        }),
        _ => None,
    }
}

impl AppliedOperation {
    /// An addition, told as the record reads.
    pub(in crate::domain) fn added(record: Record) -> Self {
        let Record {
            id,
            label,
            reason,
            content,
            ..
        } = record;
        Self {
            op: OperationName::Add,
            id: Some(id),
            label,
            reason,
            content: Some(content),
            superseded_by: None,
            evidence: Vec::new(),
        }
    }

    /// An archiving and its reason.
    pub(in crate::domain) fn archived(record: Record, reason: &str) -> Self {
        let Record {
            id, label, content, ..
        } = record;
        let reason = Some(reason.to_owned());
        Self {
            op: OperationName::Archive,
            id: Some(id),
            label,
            reason,
            content: Some(content),
            superseded_by: None,
            evidence: Vec::new(),
        }
    }
}
