//! Parses the folder, as people and the service write it.

use super::entry::{self, add_words, begins_with_id, entry_of, is_writable, read, time_at, written};
use super::items::{Item, Items, Undated, is_code};
use super::{
    By, DECISIONS, End, HISTORY, Newest, Parsed, RULE, RULES, RULES_TITLE, STATUS, Unplaced, WEEKLY, is_week,
    name_of_older,
};
use crate::domain::window::{EPIC_BYTES, ImportedTask, STATUS_BYTES, Status, fits, task_line};
use chrono::{DateTime, Utc};
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::mem::take;

/// Parses the files of a folder, in any order; files with other names are ignored. An entry without a date
/// gets that of the entry above it, or else the time of the status, or else `undated`. Tasks and decisions come newest
/// first, the history oldest first. Never fails: lines that cannot be placed are reported. Linear.
#[must_use]
pub(in crate::cli::window) fn parse<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
    undated: DateTime<Utc>,
) -> Parsed {
    let mut files: Vec<(&str, &str)> = files.into_iter().collect();
    // The status comes first: it contains the default time.
    files.sort_by_key(|(path, _)| *path != STATUS);
    let (mut epics, mut weeks) = (Vec::new(), Vec::new());
    let mut reader = Reader {
        path: "",
        parsed: Parsed::default(),
        undated,
    };
    for (path, text) in files {
        reader.path = path;
        let lines: Vec<_> = text.lines().enumerate().collect();
        match path {
            RULES => reader.parsed.folder.rules = reader.rules(text),
            STATUS => reader.status(&lines),
            DECISIONS => {
                reader.parsed.folder.window.decisions = reader.entries(&lines, Undated::Anywhere, End::First);
            }
            HISTORY => {
                reader.parsed.folder.window.history = reader.entries(&lines, Undated::Anywhere, End::Last);
            }
            _ => match name_of_older(path) {
                Some(_) if path.starts_with(WEEKLY) => {
                    let tasks = reader.entries(&lines, Undated::Anywhere, End::Last);
                    weeks.extend(tasks.into_iter().map(|task| (None, task)));
                }
                Some(name) if is_week(name) => {
                    let tasks = reader.entries(&lines, Undated::BelowTasks, End::Last);
                    weeks.extend(tasks.into_iter().map(|task| (None, task)));
                }
                Some(name) => epics.extend(reader.epic(name, &lines)),
                None => {}
            },
        }
    }
    let mut parsed = reader.parsed;
    let window = &mut parsed.folder.window;
    for list in [&mut window.tasks, &mut window.history] {
        let tasks = take(list).into_iter().map(|task| (None, task));
        complete(list, tasks.collect());
    }
    complete(&mut window.history, epics);
    complete(&mut window.history, weeks);
    parsed
}

/// Adds the tasks of a file, or of files of epics or weeks, that are missing in a list, and what they say about those that are
/// there; all of an epic get its name. A task is the same if it has the same id, or the same time and words.
fn complete(history: &mut Vec<ImportedTask>, tasks: Vec<(Option<String>, ImportedTask)>) {
    let identity = |task: &ImportedTask| match &task.task.task_id {
        Some(id) => (None, id.to_string()),
        None => (Some(task.time), task_line(&task.task)),
    };
    let places = history.iter().enumerate();
    let mut places: HashMap<_, _> = places.map(|(place, task)| (identity(task), place)).collect();
    for (epic, task) in tasks {
        let place = match places.entry(identity(&task)) {
            Entry::Occupied(place) => {
                add_words(&mut history[*place.get()], &task.task);
                *place.get()
            }
            Entry::Vacant(place) => {
                history.push(task);
                *place.insert(history.len() - 1)
            }
        };
        if epic.is_some() {
            history[place].task.details.epic = epic;
        }
    }
}

/// The parser of the files, one after the other.
struct Reader<'p> {
    path: &'p str,
    parsed: Parsed,
    /// The time of entries without one where the status has none.
    undated: DateTime<Utc>,
}

