//! Parses the folder, as people and the service write it.

use super::super::details::fits;
use super::super::import::ImportedTask;
use super::super::status::Status;
use super::super::{EPIC_BYTES, STATUS_BYTES};
use super::contents::{Folder, Parsed, Unplaced};
use super::entry::{Entry, begins_with_id, entry_of, read};
use super::files::{DECISIONS, EPICS, HISTORY, RULES, STATUS, WEEKLY};
use super::render::RULE;
use chrono::{DateTime, Utc};
use std::collections::{HashMap, HashSet};

/// Parses the files of a folder, in any order; files with other names are ignored. A bullet without a date
/// gets that of the entry above it, or else the time of the status, or else `undated`. Never fails: lines
/// that cannot be placed are reported. Linear.
#[must_use]
pub fn parse<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>, undated: DateTime<Utc>) -> Parsed {
    let mut parsed = Parsed::default();
    let mut files: Vec<(&str, &str)> = files.into_iter().collect();
    // The status comes first: it contains the default time.
    files.sort_by_key(|(path, _)| *path != STATUS);
    let (mut epics, mut weeks) = (Vec::new(), Vec::new());
    for (path, text) in files {
        let Parsed { folder, unplaced } = &mut parsed;
        let mut reader = Reader {
            path,
            unplaced,
            undated: folder.status.updated.unwrap_or(undated),
        };
        let lines = text.lines().enumerate();
        match path {
            RULES => folder.rules = rules(text),
            STATUS => reader.status(text, folder),
            DECISIONS => folder.decisions = reader.entries(lines, Undated::Anywhere),
            HISTORY => folder.history = reader.entries(lines, Undated::Anywhere),
            _ if path.starts_with(EPICS) && path.ends_with(".md") => epics.push(reader.epic(text)),
            _ if path.starts_with(WEEKLY) && path.ends_with(".md") => {
                weeks.extend(reader.entries::<ImportedTask>(lines, Undated::Anywhere));
            }
            _ => {}
        }
    }
    for (name, tasks) in epics {
        join(&mut parsed.folder, &name, tasks);
    }
    complete(&mut parsed.folder, weeks);
    parsed
}

/// Adds the tasks of weekly summaries that are missing in the history.
fn complete(folder: &mut Folder, weeks: Vec<ImportedTask>) {
    let mut there: HashSet<(DateTime<Utc>, String)> = folder
        .history
        .iter()
        .map(|task| (task.time, task.words()))
        .collect();
    let mut missing = weeks;
    missing.retain(|task| there.insert((task.time, task.words())));
    folder.history.extend(missing);
}

/// Where bullets without a date count as entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Undated {
    /// Anywhere in the file, because it is a list of entries.
    Anywhere,
    /// Below a heading that names tasks, and wherever they begin with an id.
    BelowTasks,
}

impl Undated {
    fn takes_below(self, heading: &str) -> bool {
        const NAMES: [&str; 4] = ["task", "recent", "completed", "done"];
        const TO_COME: [&str; 8] = [
            "next",
            "todo",
            "to do",
            "upcoming",
            "remaining",
            "open",
            "planned",
            "pending",
        ];
        let heading = heading.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| heading.contains(word));
        self == Self::Anywhere || has(&NAMES) && !has(&TO_COME)
    }
}

/// The text of a bullet in column 0. A ticked checkbox is an entry; an unticked one is not.
fn bullet(line: &str) -> Option<&str> {
    let text = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))?
        .trim();
    let done = text.strip_prefix("[x] ").or_else(|| text.strip_prefix("[X] "));
    let text = done.unwrap_or(text).trim();
    (!text.is_empty() && !text.starts_with("[ ]")).then_some(text)
}

/// Sets the epic on the listed tasks of the history; missing tasks are appended.
fn join(folder: &mut Folder, name: &str, tasks: Vec<ImportedTask>) {
    let mut places: HashMap<(DateTime<Utc>, String), Vec<usize>> = HashMap::new();
    for (place, task) in folder.history.iter().enumerate().rev() {
        if task.task.details.epic.as_deref().is_none_or(|epic| epic == name) {
            places.entry((task.time, task.words())).or_default().push(place);
        }
    }
    for mut task in tasks {
        let place = places.get_mut(&(task.time, task.words())).and_then(Vec::pop);
        match place {
            Some(place) => folder.history[place].task.details.epic = Some(name.to_owned()),
            None => {
                task.task.details.epic = Some(name.to_owned());
                folder.history.push(task);
            }
        }
    }
}

/// Parses rules as written by the service. In a file written by a person, each section of the second level
/// and the text before the first one is a rule.
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
    let texts = sections
        .iter()
        .map(|section| section.trim())
        .filter(|section| !section.is_empty());
    texts.map(str::to_owned).collect()
}

