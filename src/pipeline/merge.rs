//! Step 5: good items onto the head as it stands, nothing of another writer lost. Pure.

use super::conversation::section_of;
use super::report::Rejection;
use super::role::{Accepted, numbered};
use crate::domain::ids::{ContextId, RecordId, RecordKind};
use crate::domain::memory::{Applied, ApplyError, IdsExhausted, Limits, View, apply, validate};
use crate::domain::operation::{Operation, Role};
use crate::storage::{Head, HeadSnapshot, Preconditions};

/// The memory with the items applied.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) applied: Applied,
    /// What no longer fits the head: archived meanwhile, added meanwhile.
    pub(super) rejected: Vec<Rejection>,
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
    let operations: Vec<Operation> = validated.items.into_iter().map(|item| item.operation).collect();
    let applied =
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
    Ok(Merged {
        applied,
        rejected,
        rebased,
        items,
    })
}
