//! Step 5, shared by `/update`, `/operations` and approvals: the items of a run are merged into the current head, without losing
//! changes of other writers.

use crate::domain::document::{self, Record};
use crate::domain::dsl::Parsed;
use crate::domain::ids::RecordId;
use crate::domain::memory::{ChangedDocument, OperationName, View, apply, validate};
use crate::domain::operation::{Item, Operation, Role};
use crate::domain::window::{Change, SessionRecord, Sizes, Status, WindowRows};
use crate::pipeline::PipelineError;
use crate::pipeline::check::mentioned;
use crate::pipeline::prompts::section_of;
use crate::pipeline::report::Rejection;
use crate::pipeline::review::rewrites_progress;
use crate::pipeline::run::Running;
use crate::storage::Head;
use crate::storage::updates::RunKind;
use chrono::{DateTime, Utc};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;

/// The memory with the items applied.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) applied: ChangedDocument,
    /// Items that no longer fit the head, for example because a record was archived or added meanwhile.
    pub(super) rejected: Vec<Rejection>,
    pub(super) more_rejected: usize,
    /// Whether the head differs from the head snapshot.
    pub(super) rebased: bool,
    /// The items that were applied, in the order of their changes.
    pub(super) items: Vec<Item>,
    /// For each change the index of its item.
    pub(super) numbers: Vec<Option<usize>>,
}

/// What records say, by id.
pub(super) type RecordTexts = BTreeMap<RecordId, String>;

/// What those records say that the items name, and how they are marked if an agent wrote the items: no other may touch what is
/// pinned.
pub(super) fn texts_of(document: &str, items: &[Item], kind: RunKind) -> RecordTexts {
    let ids = mentioned(items.iter().map(|item| &item.operation));
    if ids.is_empty() {
        return RecordTexts::new();
    }
    let named = document::records(document).into_iter();
    let named = named.filter(|record| ids.contains(&record.id));
    let text = |record: Record| {
        let marks = Some(record.marks).filter(|marks| kind == RunKind::Operations && !marks.is_empty());
        let marks = marks.map(|marks| format!("[{marks}] ")).unwrap_or_default();
        let label = record.label.map(|label| format!("{label} => "));
        format!("{marks}{}{}", label.unwrap_or_default(), record.content)
    };
    named.map(|record| (record.id, text(record))).collect()
}

/// Leaves out what was decided about a record that says something else now: it would take away a text that nobody judged. An
/// addition that was to replace such a record is made beside it.
fn still_meant<'a>(
    accepted: &'a [Item],
    before: &RecordTexts,
    head: &Head,
    kind: RunKind,
) -> (Cow<'a, [Item]>, Vec<Rejection>) {
    let now = texts_of(&head.text, accepted, kind);
    let is_other = |(id, text): &(&RecordId, &String)| now.get(id).is_some_and(|now| now != *text);
    let changed: BTreeSet<RecordId> = before.iter().filter(is_other).map(|(id, _)| *id).collect();
    if changed.is_empty() {
        return (accepted.into(), Vec::new());
    }
    let (mut meant, mut rejected) = (Vec::new(), Vec::new());
    for item in accepted {
        let named = mentioned(once(&item.operation));
        let Some(id) = named.intersection(&changed).next() else {
            meant.push(item.clone());
            continue;
        };
        let is_added = item.operation.replaces() == Some(*id);
        let detail = match is_added {
            true => {
                format!("{id} was changed meanwhile; what it says now stays, and this is added beside it.")
            }
            false => format!("{id} was changed meanwhile; what it says now stays."),
        };
        rejected.push(Rejection {
            index: item.written.index,
            ..Rejection::new(
                item.operation.role(),
                "record_changed",
                detail,
                &item.written.text,
            )
        });
        if is_added {
            let mut addition = item.clone();
            addition.operation.set_replaced(None);
            meant.push(addition);
        }
    }
    (meant.into(), rejected)
}

/// Whether goal or blocker are others than when the run began, or when its proposal was made.
pub(super) fn is_status_moved(running: &Running, head: &Head) -> bool {
    let before = match &running.review {
        Some(review) => review.proposal.status_before.clone(),
        None => Some(Status::of(&running.base.text)),
    };
    before.is_some_and(|before| !before.says_the_same(&Status::of(&head.text)))
}

