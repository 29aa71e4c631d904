//! Reading the folder, as people and the service write it.

use super::super::status::Status;
use super::super::take_over::BroughtTask;
use super::super::{EPIC_BYTES, STATUS_BYTES};
use super::entry::{Entry, entry_of, fits, read};
use super::render::RULE;
use super::{DECISIONS, EPICS, Folder, HISTORY, Parsed, RULES, STATUS, Unplaced};
use chrono::{DateTime, Utc};
use std::collections::HashMap;

/// Reads the files of a folder, in any order; files of other names are left alone. Never fails: what cannot be placed
/// is listed. Linear.
#[must_use]
pub fn parse<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Parsed {
    let mut parsed = Parsed::default();
    let mut epics = Vec::new();
    for (path, text) in files {
        let Parsed { folder, unplaced } = &mut parsed;
        let mut reader = Reader { path, unplaced };
        match path {
            RULES => folder.rules = rules(text),
            STATUS => reader.status(text, folder),
            DECISIONS => folder.decisions = reader.entries(text.lines().enumerate()),
            HISTORY => folder.history = reader.entries(text.lines().enumerate()),
            _ if path.starts_with(EPICS) && path.ends_with(".md") => epics.push(reader.epic(text)),
            _ => {}
        }
    }
    for (name, tasks) in epics {
        join(&mut parsed.folder, &name, tasks);
    }
    parsed
}

/// Notes the epic on the tasks of the history that it names; those that the history lacks come behind it.
fn join(folder: &mut Folder, name: &str, tasks: Vec<BroughtTask>) {
    let mut places: HashMap<(DateTime<Utc>, String), Vec<usize>> = HashMap::new();
    for (place, task) in folder.history.iter().enumerate().rev() {
        if task.task.epic.as_deref().is_none_or(|epic| epic == name) {
            places.entry((task.time, task.words())).or_default().push(place);
        }
    }
    for mut task in tasks {
        let place = places.get_mut(&(task.time, task.words())).and_then(Vec::pop);
        match place {
            Some(place) => folder.history[place].task.epic = Some(name.to_owned()),
            None => {
                task.task.epic = Some(name.to_owned());
                folder.history.push(task);
            }
        }
    }
}

/// Rules as the service writes them, or, in a file of a person, one for each section of the second level and one for
/// what stands before the first.
fn rules(text: &str) -> Vec<String> {
    if !text.lines().any(|line| line == RULE) {
        return sections(text);
    }
    let mut rules: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.trim_end() == RULE {
            rules.push(String::new());
        } else if let Some(rule) = rules.last_mut() {
            let escaped = line.starts_with('\\') && line.trim_start_matches('\\').starts_with(RULE);
            rule.push_str(if escaped { &line[1..] } else { line });
        }
    }
    for rule in &mut rules {
        let kept = rule
            .strip_suffix("\n\n")
            .or_else(|| rule.strip_suffix('\n'))
            .unwrap_or(rule);
        rule.truncate(kept.len());
    }
    rules
}

fn sections(text: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    let mut in_fence = false;
    for line in text.lines() {
        in_fence ^= line.trim_start().starts_with("```");
        if !in_fence && line.starts_with("# ") {
            continue;
        }
        if !in_fence && line.starts_with("## ") {
            sections.push(String::new());
        }
        if let Some(section) = sections.last_mut() {
            section.push_str(line);
            section.push('\n');
        }
    }
    let said = sections
        .iter()
        .map(|section| section.trim())
        .filter(|section| !section.is_empty());
    said.map(str::to_owned).collect()
}

/// An entry on its way.
struct Open<'t> {
    index: usize,
    line: &'t str,
    time: DateTime<Utc>,
    words: String,
    is_heading: bool,
}

/// One file on its way.
struct Reader<'p> {
    path: &'p str,
    unplaced: &'p mut Vec<Unplaced>,
}

