//! Renders the folder.

use super::contents::Folder;
use super::entry::{Entry, written};
use crate::cli::window::folder::contents::{DECISIONS, EPICS, HISTORY, RULES, RULES_TITLE, STATUS, is_week};
use crate::domain::document::written_time;
use crate::domain::window::ImportedTask;
use chrono::Datelike as _;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The line before each rule.
pub(super) const RULE: &str = "<!-- rule -->";

/// Written if there is no goal or no blocker.
const NONE: &str = "none";

/// Renders the files of a folder as (path inside it, text), in the order of the module's list. Linear.
#[must_use]
pub(in super::super) fn render(folder: &Folder) -> Vec<(String, String)> {
    let mut files = vec![
        (RULES.to_owned(), rules(&folder.rules)),
        (STATUS.to_owned(), status(folder)),
        (DECISIONS.to_owned(), list("# Decisions", &folder.decisions)),
        (HISTORY.to_owned(), history(&folder.history)),
    ];
    let mut epics: BTreeMap<&str, Vec<&ImportedTask>> = BTreeMap::new();
    for task in &folder.history {
        if let Some(epic) = &task.task.details.epic {
            epics.entry(epic).or_default().push(task);
        }
    }
    let mut used_names = UsedNames::default();
    for (epic, tasks) in epics {
        let mut text = format!("# {epic}\n\n");
        for task in tasks {
            text.push_str(&written(&without_epic(task)));
        }
        files.push((format!("{EPICS}{}.md", used_names.file_name(epic)), text));
    }
    let mut weeks: BTreeMap<String, Vec<ImportedTask>> = BTreeMap::new();
    for task in &folder.history {
        let week = task.time.iso_week();
        let name = format!("{:04}-W{:02}", week.year(), week.week());
        weeks.entry(name).or_default().push(without_epic(task));
    }
    for (week, tasks) in weeks {
        files.push((format!("{EPICS}{week}.md"), list(&format!("# {week}"), &tasks)));
    }
    files
}

fn list(title: &str, entries: &[impl Entry]) -> String {
    let mut text = format!("{title}\n\n");
    text.extend(entries.iter().map(written));
    text
}

/// The epic of a task is stored in the file of the epic.
fn history(tasks: &[ImportedTask]) -> String {
    let tasks: Vec<_> = tasks.iter().map(without_epic).collect();
    list("# History", &tasks)
}

fn without_epic(task: &ImportedTask) -> ImportedTask {
    let mut task = task.clone();
    task.task.details.epic = None;
    task
}

fn status(folder: &Folder) -> String {
    let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| NONE.to_owned());
    let mut text = format!(
        "# Current Status\n\nCurrent Goal: {}\nActive Blocker: {}\n",
        shown(&folder.status.goal),
        shown(&folder.status.blocker)
    );
    if let Some(updated) = folder.status.updated {
        text.push_str(&format!("Last Updated: {}\n", written_time(updated)));
    }
    text.push('\n');
    text + &list("## Recent Tasks", &folder.tasks)
}

fn rules(rules: &[String]) -> String {
    let mut text = format!("{RULES_TITLE}\n\n");
    for rule in rules {
        text.push_str(RULE);
        text.push('\n');
        for line in rule.split_inclusive('\n') {
            // Escapes a line of a rule that looks like the marker, with an additional backslash.
            if line.trim_start_matches('\\').starts_with(RULE) {
                text.push('\\');
            }
            text.push_str(line);
        }
        text.push_str("\n\n");
    }
    text
}

/// File names in use.
#[derive(Default)]
struct UsedNames {
    names: HashSet<String>,
    /// How often each name was requested.
    numbers: HashMap<String, usize>,
}

impl UsedNames {
    /// Returns a unique name that is valid on any file system.
    fn file_name(&mut self, epic: &str) -> String {
        let mut name: String = epic
            .chars()
            .take(64)
            .map(|c| {
                if c.is_ascii_alphanumeric() {
                    c.to_ascii_lowercase()
                } else {
                    '-'
                }
            })
            .collect();
        name = match name.trim_matches('-') {
            "" => "epic".to_owned(),
            trimmed => trimmed.to_owned(),
        };
        // The names of weeks are theirs, on any file system.
        let first = usize::from(is_week(&name));
        let number = self.numbers.entry(name.clone()).or_insert(first);
        loop {
            *number += 1;
            let free = match *number {
                1 => name.clone(),
                number => format!("{name}-{number}"),
            };
            if self.names.insert(free.clone()) {
                return free;
            }
        }
    }
}
