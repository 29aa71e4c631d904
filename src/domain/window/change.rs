//! Changes of a document by a task, a decision or a status.

use super::one_line::one_line;
use super::status::Status;
use super::task::{Task, task_line, without_reason};
use crate::domain::document::{Layout, ManagedSection, NewRecord, entries, records};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::memory::{AppliedOperation, Counters, Edit, IdsExhausted, OperationName};
use chrono::{DateTime, SubsecRound as _, Utc};
use std::cmp::Reverse;

/// How much stands in the window, and how long the document may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Tasks (`window.tasks`).
    pub tasks: usize,
    /// Decisions (`window.decisions`).
    pub decisions: usize,
    /// The document in bytes (`limits.context_bytes`).
    pub context_bytes: usize,
}

impl Sizes {
    pub(super) fn of(&self, kind: RecordKind) -> usize {
        match kind {
            RecordKind::Decision => self.decisions,
            _ => self.tasks,
        }
    }
}

/// A document after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text.
    pub text: String,
    /// The counters after it.
    pub counters: Counters,
    /// What was done; empty if nothing but `Updated:` would have moved, which is no change.
    pub operations: Vec<AppliedOperation>,
    /// The record that was added; a status adds none.
    pub added: Option<RecordId>,
    /// What left the document for it, the superseded decision first.
    pub archived: Vec<RecordId>,
}

/// Why a change was not made. The message is fit to be shown to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// The document would be over the cap.
    #[error("the document has {before} bytes and would have {bytes}, over limits.context_bytes = {limit}")]
    TooLarge {
        /// How long it is.
        before: usize,
        /// How long it would be.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// No id is left for a new record.
    #[error(transparent)]
    IdsExhausted(#[from] IdsExhausted),
    /// The decision to be superseded does not stand in the document.
    #[error("{id} is not an active decision")]
    NotActive {
        /// What was named.
        id: RecordId,
        /// The decisions that stand there.
        active: Vec<RecordId>,
    },
}

/// Writes a completed task: first in `Recent Tasks`; the oldest beyond the window are archived.
///
/// # Errors
///
/// [`WindowError`]; then nothing is changed.
pub fn record_task(
    document: &str,
    counters: Counters,
    now: DateTime<Utc>,
    task: &Task,
    sizes: &Sizes,
) -> Result<Written, WindowError> {
    let mut change = Change::begin(document, counters, now);
    change.add_task(task, sizes)?;
    change.finish(sizes)
}

/// Writes a decision, with its reason if it has one: first in `Decisions`; the one it supersedes and the oldest beyond
/// the window are archived.
///
/// # Errors
///
/// [`WindowError`]; then nothing is changed.
pub fn record_decision(
    document: &str,
    counters: Counters,
    now: DateTime<Utc>,
    (decision, reason): (&str, Option<&str>),
    supersedes: Option<RecordId>,
    sizes: &Sizes,
) -> Result<Written, WindowError> {
    let mut change = Change::begin(document, counters, now);
    if let Some(id) = supersedes {
        let ids = records(document).into_iter().map(|record| record.id);
        let active: Vec<_> = ids.filter(|id| id.kind == RecordKind::Decision).collect();
        if !active.contains(&id) {
            return Err(WindowError::NotActive { id, active });
        }
        let why = reason.map_or_else(
            || "superseded".to_owned(),
            |reason| format!("superseded: {}", one_line(reason)),
        );
        change.archive(id, &why)?;
    }
    change.prune(RecordKind::Decision, 1, sizes)?;
    let reason = reason.map(one_line).filter(|reason| !reason.is_empty());
    let content = match reason {
        Some(_) => one_line(decision),
        None => without_reason(one_line(decision)),
    };
    let record = NewRecord {
        reason: reason.as_deref(),
        label: None,
        content: &content,
    };
    let added = change.add(RecordKind::Decision, &record, now)?;
    if let Some(replaced) = supersedes.and_then(|id| change.archiving_of(id)) {
        replaced.superseded_by = Some(added);
    }
    change.finish(sizes)
}

/// What becomes of goal or blocker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Told<'t> {
    /// It stays as it stands.
    #[default]
    Kept,
    /// There is none from now on.
    Cleared,
    /// It says this.
    Said(&'t str),
}

impl Told<'_> {
    fn on(self, standing: Option<&String>) -> Option<String> {
        match self {
            Self::Kept => standing.cloned(),
            Self::Cleared => None,
            Self::Said(text) => Some(text.to_owned()),
        }
    }
}

