//! Sending what a folder said, in requests that a service takes, and what came of it.

use super::import::Unread;
use super::memory::RULES;
use crate::cli::client::{Exit, Failure, Method, Output, Service};
use crate::domain::window::folder::{Folder, Unplaced};
use crate::domain::window::{Brought, BroughtDecision, BroughtTask, Counts};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The most that one request brings, in bytes: well under `limits.body_bytes` (1 MiB).
const MAX_CHUNK_BYTES: usize = 900_000;

/// One request of `POST M/window/import`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Chunk {
    status: Option<Value>,
    tasks: Vec<Value>,
    decisions: Vec<Value>,
    history: Vec<Value>,
}

impl Chunk {
    fn list(&mut self, list: List) -> &mut Vec<Value> {
        match list {
            List::Tasks => &mut self.tasks,
            List::Decisions => &mut self.decisions,
            List::History => &mut self.history,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum List {
    Tasks,
    Decisions,
    History,
}

/// The requests that bring a folder; none if it says nothing. Those for the window come first and the oldest of them
/// before the newer: of equal times the one that stands higher in its file is the newer. The goal comes last, since
/// what comes behind it would move the time of the status.
///
/// # Errors
/// Something has no JSON form.
pub(super) fn chunks(folder: Folder) -> Result<Vec<Chunk>, Failure> {
    let Folder {
        status,
        tasks,
        decisions,
        mut history,
        ..
    } = folder;
    history.sort_by_key(|task| task.time);
    let tasks = tasks.iter().rev().map(|task| (List::Tasks, task_json(task)));
    let decisions = decisions
        .iter()
        .rev()
        .map(|made| (List::Decisions, decision_json(made)));
    let history = history.iter().map(|task| (List::History, task_json(task)));

    let (mut chunks, mut bytes) = (Vec::new(), 0);
    let mut chunk = Chunk::default();
    for (list, entry) in tasks.chain(decisions).chain(history) {
        let size = entry.to_string().len() + 1;
        if bytes > 0 && bytes + size > MAX_CHUNK_BYTES {
            chunks.push(std::mem::take(&mut chunk));
            bytes = 0;
        }
        bytes += size;
        chunk.list(list).push(entry);
    }
    let says_status = status.goal.is_some() || status.blocker.is_some();
    if bytes > 0 || says_status {
        chunks.push(chunk);
    }
    let updated = json!({ "updated": status.updated });
    for chunk in &mut chunks {
        chunk.status = status.updated.map(|_| updated.clone());
    }
    if let Some(last) = chunks.last_mut().filter(|_| says_status) {
        last.status =
            Some(json!({ "goal": status.goal, "blocker": status.blocker, "updated": status.updated }));
    }
    Ok(chunks)
}

fn task_json(BroughtTask { time, task, .. }: &BroughtTask) -> Value {
    json!({ "time": time, "task_id": task.task_id.as_ref().map(|id| id.as_str()), "intent": task.intent,
            "summary": task.summary, "outcome": task.outcome, "epic": task.epic })
}

fn decision_json(made: &BroughtDecision) -> Value {
    json!({ "time": made.time, "decision": made.decision, "reason": made.reason })
}

/// How much of each.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Numbers {
    status: usize,
    tasks: usize,
    decisions: usize,
    history: usize,
    #[serde(default)]
    rules: usize,
}

impl Numbers {
    fn add(&mut self, more: &Self) {
        self.status += more.status;
        self.tasks += more.tasks;
        self.decisions += more.decisions;
        self.history += more.history;
        self.rules += more.rules;
    }

    fn sum(&self) -> usize {
        self.status + self.tasks + self.decisions + self.history + self.rules
    }

    fn words(&self) -> String {
        let parts = [
            (self.status, "status", "status"),
            (self.tasks, "task", "tasks"),
            (self.decisions, "decision", "decisions"),
            (self.history, "history", "history"),
            (self.rules, "rule", "rules"),
        ];
        let said = parts.into_iter().filter(|(number, ..)| *number > 0);
        let said: Vec<_> = said
            .map(|(number, one, several)| format!("{number} {}", if number == 1 { one } else { several }))
            .collect();
        if said.is_empty() {
            "nothing".to_owned()
        } else {
            said.join(", ")
        }
    }
}

impl From<Counts> for Numbers {
    fn from(counts: Counts) -> Self {
        Self {
            status: counts.status,
            tasks: counts.tasks,
            decisions: counts.decisions,
            history: counts.history,
            rules: 0,
        }
    }
}

/// What the service answers to a chunk.
#[derive(Debug, Deserialize)]
pub(super) struct Answered {
    version: Option<i64>,
    context_id: Option<String>,
    taken: Numbers,
    present: Numbers,
    archived: Vec<String>,
}

/// What came of an import.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    dry_run: bool,
    unchanged: bool,
    version: Option<i64>,
    context_id: Option<String>,
    taken: Numbers,
    present: Numbers,
    archived: Vec<String>,
    unplaced: Vec<Value>,
    unread: Vec<Unread>,
}

impl Report {
    pub(super) fn new(dry_run: bool, unplaced: Vec<Unplaced>, unread: Vec<Unread>) -> Self {
        let unplaced = unplaced
            .into_iter()
            .map(|Unplaced { file, line, text }| json!({ "file": file, "line": line, "text": text }));
        Self {
            dry_run,
            unchanged: true,
            version: None,
            context_id: None,
            taken: Numbers::default(),
            present: Numbers::default(),
            archived: Vec::new(),
            unplaced: unplaced.collect(),
            unread,
        }
    }