/// Applies the items of a run, which were validated against its snapshots, to the head, but for those about records that were
/// changed since. Of an approved proposal progress that was changed since is rejected.
///
/// # Errors
/// Why nothing may be saved; a conflict if another writer changed progress, which must be asked for again on this head.
pub(super) fn merge(head: &Head, running: &Running) -> Result<Merged, PipelineError> {
    head.meets(&running.to.preconditions)?;
    let accepted = &running.results.accepted;
    // Trailing blank lines do not belong to the section: they depend on the section that follows.
    let progress_of = |text| section_of(text, Role::Progress).trim_end();
    if let Some(review) = &running.review {
        let before = review.proposal.progress_before.as_deref().unwrap_or_default();
        let moved = progress_of(&head.text) != before;
        let (late, held): (Vec<Item>, Vec<Item>) = accepted
            .iter()
            .cloned()
            .partition(|item| moved && rewrites_progress(item));
        let (held, changed) = still_meant(&held, &review.proposal.records_before, head, running.kind);
        let mut merged = merge_onto(head, &held, head.version != review.base_version, running)?;
        merged.rejected.extend(changed);
        let detail = "Current Progress was changed after this was proposed; it stays as it is.";
        let late = late
            .iter()
            .map(|item| Rejection::new(Some(Role::Progress), "progress_moved", detail, &item.written.text));
        merged.rejected.splice(0..0, late);
        return Ok(merged);
    }
    let identity = running.identity();
    // A memory that exists now under its name is another one.
    if identity.is_some() && identity != head.identity.as_ref() {
        return Err(PipelineError::Deleted);
    }
    let progress_base = running.progress_base();
    // Operations of an agent replace progress whatever it is.
    let moved = running.kind != RunKind::Operations
        && head.context_id != progress_base.context_id
        && progress_of(&head.text) != progress_of(&progress_base.text);
    if moved && accepted.iter().any(rewrites_progress) {
        return Err(running.conflict());
    }
    if head.context_id == running.base.context_id {
        return merge_onto(head, accepted, false, running);
    }
    let before = texts_of(&running.base.text, accepted, running.kind);
    let (accepted, changed) = still_meant(accepted, &before, head, running.kind);
    let mut merged = merge_onto(head, &accepted, true, running)?;
    merged.rejected.extend(changed);
    Ok(merged)
}

/// Applies those items that are valid on the head.
fn merge_onto(
    head: &Head,
    accepted: &[Item],
    rebased: bool,
    running: &Running,
) -> Result<Merged, PipelineError> {
    let limits = &running.limits;
    let view = View {
        document: &head.text,
        ended: &head.archived,
        now: head.now,
    };
    let validated = validate(Parsed::of_items(accepted.to_vec()), &view, &[], limits);
    let rejected = validated.faults.iter().map(Rejection::of_fault).collect();
    let items = validated.items;
    let operations: Vec<Operation> = items.iter().map(|item| item.operation.clone()).collect();
    let mut applied = apply(&head.text, head.counters, &operations, head.now, limits)
        .map_err(|error| running.cannot_edit(error))?;
    // The items that were applied, in the order of their changes, and the number of each of them there.
    let mut ordered: Vec<Item> = Vec::new();
    let mut numbers = vec![None; items.len()];
    for change in &mut applied.operations {
        let Some(cause) = change.cause else { continue };
        let item = &items[cause];
        let is_implied = change.op == OperationName::Archive && item.operation.archives().is_none();
        // The evidence of an addition is not that of the archivings that it implies.
        if !is_implied {
            change.evidence.clone_from(&item.evidence);
            numbers[cause] = Some(ordered.len());
            ordered.push(item.clone());
        }
    }
    let changes = applied.operations.iter();
    let numbers = changes.map(|change| numbers[change.cause?]).collect();
    Ok(Merged {
        applied,
        rejected,
        more_rejected: validated.omitted.rejections,
        rebased,
        items: ordered,
        numbers,
    })
}

/// Writes the record into a document after operations were applied to it.
pub(super) fn write_record(
    running: &Running,
    applied: &mut ChangedDocument,
    now: DateTime<Utc>,
    record: &SessionRecord,
    sizes: Sizes,
) -> Result<WindowRows, PipelineError> {
    let mut change = Change::begin(&applied.text, applied.counters, now, sizes);
    let written = change.end_session(record).and_then(|()| change.finish());
    let written = written.map_err(|error| running.cannot_edit(error))?;
    let added = written.added();
    applied.text = written.text;
    applied.counters = written.counters;
    for operation in written.operations {
        let is_rewrite = |op: OperationName| op == OperationName::RewriteProgress;
        match applied
            .operations
            .first_mut()
            .filter(|first| is_rewrite(first.op))
        {
            // The rewrite of a role, with the bullet moved.
            Some(first) if is_rewrite(operation.op) => *first = operation,
            _ => applied.operations.push(operation),
        }
    }
    let tasks = added.map(|id| (id, record.task.clone()));
    Ok(WindowRows {
        tasks: tasks.into_iter().collect(),
        ..WindowRows::default()
    })
}
