//! Step 5: good items onto the head as it stands, nothing of another writer lost. Pure.

use super::conversation::section_of;
use super::reading::Accepted;
use super::report::Rejection;
use super::role::numbered;
use crate::domain::faults::Omitted;
use crate::domain::ids::{ContextId, RecordId, RecordKind};
use crate::domain::memory::{
    Applied, ApplyError, IdsExhausted, Limits, OperationName, View, apply, validate,
};
use crate::domain::operation::{Operation, Role};
use crate::storage::{Head, HeadSnapshot, Preconditions};

/// The memory with the items applied.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) applied: Applied,
    /// What no longer fits the head: archived meanwhile, added meanwhile.
    pub(super) rejected: Vec<Rejection>,
    /// How much more of it there is.
    pub(super) omitted: Omitted,
    /// Whether the head is another than the captured one.
    pub(super) rebased: bool,
    /// The items that were applied, in the order in which they came.
    pub(super) items: Vec<Accepted>,
}

/// Why nothing may be saved.
#[derive(Debug)]
pub(super) enum Refused {
    /// A precondition does not hold for the head.
    PreconditionFailed { current: Option<ContextId> },
    /// The memory was deleted since it was captured; what stands there now, if anything, is another one.
    Deleted,
    /// Somebody else changed progress: it has to be asked again on this head.
    ProgressMoved,
    /// The document would exceed its cap.
    TooLarge {
        before: usize,
        bytes: usize,
        limit: usize,
    },
    /// A kind has no number left.
    IdsExhausted { kind: RecordKind },
    /// The task to be recorded has an id that belongs to one that says something else.
    OtherTask(RecordId),
    /// A fault of the service.
    Fault(String),
    /// An archiving that validation let through although its record is not there: a fault of the service.
    NotActive(RecordId),
}

/// Applies items that were validated against `progress_base` (for progress) and `base` to the head.
pub(super) fn merge(
    head: &Head,
    base: &HeadSnapshot,
    progress_base: &HeadSnapshot,
    accepted: &[Accepted],
    preconditions: &Preconditions,
    limits: &Limits,
) -> Result<Merged, Refused> {
    if !preconditions.hold(head.context_id.as_ref().map(ContextId::as_str)) {
        return Err(Refused::PreconditionFailed {
            current: head.context_id.clone(),
        });
    }
    // The versions of one memory only grow.
    let is_another = head.version == base.version && head.context_id != base.context_id;
    if head.version < base.version || is_another {
        return Err(Refused::Deleted);
    }
    let rewrites = accepted
        .iter()
        .any(|item| matches!(item.operation, Operation::RewriteProgress(_)));
    // Blank lines at its end are not its own: they come and go with the section behind it.
    let progress_of = |text| section_of(text, Role::Progress).trim_end();
    let moved = head.context_id != progress_base.context_id
        && progress_of(&head.text) != progress_of(&progress_base.text);
    if rewrites && moved {
        return Err(Refused::ProgressMoved);
    }
    let rebased = head.context_id != base.context_id;
    onto(head, accepted, rebased, limits)
}

/// Applies items to the head, as far as they hold there.
pub(super) fn onto(
    head: &Head,
    accepted: &[Accepted],
    rebased: bool,
    limits: &Limits,
) -> Result<Merged, Refused> {
    let view = View {
        document: &head.text,
        ended: &head.archived,
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
            } => Refused::TooLarge {
                before: before_bytes,
                bytes,
                limit,
            },
            ApplyError::IdsExhausted(IdsExhausted { kind }) => Refused::IdsExhausted { kind },
            ApplyError::NotActive(id) => Refused::NotActive(id),
        })?;
    tell_evidence(&mut applied, &items);
    Ok(Merged {
        applied,
        rejected,
        omitted: validated.omitted,
        rebased,
        items,
    })
}

/// Gives every change the evidence of the item it was made by. Additions of a kind are made in the order of their
/// items, and a record is archived once.
fn tell_evidence(applied: &mut Applied, items: &[Accepted]) {
    let mut added = [0_usize; RecordKind::ALL.len()];
    for change in &mut applied.operations {
        let item = match (change.op, change.id) {
            (OperationName::Add, Some(id)) => {
                let nth = &mut added[id.kind as usize];
                let of_kind = items.iter().filter(|item| added_kind(item) == Some(id.kind));
                let item = of_kind.into_iter().nth(*nth);
                *nth += 1;
                item
            }
            (OperationName::Archive, Some(id)) => items
                .iter()
                .find(|item| matches!(&item.operation, Operation::Archive { id: named, .. } if *named == id)),
            (OperationName::RewriteProgress, _) => items
                .iter()
                .rfind(|item| matches!(item.operation, Operation::RewriteProgress(_))),
            _ => None,
        };
        change.evidence = item.map(|item| item.evidence.clone()).unwrap_or_default();
    }
}

fn added_kind(item: &Accepted) -> Option<RecordKind> {
    match item.operation {
        Operation::AddLearning { .. } | Operation::AddVerbatim { .. } => item.operation.role()?.record_kind(),
        _ => None,
    }
}
