//! The result of an import: how much was imported, how much existed already, and what was left out.

use super::folder::Newest;
use super::folder::Unplaced;
use crate::cli::client::{Failure, Output};
use crate::domain::window::{ImportCounts, WindowImport};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A file that was left out.
#[derive(Debug, Serialize)]
pub(super) struct Unread {
    pub(super) file: String,
    pub(super) why: String,
}

impl Unread {
    pub(super) fn of(file: &str, error: &std::io::Error) -> Self {
        Self {
            file: file.to_owned(),
            why: error.to_string(),
        }
    }
}

/// The number of each.
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
        let counts = parts.into_iter().filter(|(number, ..)| *number > 0);
        let counts: Vec<_> = counts
            .map(|(number, one, several)| format!("{number} {}", if number == 1 { one } else { several }))
            .collect();
        if counts.is_empty() {
            "nothing".to_owned()
        } else {
            counts.join(", ")
        }
    }
}

impl From<ImportCounts> for Numbers {
    fn from(counts: ImportCounts) -> Self {
        Self {
            status: counts.status,
            tasks: counts.tasks,
            decisions: counts.decisions,
            history: counts.history,
            rules: 0,
        }
    }
}

/// The service's response to a chunk.
#[derive(Debug, Deserialize)]
pub(super) struct Answered {
    version: Option<i64>,
    context_id: Option<String>,
    taken: Numbers,
    present: Numbers,
    archived: Vec<String>,
}

/// The result of an import.
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
    newest: Vec<Newest>,
}

impl Report {
    pub(super) fn new(
        dry_run: bool,
        unplaced: Vec<Unplaced>,
        unread: Vec<Unread>,
        newest: Vec<Newest>,
    ) -> Self {
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
            newest,
        }
    }

    /// Adds the result of a chunk.
    pub(super) fn add(&mut self, answered: Answered) {
        self.taken.add(&answered.taken);
        self.present.add(&answered.present);
        self.archived.extend(answered.archived);
        (self.version, self.context_id) = (answered.version, answered.context_id);
    }

    /// Adds what a dry run found to be new.
    pub(super) fn add_planned(&mut self, new: &WindowImport, present: ImportCounts) {
        self.taken.add(&Numbers {
            status: usize::from(new.status.goal.is_some() || new.status.blocker.is_some()),
            tasks: new.tasks.len(),
            decisions: new.decisions.len(),
            history: new.history.len(),
            rules: 0,
        });
        self.present.add(&present.into());
    }

    /// What was imported so far, in words.
    pub(super) fn imported_so_far(&self) -> String {
        self.taken.words()
    }

    pub(super) fn add_rules(&mut self, rules: usize) {
        self.taken.rules += rules;
    }

    pub(super) fn present_rules(&mut self, rules: usize) {
        self.present.rules += rules;
    }

    /// Prints it.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) fn print(mut self, as_json: bool) -> Result<(), Failure> {
        self.unchanged = self.taken.sum() == 0;
        if as_json {
            let json = serde_json::to_string(&self).map_err(|error| Failure::failed(error.to_string()))?;
            return Output::new().text(&json).end().write();
        }
        let would = if self.dry_run {
            "would be imported"
        } else {
            "imported"
        };
        let (taken, present) = (self.taken.words(), self.present.words());
        let mut line = format!("{would}: {taken}; already present: {present}");
        if let Some(version) = self.version {
            line.push_str(&format!("; version {version}"));
        }
        let (lines, files) = (self.unplaced.len(), self.unread.len());
        if lines + files > 0 {
            line.push_str(&format!("; {lines} lines not parsed, {files} files not read"));
        }
        Output::new().text(&line).end().write()
    }
}