/// Writes goal and blocker. No operation, and the same text, if that is what stands there already.
///
/// # Errors
///
/// [`WindowError`]; then nothing is changed.
pub fn set_status(
    document: &str,
    counters: Counters,
    now: DateTime<Utc>,
    goal: Told<'_>,
    blocker: Told<'_>,
    sizes: &Sizes,
) -> Result<Written, WindowError> {
    let mut change = Change::begin(document, counters, now);
    let goal = goal.on(change.status.goal.as_ref());
    let blocker = blocker.on(change.status.blocker.as_ref());
    change.set_status(Status::new(goal.as_deref(), blocker.as_deref()));
    change.finish(sizes)
}

/// A change in the making.
pub(super) struct Change<'t> {
    document: &'t str,
    edit: Edit<'t>,
    now: DateTime<Utc>,
    status: Status,
    operations: Vec<AppliedOperation>,
    added: Option<RecordId>,
    archived: Vec<RecordId>,
    /// Whether a record went straight to the archive.
    reserved: bool,
    /// What `Updated:` says after it.
    updated: DateTime<Utc>,
}

impl<'t> Change<'t> {
    pub(super) fn begin(document: &'t str, counters: Counters, now: DateTime<Utc>) -> Self {
        Self {
            document,
            edit: Edit::new(document, counters, now),
            now,
            status: Status::of(document),
            operations: Vec::new(),
            added: None,
            archived: Vec::new(),
            reserved: false,
            updated: now,
        }
    }

    /// `Updated:` says this time after it, or what it says now if that is later; never a time to come.
    pub(super) fn as_of(&mut self, time: DateTime<Utc>) {
        let standing = Status::of(self.document).updated;
        self.updated = time.max(standing.unwrap_or(time)).min(self.now);
    }

    /// Goal and blocker as they stand in the document.
    pub(super) fn status(&self) -> &Status {
        &self.status
    }

    /// Sets goal and blocker, unless they are that.
    pub(super) fn set_status(&mut self, wanted: Status) {
        if self.status.says_the_same(&wanted) && self.status.updated.is_some() {
            return;
        }
        let none = || "none".to_owned();
        let goal = wanted.goal.clone().unwrap_or_else(none);
        let blocker = wanted.blocker.clone().unwrap_or_else(none);
        self.status = wanted;
        self.operations.push(AppliedOperation {
            op: OperationName::RewriteStatus,
            id: None,
            label: None,
            reason: None,
            content: Some(format!("goal: {goal}; blocker: {blocker}")),
            superseded_by: None,
            evidence: Vec::new(),
        });
    }

    pub(super) fn add(
        &mut self,
        kind: RecordKind,
        record: &NewRecord<'_>,
        time: DateTime<Utc>,
    ) -> Result<RecordId, WindowError> {
        let added = self.edit.add_of(kind, record, time)?;
        let id = added.id;
        self.operations.push(AppliedOperation::added(added));
        self.added = Some(id);
        Ok(id)
    }

    /// Adds a task; the oldest beyond the window are archived.
    pub(super) fn add_task(&mut self, task: &Task, sizes: &Sizes) -> Result<(), WindowError> {
        self.prune(RecordKind::Task, 1, sizes)?;
        let content = task_line(task);
        let record = NewRecord {
            reason: None,
            label: None,
            content: &content,
        };
        self.add(RecordKind::Task, &record, self.now)?;
        Ok(())
    }