impl Reader<'_> {
    fn unplaced(&mut self, index: usize, line: &str) {
        if !line.trim().is_empty() {
            self.unplaced.push(Unplaced {
                file: self.path.to_owned(),
                line: index + 1,
                text: line.to_owned(),
            });
        }
    }

    /// Entries that begin with a date. Deeper lines and prose below a heading with a date belong to it. What no memory
    /// could hold is not placed.
    fn entries<'t, E: Entry>(&mut self, lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<E> {
        let mut found: Vec<E> = Vec::new();
        let mut open: Option<Open<'t>> = None;
        let mut date = None;
        for (index, line) in lines {
            let is_heading = line.starts_with('#');
            let begin = |time, words: &str, is_heading| Open {
                index,
                line,
                time,
                words: words.to_owned(),
                is_heading,
            };
            if let Some((time, words)) = read(line) {
                found.extend(self.close(open.replace(begin(time, words, is_heading))));
                date = None;
            } else if is_heading {
                found.extend(self.close(open.take()));
                // `## 2026-11-21` alone dates the bullets below it; a title says nothing more.
                date = read(&format!("{line} x")).map(|(time, _)| time);
            } else if let Some((time, bullet)) =
                date.zip(line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")))
            {
                found.extend(self.close(open.replace(begin(time, bullet.trim(), false))));
            } else if let Some(Open {
                words, is_heading, ..
            }) = &mut open
                && !line.trim().is_empty()
                && (*is_heading || line.starts_with([' ', '\t']))
            {
                let is_first = *is_heading && !words.contains(": ");
                words.push_str(if is_first { ": " } else { " " });
                words.push_str(line.trim().trim_start_matches(['-', '*']).trim_start());
            } else {
                self.unplaced(index, line);
            }
        }
        found.extend(self.close(open));
        found
    }

    fn close<E: Entry>(&mut self, open: Option<Open<'_>>) -> Option<E> {
        let Open {
            index,
            line,
            time,
            words,
            ..
        } = open?;
        let entry = entry_of::<E>(time, &words).within_limits();
        if entry.is_none() {
            self.unplaced(index, line);
        }
        entry
    }

    fn status(&mut self, text: &str, folder: &mut Folder) {
        let mut rest = Vec::new();
        let mut heading = None;
        for (index, line) in text.lines().enumerate() {
            let bare = line.trim().trim_start_matches(['-', '*', '#', ' ']);
            let (name, value) = bare.split_once(':').unwrap_or((bare, ""));
            let is_bold = name.contains('*') || line.contains(":**");
            let name = name.trim_matches(['*', ' ']).to_lowercase();
            let value = if is_bold {
                value.trim_start_matches('*')
            } else {
                value
            }
            .trim();
            let known =
                matches!(name.as_str(), "goal" | "blocker" | "blockers" | "updated") && read(line).is_none();
            match (known, heading.take()) {
                (true, _) if value.is_empty() && line.starts_with('#') => heading = Some(name),
                (true, _) if !is_told(value) => self.unplaced(index, line),
                (true, _) => set(&mut folder.status, &name, value),
                (false, Some(name)) if bare.is_empty() => heading = Some(name),
                (false, Some(_)) if !line.starts_with('#') && !is_told(bare) => self.unplaced(index, line),
                (false, Some(name)) if !line.starts_with('#') => set(&mut folder.status, &name, bare),
                (false, _) => rest.push((index, line)),
            }
        }
        folder.tasks = self.entries(rest.into_iter());
    }

    fn epic(&mut self, text: &str) -> (String, Vec<BroughtTask>) {
        let file = self
            .path
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .trim_end_matches(".md");
        let title = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let name = title
            .map(str::trim)
            .filter(|title| !title.is_empty() && fits(title, EPIC_BYTES))
            .unwrap_or_else(|| &file[..file.floor_char_boundary(EPIC_BYTES)])
            .to_owned();
        if let Some(line) = title.filter(|title| !fits(title.trim(), EPIC_BYTES)) {
            self.unplaced(0, line);
        }
        let skipped = usize::from(title.is_some());
        (name, self.entries(text.lines().enumerate().skip(skipped)))
    }
}

/// Whether a memory can hold it as a goal or a blocker.
fn is_told(value: &str) -> bool {
    fits(value, STATUS_BYTES)
}

/// Sets one line of the status; the first that says something counts.
fn set(status: &mut Status, name: &str, value: &str) {
    let told = Status::new(Some(value), Some(value));
    match name {
        "goal" => status.goal = status.goal.take().or(told.goal),
        "updated" => {
            let time = read(&format!("{value} x")).map(|(time, _)| time);
            status.updated = status.updated.or(time);
        }
        _ => status.blocker = status.blocker.take().or(told.blocker),
    }
}
