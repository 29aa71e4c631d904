//! Imports tasks, decisions, a history and a status, each with its original time.
//!
//! Entries that fit into the window go there; all others go directly to the archive. Entries that the memory
//! already contains are skipped, so an import can be repeated. A task is identified by its id, or by its
//! time, its intent and the first sentence of its summary; a decision by its text.

use super::archive::first_sentence;
use super::change::{Change, decision_record};
use super::status::Status;
use super::task::{DERIVED, DERIVED_BYTES, Task, task_line, without_reason};
use crate::domain::document::{Record, written_time};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::memory::{ChangedDocument, EditError};
use crate::domain::operation::AddedRecord;
use crate::domain::text::one_line;
use chrono::{DateTime, SubsecRound as _, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::ops::AddAssign;
use utoipa::ToSchema;

/// A task to import, and when it was completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportedTask {
    /// When it was completed, in whole seconds.
    pub time: DateTime<Utc>,
    /// The record id it had at its source, for information only; it gets a new id here.
    #[serde(skip)]
    pub record: Option<RecordId>,
    /// The task. For a history entry the summary may be its first sentence only.
    #[serde(flatten)]
    pub task: Task,
}

/// A decision and when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedDecision {
    /// When it was made; whole seconds are kept.
    pub time: DateTime<Utc>,
    /// What was decided; at most 2,000 bytes.
    pub decision: String,
    /// Why; one line of at most 2,000 bytes without a colon that a blank follows.
    pub reason: Option<String>,
}

/// The data to import, as the command line sends it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WindowImport {
    /// Goal and blocker; imported only if the memory has no goal. If the import has none, `Updated:` does not
    /// move beyond its time.
    pub status: Status,
    /// Tasks for the window.
    pub tasks: Vec<ImportedTask>,
    /// Decisions for the window.
    pub decisions: Vec<ImportedDecision>,
    /// Tasks for the archive.
    pub history: Vec<ImportedTask>,
}

/// The tasks and decisions that the memory already contains, by what identifies them.
#[derive(Debug, Clone, Default)]
pub struct KnownEntries(HashSet<String>);

/// Numbers of what was brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = WindowImportCounts)]
pub struct ImportCounts {
    /// 0 or 1.
    pub status: usize,
    /// Recent tasks.
    pub tasks: usize,
    /// Decisions.
    pub decisions: usize,
    /// Older tasks.
    pub history: usize,
}

/// Facts of tasks and decisions that no document contains.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WindowRows {
    /// The reported facts of tasks that are added to the document.
    pub tasks: Vec<(RecordId, Task)>,
    /// Records that go directly to the archive, as a document would have them, with the tasks that they are.
    pub historic: Vec<(Record, Option<Task>)>,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportResult {
    /// The document.
    pub written: ChangedDocument,
    /// What it does not contain.
    pub rows: WindowRows,
    /// Number of entries imported.
    pub imported: ImportCounts,
    /// Number of entries skipped because they already existed.
    pub present: ImportCounts,
}

impl AddAssign for ImportCounts {
    fn add_assign(&mut self, more: Self) {
        self.status += more.status;
        self.tasks += more.tasks;
        self.decisions += more.decisions;
        self.history += more.history;
    }
}

impl ImportCounts {
    /// The numbers of what an import holds.
    fn of(import: &WindowImport) -> Self {
        let status = &import.status;
        Self {
            status: usize::from(status.goal.is_some() || status.blocker.is_some()),
            tasks: import.tasks.len(),
            decisions: import.decisions.len(),
            history: import.history.len(),
        }
    }
}

impl WindowImport {
    /// Removes the entries that are already known, adds the others to `known`, and returns them with the
    /// number of removed ones. If the memory has a status (`has_status`), that is not imported. If a
    /// task appears both in the window and in the history, the window's copy counts because it is more
    /// complete.
    fn unknown(mut self, known: &mut KnownEntries, has_status: bool) -> (Self, ImportCounts) {
        let all = ImportCounts::of(&self);
        if has_status {
            self.status = Status::default();
        }
        let mut is_new = |task: &ImportedTask| known.insert_if_new(task.time, &task.task);
        self.tasks.retain(&mut is_new);
        self.history.retain(&mut is_new);
        self.decisions
            .retain(|made| known.0.insert(words(&made.decision, made.reason.as_deref())));
        let new = ImportCounts::of(&self);
        let present = ImportCounts {
            status: all.status - new.status,
            tasks: all.tasks - new.tasks,
            decisions: all.decisions - new.decisions,
            history: all.history - new.history,
        };
        (self, present)
    }
}

impl ImportedTask {
    /// Removes a task id that was derived from time and text; importing the task again would derive the same
    /// one.
    #[must_use]
    pub fn without_derived_id(mut self) -> Self {
        self.task.task_id = self.task.own_id().cloned();
        self
    }

    /// Assigns a task without a date an id derived only from its text, so that it is recognised whatever time
    /// it gets.
    #[must_use]
    pub fn undated(mut self) -> Self {
        if self.task.task_id.is_none() {
            self.task.task_id = derived_id(None, &self.task).parse().ok();
        }
        self
    }
}

impl KnownEntries {
    /// Registers a task of the memory.
    pub fn task(&mut self, time: DateTime<Utc>, task: &Task) {
        self.insert_if_new(time, task);
        // An undated line with the same text is the same task.
        self.0.insert(derived_id(None, task));
    }