    /// Replaces the body of `Current Progress`, unless it says that already.
    pub(super) fn rewrite_progress(&mut self, body: String) {
        if self.edit.rewrite(ManagedSection::CurrentProgress, body.clone()) {
            self.operations.push(AppliedOperation {
                op: OperationName::RewriteProgress,
                id: None,
                label: None,
                reason: None,
                content: Some(body),
                superseded_by: None,
                evidence: Vec::new(),
            });
        }
    }

    /// Gives an id to a record that goes straight to the archive.
    pub(super) fn reserve(&mut self, kind: RecordKind) -> Result<RecordId, WindowError> {
        self.reserved = true;
        Ok(self.edit.reserve(kind)?)
    }

    fn archive(&mut self, id: RecordId, reason: &str) -> Result<(), WindowError> {
        if let Some(record) = self.edit.archive(id)? {
            self.operations.push(AppliedOperation::archived(record, reason));
            self.archived.push(id);
        }
        Ok(())
    }

    /// The operation that archived a record.
    fn archiving_of(&mut self, id: RecordId) -> Option<&mut AppliedOperation> {
        let mut operations = self.operations.iter_mut();
        operations.find(|operation| operation.op == OperationName::Archive && operation.id == Some(id))
    }

    /// The records of a kind with their times, the oldest first. One without a time is as old as the one above it.
    pub(super) fn oldest_first(&self, kind: RecordKind) -> Vec<(DateTime<Utc>, RecordId)> {
        let mut time = self.now;
        let mut found: Vec<_> = records(self.document)
            .into_iter()
            .filter(|record| record.id.kind == kind && !self.archived.contains(&record.id))
            .enumerate()
            .map(|(place, record)| {
                time = record.time.unwrap_or(time);
                (time, Reverse(place), record.id)
            })
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(time, _, id)| (time, id)).collect()
    }

    /// How many bullets of a kind have no id yet.
    pub(super) fn unnumbered(&self, kind: RecordKind) -> usize {
        let layout = Layout::of(self.document);
        entries(self.document, &layout)
            .filter(|entry| entry.kind == kind && entry.id.is_none() && !entry.is_empty())
            .count()
    }

    /// Archives the oldest records of a kind that have no place beside `coming` new ones. Bullets that have no id
    /// yet take their places and stay: a person has just written them.
    pub(super) fn prune(
        &mut self,
        kind: RecordKind,
        coming: usize,
        sizes: &Sizes,
    ) -> Result<(), WindowError> {
        let there = self.oldest_first(kind);
        let keep = sizes.of(kind);
        let over = (there.len() + self.unnumbered(kind) + coming).saturating_sub(keep);
        let what = match kind {
            RecordKind::Decision => "decisions",
            _ => "recent tasks",
        };
        for (_, id) in there.into_iter().take(over) {
            self.archive(id, &format!("left the window of {keep} {what}"))?;
        }
        Ok(())
    }

    /// The document after it, `Updated:` moved if anything was done.
    pub(super) fn finish(mut self, sizes: &Sizes) -> Result<Written, WindowError> {
        if self.reserved || !self.operations.is_empty() {
            self.status.updated = Some(self.updated.trunc_subsecs(0));
            let body = self.status.body_on(self.document);
            self.edit.rewrite(ManagedSection::ActiveContext, body);
        }
        let (text, counters) = self.edit.finish();
        let (before, bytes, limit) = (self.document.len(), text.len(), sizes.context_bytes);
        if bytes > limit && text != self.document {
            return Err(WindowError::TooLarge { before, bytes, limit });
        }
        Ok(Written {
            text,
            counters,
            operations: self.operations,
            added: self.added,
            archived: self.archived,
        })
    }
}

#[cfg(test)]
mod tests;