impl Reader<'_> {
    fn unplaced(&mut self, index: usize, line: &str) {
        if !line.trim().is_empty() {
            self.parsed.unplaced.push(Unplaced {
                file: self.path.to_owned(),
                line: index + 1,
                text: line.to_owned(),
            });
        }
    }

    /// Reads the entries of a file, the newest at `wanted`. One without a date gets that of the entry above, or below where
    /// that is older. Entries that no memory could store are reported as unplaced.
    fn entries<E: entry::Entry>(&mut self, lines: &[(usize, &str)], undated: Undated, wanted: End) -> Vec<E> {
        let (items, left_over) = Items::of(lines, E::KIND, undated);
        let mut found = Vec::with_capacity(items.len());
        for item in &items {
            match entry_of::<E>(item) {
                Some((date, entry)) => found.push((date, item, entry)),
                None => {
                    let below = item.body.iter().filter(|(index, _)| *index != item.index);
                    self.unplaced(item.index, item.line);
                    below.for_each(|(index, line)| self.unplaced(*index, line));
                }
            }
        }
        for (index, line) in left_over {
            self.unplaced(index, line);
        }
        let (end, by) = newest_end(self.path, &found);
        if found.len() > 1 {
            let file = self.path.to_owned();
            self.parsed.newest.push(Newest { file, end, by });
        }
        let of_status = self.parsed.folder.window.status.updated;
        let otherwise = of_status.unwrap_or(self.undated);
        let mut last = match (found.iter().find_map(|(date, ..)| *date), end) {
            (Some(first), End::Last) => first,
            (Some(first), End::First) => otherwise.max(first),
            (None, _) => otherwise,
        };
        let dated = found.into_iter().map(|(date, _, mut entry)| {
            last = date.unwrap_or(last);
            *entry.time() = last;
            entry
        });
        let mut entries: Vec<E> = dated.collect();
        if end != wanted {
            entries.reverse();
        }
        entries
    }

    /// Parses rules as written by the service. In a file written by a person, each section is a rule, below the
    /// headings that it stands under: what anti-goals forbid must not read as a rule.
    fn rules(&mut self, text: &str) -> Vec<String> {
        if !text.lines().any(|line| line == RULE) {
            return self.sections(text);
        }
        let mut rules: Vec<String> = Vec::new();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            if line.trim_end() == RULE {
                rules.push(String::new());
            } else if let Some(rule) = rules.last_mut() {
                let escaped = line.starts_with('\\') && line.trim_start_matches('\\').starts_with(RULE);
                rule.push_str(if escaped { &line[1..] } else { line });
            } else if line.trim_end() != RULES_TITLE {
                self.unplaced(index, line.trim_end());
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

    fn sections(&mut self, text: &str) -> Vec<String> {
        // The headings of each section with the numbers of their lines, and its text.
        let mut sections: Vec<(Vec<(usize, &str)>, String)> = vec![(Vec::new(), String::new())];
        let (mut title, mut fence) = (None, None);
        for (index, line) in text.lines().enumerate() {
            let is_code = is_code(&mut fence, line.trim_start());
            if !is_code && line.starts_with("# ") {
                title = Some((index, line));
                sections.push((vec![(index, line)], String::new()));
            } else if !is_code && line.starts_with("## ") {
                let headings = title.into_iter().chain([(index, line)]).collect();
                sections.push((headings, String::new()));
            } else if let Some((_, body)) = sections.last_mut() {
                body.push_str(line);
                body.push('\n');
            }
        }
        let told = sections.iter().filter(|(_, body)| !body.trim().is_empty());
        let told: HashSet<usize> = told
            .flat_map(|(headings, _)| headings.iter().map(|(index, _)| *index))
            .collect();
        let mut rules = Vec::new();
        for (headings, body) in &sections {
            match (body.trim(), headings.last()) {
                ("", Some((index, line))) if !told.contains(index) && *line != RULES_TITLE => {
                    self.unplaced(*index, line);
                }
                ("", _) => {}
                (text, _) => {
                    let headings = headings.iter().map(|(_, line)| *line);
                    rules.push(headings.chain([text]).collect::<Vec<_>>().join("\n"));
                }
            }
        }
        rules
    }

    fn status(&mut self, lines: &[(usize, &str)]) {
        let mut rest = Vec::new();
        let mut heading = None;
        let mut in_entry = false;
        for &(index, line) in lines {
            if line.starts_with('#') {
                let title = line.trim_start_matches(['#', ' ']);
                in_entry = begins_with_id(title) || read(title).is_some();
            }
            if in_entry || line.starts_with([' ', '\t', '|']) {
                heading = heading.filter(|_| !in_entry && line.trim().is_empty());
                rest.push((index, line));
                continue;
            }
            let bare = line.trim().trim_start_matches(['-', '*', '#', ' ']);
            let (name, value) = bare.split_once(':').unwrap_or((bare, ""));
            let value = match name.contains('*') || value.starts_with('*') {
                true => value.trim_start_matches('*').trim(),
                false => value.trim(),
            };
            let key = key_of(name).filter(|_| read(line).is_none());
            let (key, value) = match (key, heading.take()) {
                (Some(key), _) if value.is_empty() && line.starts_with('#') => {
                    heading = Some(key);
                    continue;
                }
                (Some(key), _) => (key, value),
                (None, Some(key)) if bare.is_empty() => {
                    heading = Some(key);
                    continue;
                }
                (None, Some(key)) if !line.starts_with('#') => (key, bare),
                (None, _) => {
                    rest.push((index, line));
                    continue;
                }
            };
            if !set(&mut self.parsed.folder.window.status, key, value) {
                self.unplaced(index, line);
            }
        }
        self.parsed.folder.window.tasks = self.entries(&rest, Undated::BelowTasks, End::First);
    }

    /// The tasks of an epic with its name, which is its title or that of its file.
    fn epic(&mut self, file: &str, lines: &[(usize, &str)]) -> Vec<(Option<String>, ImportedTask)> {
        let file = match file.trim_end_matches(".md").trim() {
            "" => "epic",
            name => name,
        };
        let title = lines.first().and_then(|(_, line)| line.strip_prefix("# "));
        let mut name = title.map_or("", str::trim);
        if !fits(name, EPIC_BYTES) {
            self.unplaced(0, name);
            name = "";
        }
        if name.is_empty() {
            name = &file[..file.floor_char_boundary(EPIC_BYTES)];
        }
        let tasks = &lines[usize::from(title.is_some())..];
        let tasks = self.entries(tasks, Undated::BelowTasks, End::Last);
        let of_epic = |task| (Some(name.to_owned()), task);
        tasks.into_iter().map(of_epic).collect()
    }
}

/// At which end of a file the newest entry is: by the dates, else by the numbers in the ids, else as such a file is
/// written. What is appended to has the newest last; the service writes status and decisions newest first.
fn newest_end<E: entry::Entry>(path: &str, found: &[(Option<DateTime<Utc>>, &Item<'_>, E)]) -> (End, By) {
    let dates: Vec<_> = found.iter().filter_map(|(date, ..)| *date).collect();
    let by_dates = dates.windows(2).map(|pair| pair[1].cmp(&pair[0]));
    let ids: Vec<_> = found
        .iter()
        .filter_map(|(_, item, entry)| entry.id(item))
        .collect();
    let numbers: Vec<_> = ids.iter().filter_map(|id| number_of(id)).collect();
    let pairs = numbers.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let by_ids = pairs.map(|pair| pair[1].1.cmp(&pair[0].1));
    for (rises, by) in [(sum(by_dates), By::Dates), (sum(by_ids), By::Ids)] {
        match rises {
            0 => {}
            1.. => return (End::Last, by),
            _ => return (End::First, by),
        }
    }
    match path {
        STATUS => (End::First, By::File),
        DECISIONS if found.iter().all(|(_, item, _)| written(item.line).is_some()) => (End::First, By::File),
        _ => (End::Last, By::File),
    }
}

/// How many more values rise than fall.
fn sum(steps: impl Iterator<Item = Ordering>) -> i64 {
    steps.map(|step| step as i64).sum()
}

/// The number in the id of an entry, and what precedes it, by which entries are ordered.
fn number_of(id: &str) -> Option<(&str, u64)> {
    let digits = id.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (name, number) = id.split_at(id.len() - digits);
    Some((name, number.parse().ok()?))
}

/// The field that a line or heading of the status sets.
#[derive(Clone, Copy)]
enum Key {
    Goal,
    Blocker,
    Updated,
}

/// Parses a field name as people write it: `Goal`, `**Current Goal**`, `Active Blockers`, `Last Updated`.
fn key_of(name: &str) -> Option<Key> {
    let name = name.trim_matches(['*', ' ']).to_lowercase();
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

/// Sets one field of the status; false if a memory cannot hold it, or it is not a time. The first value counts.
fn set(status: &mut Status, key: Key, value: &str) -> bool {
    if !fits(value, STATUS_BYTES) {
        return false;
    }
    let parsed = Status::new(Some(value), Some(value));
    match key {
        Key::Goal => status.goal = status.goal.take().or(parsed.goal),
        Key::Blocker => status.blocker = status.blocker.take().or(parsed.blocker),
        Key::Updated => {
            let time = time_at(value).filter(|time| is_writable(*time));
            status.updated = status.updated.or(time);
            return time.is_some();
        }
    }
    true
}
