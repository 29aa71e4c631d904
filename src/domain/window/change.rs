//! Changes a document to record a task, a decision, a status, or the end of a session.

use super::status::Status;
use super::task::{Task, task_line, without_reason};
use crate::domain::document::{ManagedSection, entries, pinned, records, whole_progress_of, written_lists};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::memory::{AppliedOperation, ChangedDocument, Counters, Edit, EditError, OperationName};
use crate::domain::operation::AddedRecord;
use crate::domain::text::{folded, one_line, visible_line};
use chrono::SubsecRound as _;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Limits of the window and of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Maximum number of tasks (`window.tasks`).
    pub tasks: usize,
    /// Maximum number of decisions (`window.decisions`).
    pub decisions: usize,
    /// Maximum size of the document in bytes (`limits.context_bytes`).
    pub context_bytes: usize,
}

impl Sizes {
    fn of(&self, kind: RecordKind) -> usize {
        match kind {
            RecordKind::Decision => self.decisions,
            _ => self.tasks,
        }
    }
}

/// A decision and its reason, if it has one, as its record says them.
pub(super) fn decision_record(decision: &str, reason: Option<&str>) -> AddedRecord {
    let (content, reason) = (one_line(decision), one_line(reason.unwrap_or_default()));
    AddedRecord {
        content: match reason.is_empty() {
            true => without_reason(content),
            false => content,
        },
        reason,
        ..AddedRecord::default()
    }
}

/// A pending change of the window. What it adds goes to the top of its section; the oldest records beyond the window are
/// archived.
#[derive(Debug)]
pub struct Change<'t> {
    document: &'t str,
    pub(super) edit: Edit<'t>,
    now: DateTime<Utc>,
    sizes: Sizes,
    /// Goal and blocker: those of the document until they are set.
    pub(super) status: Status,
    /// Whether a record went directly to the archive.
    reserved: bool,
    /// The new value of `Updated:`.
    updated: DateTime<Utc>,
}

impl<'t> Change<'t> {
    /// Changes nothing yet.
    #[must_use]
    pub fn begin(document: &'t str, counters: Counters, now: DateTime<Utc>, sizes: Sizes) -> Self {
        Self {
            document,
            edit: Edit::new(document, counters, now),
            now,
            sizes,
            status: Status::of(document),
            reserved: false,
            updated: now,
        }
    }

    /// Adds a completed task.
    ///
    /// # Errors
    ///
    /// [`EditError`]
    pub fn add_task(&mut self, task: &Task) -> Result<(), EditError> {
        self.prune(RecordKind::Task, 1)?;
        let record = AddedRecord {
            content: task_line(task),
            ..AddedRecord::default()
        };
        self.edit.add(RecordKind::Task, &record, self.now)?;
        Ok(())
    }

    /// Adds a decision, with its reason if it has one, and archives the decision it supersedes.
    ///
    /// # Errors
    ///
    /// [`EditError`]
    pub fn add_decision(
        &mut self,
        decision: &str,
        reason: Option<&str>,
        supersedes: Option<RecordId>,
    ) -> Result<(), EditError> {
        if let Some(id) = supersedes {
            let why = reason.map_or_else(
                || "superseded".to_owned(),
                |reason| format!("superseded: {}", one_line(reason)),
            );
            self.edit.archive(id, &why)?;
        }
        self.prune(RecordKind::Decision, 1)?;
        let record = decision_record(decision, reason);
        let added = self.edit.add(RecordKind::Decision, &record, self.now)?;
        let mut operations = self.edit.operations.iter_mut();
        if let Some(replaced) = operations.find(|of| supersedes.is_some() && of.id == supersedes) {
            replaced.superseded_by = Some(added);
        }
        Ok(())
    }

    /// Sets goal and blocker: one that is absent stays, and one that is `None` goes.
    pub fn set_status(&mut self, goal: Option<Option<&str>>, blocker: Option<Option<&str>>) {
        let goal = goal.unwrap_or(self.status.goal.as_deref());
        let blocker = blocker.unwrap_or(self.status.blocker.as_deref());
        self.replace_status(Status::new(goal, blocker));
    }

    /// Records a session: moves the bullet of `In Progress` that equals the intent to `Completed`, adds the task, and sets
    /// goal and blocker if one of them is given (a goal alone means that nothing blocks it).
    ///
    /// # Errors
    ///
    /// [`EditError`]
    pub fn end_session(&mut self, record: &SessionRecord) -> Result<(), EditError> {
        if let Some(body) = completed(self.document, &record.task.intent) {
            self.edit.rewrite_progress(body);
        }
        self.add_task(&record.task)?;
        if record.sets_status() {
            let goal = record.goal.as_deref().map(Some);
            self.set_status(goal, Some(record.blocker.as_deref()));
        }
        Ok(())
    }

