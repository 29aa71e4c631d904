//! Step 5: applies valid items to the current head, without losing changes of other writers. Pure.

use super::PipelineError;
use super::conversation::section_of;
use super::reading::Accepted;
use super::report::Rejection;
use super::role::numbered;
use super::run::Running;
use crate::domain::faults::Omitted;
use crate::domain::memory::{Applied, OperationName, View, apply, validate};
use crate::domain::operation::{Operation, Role};
use crate::storage::Head;

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
    /// The items that were applied, in the order of their changes.
    pub(super) items: Vec<Accepted>,
    /// For each change the index of its item.
    pub(super) numbers: Vec<Option<usize>>,
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
    let mut applied = apply(&head.text, head.counters, &operations, head.now, limits)
        .map_err(|error| PipelineError::of_edit(error, &running.target.update_id, head.text.len()))?;
    // The items that were applied, in the order of their changes, and the number of each of them there.
    let mut ordered: Vec<Accepted> = Vec::new();
    let mut numbers = vec![None; items.len()];
    for (change, cause) in applied.operations.iter_mut().zip(&applied.causes) {
        let item = &items[*cause];
        let is_implied = change.op == OperationName::Archive && item.operation.archives().is_none();
        // The evidence of an addition is not that of the archivings that it implies.
        if !is_implied {
            change.evidence.clone_from(&item.evidence);
            numbers[*cause] = Some(ordered.len());
            ordered.push(item.clone());
        }
    }
    let numbers = applied.causes.iter().map(|cause| numbers[*cause]).collect();
    Ok(Merged {
        applied,
        rejected,
        omitted: validated.omitted,
        rebased,
        items: ordered,
        numbers,
    })
}
