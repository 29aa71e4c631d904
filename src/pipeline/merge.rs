//! Step 5: applies valid items to the current head, without losing changes of other writers. Pure.

use super::PipelineError;
use super::conversation::section_of;
use super::reading::Accepted;
use super::report::Rejection;
use super::role::numbered;
use super::run::Running;
use crate::domain::faults::Omitted;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::memory::{
    Applied, AppliedOperation, ApplyError, IdsExhausted, OperationName, View, apply, validate,
};
use crate::domain::operation::{Operation, Role};
use crate::storage::{Head, StorageError};
use std::collections::{HashMap, VecDeque};

/// The memory with the items applied.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) applied: Applied,
    /// Items that no longer fit the head, for example because a record was archived or added meanwhile.
    pub(super) rejected: Vec<Rejection>,
    /// How many more there are.
    pub(super) omitted: Omitted,
    /// Whether the head differs from the head snapshot.
    pub(super) rebased: bool,
    /// The items that were applied, in the order in which they were read.
    pub(super) items: Vec<Accepted>,
}

/// Applies the items of a run, which were validated against its snapshots, to the head.
///
/// # Errors
/// Why nothing may be saved; a conflict if another writer changed progress, which must be asked for again on this head.
pub(super) fn merge(head: &Head, running: &Running) -> Result<Merged, PipelineError> {
    let (accepted, progress_base) = (&running.accepted, &running.progress_base);
    head.meets(&running.preconditions)?;
    let identity = running.identity();
    // A memory that exists now under its name is another one.
    if identity.is_some() && identity != head.identity.as_ref() {
        return Err(PipelineError::Deleted);
    }
    let rewrites = accepted
        .iter()
        .any(|item| matches!(item.operation, Operation::RewriteProgress(_)));
    // Trailing blank lines do not belong to the section: they depend on the section that follows.
    let progress_of = |text| section_of(text, Role::Progress).trim_end();
    let moved = head.context_id != progress_base.context_id
        && progress_of(&head.text) != progress_of(&progress_base.text);
    if rewrites && moved {
        return Err(PipelineError::Conflict {
            update_id: running.target.update_id.clone(),
            rebases: 0,
        });
    }
    let rebased = head.context_id != running.base.context_id;
    onto(head, accepted, rebased, running)
}

/// Applies those items that are valid on the head.
pub(super) fn onto(
    head: &Head,
    accepted: &[Accepted],
    rebased: bool,
    running: &Running,
) -> Result<Merged, PipelineError> {
    let limits = &running.limits;
    let view = View {
        document: &head.text,
        ended: &head.archived,
        now: head.now,
    };
    let validated = validate(numbered(accepted), Vec::new(), &view, &[], limits);
    let rejected = validated
        .faults
        .iter()
        .map(|fault| Rejection::of_fault(fault, &accepted[fault.range.start].written))
        .collect();
    let items: Vec<Accepted> = validated
        .items
        .iter()
        .map(|item| accepted[item.range.start].clone())
        .collect();
    let operations: Vec<Operation> = validated
        .items
        .iter()
        .map(|item| item.operation.clone())
        .collect();
    let mut applied =
        apply(&head.text, head.counters, &operations, head.now, limits).map_err(|error| match error {
            ApplyError::TooLarge {
                bytes,
                limit,
                before_bytes,
            } => PipelineError::TooLarge {
                update_id: running.target.update_id.clone(),
                before: before_bytes,
                bytes,
                limit,
            },
            ApplyError::IdsExhausted(IdsExhausted { kind }) => PipelineError::IdsExhausted {
                update_id: running.target.update_id.clone(),
                kind,
            },
            ApplyError::NotActive(id) => PipelineError::Storage(StorageError::Corrupt {
                table: "records",
                column: "status",
                row: id.to_string(),
                problem: "accepted for archiving, but not in the document".to_owned(),
            }),
        })?;
    attach_evidence(&mut applied, &items);
    Ok(Merged {
        applied,
        rejected,
        omitted: validated.omitted,
        rebased,
        items,
    })
}

/// Assigns to every change the evidence of the item that caused it.
fn attach_evidence(applied: &mut Applied, items: &[Accepted]) {
    let causes = causes(&applied.operations, items);
    for (change, cause) in applied.operations.iter_mut().zip(causes) {
        let item = cause.map(|place| &items[place]);
        // The evidence of an addition is not that of the archivings that it implies.
        let own = item.filter(|_| change.op != OperationName::Archive || is_archiving(item));
        change.evidence = own.map(|item| item.evidence.clone()).unwrap_or_default();
    }
}

fn is_archiving(item: Option<&Accepted>) -> bool {
    item.is_some_and(|item| matches!(item.operation, Operation::Archive { .. }))
}

/// The place of the item that caused each change. Additions of one kind are applied in the order of their items, and a record
/// is archived at most once: by an item of its own, or else by the addition that takes its place.
pub(super) fn causes(changes: &[AppliedOperation], items: &[Accepted]) -> Vec<Option<usize>> {
    let mut archiving: HashMap<RecordId, usize> = HashMap::new();
    let mut marking: HashMap<RecordId, usize> = HashMap::new();
    let mut adding: [VecDeque<usize>; RecordKind::ALL.len()] = Default::default();
    let mut rewriting = None;
    for (place, item) in items.iter().enumerate() {
        match &item.operation {
            Operation::Archive { id, .. } => {
                archiving.insert(*id, place);
            }
            Operation::Mark { id, .. } => {
                marking.insert(*id, place);
            }
            Operation::RewriteProgress(_) => rewriting = Some(place),
            operation => {
                let replaced = operation
                    .replaces()
                    .into_iter()
                    .chain(operation.merges().iter().copied());
                for id in replaced {
                    archiving.entry(id).or_insert(place);
                }
                if let Some(kind) = added_kind(item) {
                    adding[kind as usize].push_back(place);
                }
            }
        }
    }
    let cause = |change: &AppliedOperation| match (change.op, change.id) {
        (OperationName::Add, Some(id)) => adding[id.kind as usize].pop_front(),
        (OperationName::Archive, Some(id)) => archiving.get(&id).copied(),
        (OperationName::Mark, Some(id)) => marking.get(&id).copied(),
        (OperationName::RewriteProgress, _) => rewriting,
        _ => None,
    };
    changes.iter().map(cause).collect()
}

fn added_kind(item: &Accepted) -> Option<RecordKind> {
    match item.operation {
        Operation::AddLearning { .. } | Operation::AddVerbatim { .. } => item.operation.role()?.record_kind(),
        _ => None,
    }
}