    /// Sets `Updated:` to this time, or keeps the current value if it is later; never a time in the future.
    pub(super) fn as_of(&mut self, time: DateTime<Utc>) {
        let current = Status::of(self.document).updated;
        self.updated = time.max(current.unwrap_or(time)).min(self.now);
    }

    /// Sets goal and blocker, unless they are unchanged.
    pub(super) fn replace_status(&mut self, wanted: Status) {
        if self.status.says_the_same(&wanted) && self.status.updated.is_some() {
            return;
        }
        let none = || "none".to_owned();
        let goal = wanted.goal.clone().unwrap_or_else(none);
        let blocker = wanted.blocker.clone().unwrap_or_else(none);
        self.status = wanted;
        let content = format!("goal: {goal}; blocker: {blocker}");
        self.edit.operations.push(AppliedOperation::of_section(
            OperationName::RewriteStatus,
            content,
        ));
    }

    /// Allocates an id for a record that goes directly to the archive.
    pub(super) fn reserve(&mut self, kind: RecordKind) -> Result<RecordId, EditError> {
        self.reserved = true;
        self.edit.reserve(kind)
    }

    /// The records of a kind with their times, oldest first. A record without a time gets that of the record
    /// above it.
    pub(super) fn oldest_first(&self, kind: RecordKind) -> Vec<(DateTime<Utc>, RecordId)> {
        let mut time = self.now;
        let mut found: Vec<_> = records(self.document)
            .into_iter()
            .filter(|record| record.id.kind == kind && self.edit.is_active(record.id))
            .enumerate()
            .map(|(place, record)| {
                time = record.time.unwrap_or(time);
                (time, Reverse(place), record.id)
            })
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(time, _, id)| (time, id)).collect()
    }

    /// How many records of a kind the window has room for, beside its bullets that have no id yet.
    pub(super) fn room(&self, kind: RecordKind) -> usize {
        let unnumbered = entries(self.document)
            .filter(|entry| entry.kind == kind && entry.id.is_none() && !entry.is_empty())
            .count();
        self.sizes.of(kind).saturating_sub(unnumbered)
    }

    /// Archives the oldest records of a kind so that `coming` new ones fit into the window. Bullets without
    /// an id and pinned records count but are kept: a person has written them, or wants them there.
    pub(super) fn prune(&mut self, kind: RecordKind, coming: usize) -> Result<(), EditError> {
        let mut there = self.oldest_first(kind);
        let over = (there.len() + coming).saturating_sub(self.room(kind));
        if over > 0 {
            let pinned = pinned(self.document);
            there.retain(|(_, id)| !pinned.contains(id));
        }
        let what = match kind {
            RecordKind::Decision => "decision",
            _ => "recent task",
        };
        let size = self.sizes.of(kind);
        let plural = if size == 1 { "" } else { "s" };
        let why = format!("left the window of {size} {what}{plural}");
        for (_, id) in there.into_iter().take(over) {
            self.edit.archive(id, &why)?;
        }
        Ok(())
    }

    /// Returns the changed document, with `Updated:` set if anything changed; else no operation and the same text.
    ///
    /// # Errors
    ///
    /// [`EditError::TooLarge`]
    pub fn finish(mut self) -> Result<ChangedDocument, EditError> {
        if self.reserved || !self.edit.operations.is_empty() {
            self.status.updated = Some(self.updated.trunc_subsecs(0));
            let body = self.status.body_on(self.document);
            self.edit.rewrite(ManagedSection::ActiveContext, body);
        }
        self.edit.finish().within(self.sizes.context_bytes, self.document)
    }
}

/// The data recorded at the end of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The completed task.
    #[serde(flatten)]
    pub task: Task,
    /// The new goal; without it the current goal stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The blocker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<String>,
}

impl SessionRecord {
    /// Whether it has a goal or a blocker.
    #[must_use]
    pub fn sets_status(&self) -> bool {
        self.goal.is_some() || self.blocker.is_some()
    }
}

/// The body of `Current Progress` with the bullets of `In Progress` that equal the intent moved, as one bullet, to the end of
/// `Completed`. Each bullet stays as it is written. `None` if there is none, or if the section has more than its lists.
fn completed(document: &str, intent: &str) -> Option<String> {
    let mut progress = whole_progress_of(document)?;
    let wanted = folded(intent);
    let is_equal = |bullet: &str| folded(&visible_line(bullet)) == wanted;
    let done = progress.in_progress.extract_if(.., |bullet| is_equal(bullet));
    let moved = done.collect::<Vec<_>>().into_iter().next()?;
    if !progress.completed.iter().any(|bullet| is_equal(bullet)) {
        progress.completed.push(moved);
    }
    Some(written_lists(&progress))
}

#[cfg(test)]
mod tests;