    /// Registers a decision of the memory.
    pub fn decision(&mut self, decision: &str, reason: Option<&str>) {
        self.0.insert(words(decision, reason));
    }

    /// Whether a task is not known yet; registers it. It is known by its id, or by its time and text: of two with ids of their own
    /// only the ids count.
    fn insert_if_new(&mut self, time: DateTime<Utc>, task: &Task) -> bool {
        let derived = derived_id(Some(time), task);
        let of_one_with_id = format!("{derived}+");
        let (known_by, registered) = match task.own_id() {
            Some(_) => (vec![derived], of_one_with_id),
            None => (vec![derived.clone(), of_one_with_id], derived),
        };
        let id = task.task_id.as_ref().map(|id| id.as_str().to_owned());
        let is_new = !id.iter().chain(&known_by).any(|name| self.0.contains(name));
        self.0.extend(id.into_iter().chain([registered]));
        is_new
    }
}

/// Derives the id of a task from its time (if it has one), its intent and the first sentence of its summary.
fn derived_id(time: Option<DateTime<Utc>>, task: &Task) -> String {
    let time = time.map(written_time).unwrap_or_default();
    // A folder has the intent as its line says it.
    let intent = without_reason(one_line(&task.intent));
    let words = [time, intent, first_sentence(&task.summary)];
    let hash = Sha256::digest(words.join("\n"));
    format!("{DERIVED}{}", hex::encode(&hash[..DERIVED_BYTES]))
}

/// A decision and its reason as a document would store them, so that they compare equal after parsing. On two lines, so that
/// it is no id of a task.
fn words(decision: &str, reason: Option<&str>) -> String {
    let record = decision_record(decision, reason);
    format!("{}\n{}", record.content, record.reason).replace(": ", "; ")
}

/// Imports the entries that are not known yet.
///
/// # Errors
///
/// [`EditError`]; nothing is imported.
pub fn import_window(
    mut change: Change<'_>,
    imported: WindowImport,
    mut known: KnownEntries,
) -> Result<ImportResult, EditError> {
    // A blocker without a goal replaces none.
    let is_of_blocker = imported.status.goal.is_none() && change.status.blocker.is_some();
    let has_status = change.status.goal.is_some() || is_of_blocker;
    let updated = imported.status.updated.filter(|_| !has_status);
    let (imported, present) = imported.unknown(&mut known, has_status);
    let counts = ImportCounts::of(&imported);
    if counts.status > 0 {
        let mut status = imported.status;
        status.blocker = change.status.blocker.clone().or(status.blocker);
        change.replace_status(status);
    }
    if let Some(updated) = updated {
        change.as_of(updated);
    }
    let tasks = imported.tasks.into_iter().map(NewEntry::of_task).collect();
    let history = imported.history.into_iter().map(NewEntry::of_task).collect();
    let decisions = imported.decisions.into_iter().map(|made| NewEntry {
        time: made.time,
        record: decision_record(&made.decision, made.reason.as_deref()),
        task: None,
    });
    let mut rows = WindowRows::default();
    for (kind, entries, mut past) in [
        (RecordKind::Task, tasks, history),
        (RecordKind::Decision, decisions.collect(), Vec::new()),
    ] {
        let (recent, older) = split(&change, kind, entries);
        past.extend(older);
        past.sort_by_key(|entry: &NewEntry| entry.time);
        for NewEntry { time, record, task } in past {
            let record = Record {
                id: change.reserve(kind)?,
                time: Some(time.trunc_subsecs(0)),
                marks: record.marks,
                reason: Some(record.reason).filter(|reason| !reason.is_empty()),
                label: None,
                content: record.content,
            };
            rows.historic.push((record, task));
        }
        change.prune(kind, recent.len())?;
        for entry in recent {
            let id = change.edit.add(kind, &entry.record, entry.time)?;
            rows.tasks.extend(entry.task.map(|task| (id, task)));
        }
    }
    Ok(ImportResult {
        written: change.finish()?,
        rows,
        imported: counts,
        present,
    })
}

/// A task or a decision to add: its record, and the task as it was reported.
struct NewEntry {
    time: DateTime<Utc>,
    record: AddedRecord,
    task: Option<Task>,
}

impl NewEntry {
    fn of_task(ImportedTask { time, mut task, .. }: ImportedTask) -> Self {
        // A derived id is not written on the line.
        let content = task_line(&task);
        let id = task.task_id.take();
        task.task_id = id.or_else(|| derived_id(Some(time), &task).parse().ok());
        Self {
            time,
            record: AddedRecord {
                content,
                ..AddedRecord::default()
            },
            task: Some(task),
        }
    }
}

/// Splits entries into those that fit into the window beside the existing ones (the newest take precedence)
/// and the rest; both oldest first.
fn split(
    change: &Change<'_>,
    kind: RecordKind,
    mut entries: Vec<NewEntry>,
) -> (Vec<NewEntry>, Vec<NewEntry>) {
    entries.sort_by_key(|entry| entry.time);
    // Of two of the same time the existing one is the newer.
    let there = change.oldest_first(kind).into_iter();
    let there = there.map(|(time, _)| (time, true));
    let coming = entries.iter().map(|entry| (entry.time, false));
    let mut all: Vec<_> = coming.chain(there).collect();
    all.sort_unstable();
    let fit = all.iter().rev().take(change.room(kind));
    let fit = fit.filter(|(_, is_there)| !is_there).count();
    let recent = entries.split_off(entries.len() - fit);
    (recent, entries)
}