    /// Takes notice of what a chunk came to.
    pub(super) fn add(&mut self, answered: Answered) {
        self.taken.add(&answered.taken);
        self.present.add(&answered.present);
        self.archived.extend(answered.archived);
        (self.version, self.context_id) = (answered.version, answered.context_id);
    }

    /// Takes notice of what a dry run found to be new.
    pub(super) fn would_take(&mut self, new: &Brought, present: Counts) {
        self.taken.add(&Numbers {
            status: usize::from(new.status.goal.is_some() || new.status.blocker.is_some()),
            tasks: new.tasks.len(),
            decisions: new.decisions.len(),
            history: new.history.len(),
            rules: 0,
        });
        self.present.add(&present.into());
    }

    pub(super) fn taken_rules(&mut self, rules: usize) {
        self.taken.rules += rules;
    }

    pub(super) fn present_rules(&mut self, rules: usize) {
        self.present.rules += rules;
    }

    /// Prints it.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) fn tell(mut self, as_json: bool) -> Result<(), Failure> {
        self.unchanged = self.taken.sum() == 0;
        if as_json {
            let json = serde_json::to_string(&self).map_err(|error| Failure::failed(error.to_string()))?;
            return Output::new().text(&json).end().write();
        }
        let would = if self.dry_run { "would be taken" } else { "taken" };
        let (taken, present) = (self.taken.words(), self.present.words());
        let mut line = format!("{would}: {taken}; there already: {present}");
        if let Some(version) = self.version {
            line.push_str(&format!("; version {version}"));
        }
        let (lines, files) = (self.unplaced.len(), self.unread.len());
        if lines + files > 0 {
            line.push_str(&format!(
                "; {lines} lines without a place, {files} files not read"
            ));
        }
        Output::new().text(&line).end().write()
    }
}

/// Adds rules one after the other, so that their order stays.
pub(super) struct RuleSender<'s>(&'s Service);

impl<'s> RuleSender<'s> {
    pub(super) fn of(service: &'s Service) -> Self {
        Self(service)
    }

    /// # Errors
    /// The key does not allow it, or the service refuses a rule; what was taken before stays and is told.
    pub(super) async fn send(&self, rules: &[String], report: &mut Report) -> Result<(), Failure> {
        for rule in rules {
            let call = self.0.of_memory(Method::POST, &["items"])?;
            let call = call.json(&json!({ "content": rule, "category": RULES }))?;
            call.send().await.map_err(|failure| {
                let needs = match failure.exit {
                    Exit::NotAllowed => " (rules need an admin's key)",
                    _ => "",
                };
                let (taken, all) = (report.taken.words(), rules.len());
                let sentence = failure.sentence;
                Failure::new(
                    failure.exit,
                    format!("the rules{needs}: {sentence}; taken before that, of {all} new rules: {taken}"),
                )
            })?;
            report.taken_rules(1);
        }
        Ok(())
    }
}