/// An entry being parsed.
struct Open<'t> {
    index: usize,
    line: &'t str,
    time: DateTime<Utc>,
    words: String,
    is_heading: bool,
    is_dated: bool,
}

/// The parser state of one file.
struct Reader<'p> {
    path: &'p str,
    unplaced: &'p mut Vec<Unplaced>,
    /// The time of entries without one.
    undated: DateTime<Utc>,
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

    /// Parses entries that begin with a date, and bullets without one. Deeper lines and prose below a dated
    /// heading belong to it. Entries that no memory could store are reported as unplaced.
    fn entries<'t, E: Entry>(
        &mut self,
        lines: impl Iterator<Item = (usize, &'t str)>,
        undated: Undated,
    ) -> Vec<E> {
        let mut found: Vec<E> = Vec::new();
        let mut open: Option<Open<'t>> = None;
        let mut date = None;
        let mut last = self.undated;
        let mut takes_undated = undated == Undated::Anywhere;
        for (index, line) in lines {
            let is_heading = line.starts_with('#');
            let begin = |time, words: &str, is_heading| Open {
                index,
                line,
                time,
                words: words.to_owned(),
                is_heading,
                is_dated: true,
            };
            if let Some((time, words)) = read(line) {
                last = time;
                found.extend(self.close(open.replace(begin(time, words, is_heading))));
                date = None;
            } else if is_heading {
                found.extend(self.close(open.take()));
                // A heading with only a date sets the date of the bullets below it; a title adds nothing.
                date = read(&format!("{line} x")).map(|(time, _)| time);
                takes_undated = undated.takes_below(line);
            } else if let Some((time, bullet)) =
                date.zip(line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")))
            {
                last = time;
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
            } else if let Some(words) = bullet(line).filter(|words| takes_undated || begins_with_id(words)) {
                let mut next = begin(last, words, false);
                next.is_dated = false;
                found.extend(self.close(open.replace(next)));
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
            is_dated,
            ..
        } = open?;
        let entry = entry_of::<E>(time, &words);
        let entry = if is_dated { entry } else { entry.undated() };
        let entry = entry.within_limits();
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
            let name = key_of(name.trim_matches(['*', ' ']));
            let value = if is_bold {
                value.trim_start_matches('*')
            } else {
                value
            }
            .trim();
            let name = name.filter(|_| read(line).is_none());
            match (name, heading.take()) {
                (Some(key), _) if value.is_empty() && line.starts_with('#') => heading = Some(key),
                (Some(_), _) if !fits_status(value) => self.unplaced(index, line),
                (Some(key), _) => self.set(&mut folder.status, key, value, (index, line)),
                (None, Some(key)) if bare.is_empty() => heading = Some(key),
                (None, Some(_)) if !line.starts_with('#') && !fits_status(bare) => self.unplaced(index, line),
                (None, Some(key)) if !line.starts_with('#') => {
                    self.set(&mut folder.status, key, bare, (index, line));
                }
                (None, _) => rest.push((index, line)),
            }
        }
        self.undated = folder.status.updated.unwrap_or(self.undated);
        folder.tasks = self.entries(rest.into_iter(), Undated::BelowTasks);
    }

    /// Sets one field of the status. The first value counts; a time that cannot be parsed is reported as
    /// unplaced.
    fn set(&mut self, status: &mut Status, key: Key, value: &str, (index, line): (usize, &str)) {
        let parsed = Status::new(Some(value), Some(value));
        match key {
            Key::Goal => status.goal = status.goal.take().or(parsed.goal),
            Key::Blocker => status.blocker = status.blocker.take().or(parsed.blocker),
            Key::Updated => match read(&format!("{value} x")) {
                Some((time, _)) => status.updated = status.updated.or(Some(time)),
                None => self.unplaced(index, line),
            },
        }
    }

    fn epic(&mut self, text: &str) -> (String, Vec<ImportedTask>) {
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
        let lines = text.lines().enumerate().skip(skipped);
        (name, self.entries(lines, Undated::Anywhere))
    }
}

/// Whether a memory can store it as a goal or a blocker.
fn fits_status(value: &str) -> bool {
    fits(value, STATUS_BYTES)
}

/// The field that a line or heading of the status sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Goal,
    Blocker,
    Updated,
}

/// Parses a field name as people write it: `Goal`, `Current Goal`, `Active Blockers`, `Last Updated`.
fn key_of(name: &str) -> Option<Key> {
    let name = name.to_lowercase();
    let bare = ["current ", "active ", "last "]
        .into_iter()
        .find_map(|before| name.strip_prefix(before))
        .unwrap_or(&name);
    match bare.trim() {
        "goal" | "goals" => Some(Key::Goal),
        "blocker" | "blockers" => Some(Key::Blocker),
        "updated" | "update" => Some(Key::Updated),
        _ => None,
    }
}
