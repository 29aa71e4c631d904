//! Parses the folder, as people and the service write it.

use super::entry::{Entry, begins_with_id, entry_of, number_of, read};
use super::items::{Item, Items, Undated};
use super::{
    By, DECISIONS, EPICS, End, HISTORY, Newest, Parsed, RULE, RULES, RULES_TITLE, STATUS, Unplaced, is_weekly,
};
use crate::domain::window::{EPIC_BYTES, ImportedTask, STATUS_BYTES, Status, WindowImport, fits};
use chrono::{DateTime, Utc};
use std::collections::{HashMap, HashSet};
use strum::EnumString;

/// Parses the files of a folder, in any order; files with other names are ignored. An entry without a date
/// gets that of the entry above it, or else the time of the status, or else `undated`. Tasks and decisions come newest
/// first, the history oldest first. Never fails: lines that cannot be placed are reported. Linear.
#[must_use]
pub(in crate::cli::window) fn parse<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
    undated: DateTime<Utc>,
) -> Parsed {
    let mut parsed = Parsed::default();
    let mut files: Vec<(&str, &str)> = files.into_iter().collect();
    // The status comes first: it contains the default time.
    files.sort_by_key(|(path, _)| *path != STATUS);
    let (mut epics, mut weeks) = (Vec::new(), Vec::new());
    for (path, text) in files {
        let Parsed {
            folder,
            unplaced,
            newest,
        } = &mut parsed;
        let mut reader = Reader {
            path,
            unplaced,
            newest,
            undated: folder.window.status.updated.unwrap_or(undated),
        };
        let lines: Vec<_> = text.lines().enumerate().collect();
        match path {
            RULES => folder.rules = reader.rules(text),
            STATUS => reader.status(text, &mut folder.window),
            DECISIONS => folder.window.decisions = reader.entries(&lines, Undated::Anywhere, End::First),
            HISTORY => folder.window.history = reader.entries(&lines, Undated::Anywhere, End::Last),
            _ if is_weekly(path) => {
                weeks.extend(reader.entries::<ImportedTask>(&lines, Undated::BelowTasks, End::Last));
            }
            _ if path.starts_with(EPICS) && path.ends_with(".md") => epics.push(reader.epic(text)),
            _ => {}
        }
    }
    for (name, tasks) in epics {
        join(&mut parsed.folder.window.history, &name, tasks);
    }
    complete(&mut parsed.folder.window.history, weeks);
    parsed
}

/// What makes a task of several files the same: its id, or its time and words.
fn identity(task: &ImportedTask) -> (Option<DateTime<Utc>>, String) {
    match &task.task.task_id {
        Some(id) => (None, id.to_string()),
        None => (Some(task.time), task.words()),
    }
}

/// Adds the tasks of weekly summaries that are missing in the history.
fn complete(history: &mut Vec<ImportedTask>, mut weeks: Vec<ImportedTask>) {
    let mut there: HashSet<_> = history.iter().map(identity).collect();
    weeks.retain(|task| there.insert(identity(task)));
    history.extend(weeks);
}

/// Sets the epic on the listed tasks of the history; missing tasks are appended.
fn join(history: &mut Vec<ImportedTask>, name: &str, tasks: Vec<ImportedTask>) {
    let mut places: HashMap<_, Vec<usize>> = HashMap::new();
    for (place, task) in history.iter().enumerate().rev() {
        if task.task.details.epic.as_deref().is_none_or(|epic| epic == name) {
            places.entry(identity(task)).or_default().push(place);
        }
    }
    for mut task in tasks {
        let place = places.get_mut(&identity(&task)).and_then(Vec::pop);
        match place {
            Some(place) => history[place].task.details.epic = Some(name.to_owned()),
            None => {
                task.task.details.epic = Some(name.to_owned());
                history.push(task);
            }
        }
    }
}

/// The parser state of one file.
struct Reader<'p> {
    path: &'p str,
    unplaced: &'p mut Vec<Unplaced>,
    newest: &'p mut Vec<Newest>,
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

    /// Reads the entries of a file, the newest at `wanted`. Entries that no memory could store are reported as
    /// unplaced.
    fn entries<E: Entry>(&mut self, lines: &[(usize, &str)], undated: Undated, wanted: End) -> Vec<E> {
        let (items, left_over) = Items::of(lines, E::KIND, undated);
        let mut read = Vec::with_capacity(items.len());
        for item in &items {
            let entry = entry_of::<E>(item.time.unwrap_or(self.undated), item);
            // A date may be in a line below the first.
            let entry = entry.map(|entry| (item.time.is_some() || entry.time() != self.undated, entry));
            let entry = entry.and_then(|(is_dated, entry)| {
                let entry = if is_dated { entry } else { entry.undated() };
                Some((is_dated, entry.within_limits()?))
            });
            match entry {
                Some((is_dated, entry)) => read.push((is_dated.then(|| entry.time()), item, entry)),
                None => {
                    self.unplaced(item.index, item.line);
                    for line in &item.body {
                        self.unplaced(item.index, line);
                    }
                }
            }
        }
        for (index, line) in left_over {
            self.unplaced(index, line);
        }
        let (end, by) = newest_end(self.path, &read);
        if read.len() > 1 {
            self.newest.push(Newest {
                file: self.path.to_owned(),
                end,
                by,
            });
        }
        let mut entries = self.dated(read, end);
        if end != wanted {
            entries.reverse();
        }
        entries
    }

    /// Gives entries without a date that of the entry above, or below where that is older.
    fn dated<E: Entry>(&self, read: Vec<(Option<DateTime<Utc>>, &Item<'_>, E)>, end: End) -> Vec<E> {
        let first = read.iter().find_map(|(time, ..)| *time);
        let mut last = match (first, end) {
            (Some(first), End::Last) => first,
            (Some(first), End::First) => self.undated.max(first),
            (None, _) => self.undated,
        };
        read.into_iter()
            .map(|(time, _, entry)| {
                last = time.unwrap_or(last);
                entry.at(last)
            })
            .collect()
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
        let mut rules = Vec::new();
        // The heading of the first level above, whether text followed it, and the section.
        let mut above: Option<(usize, &str, bool)> = None;
        let mut headed: Option<(usize, &str)> = None;
        let mut body = String::new();
        let mut in_fence = false;
        for (index, line) in text.lines().enumerate().chain([(usize::MAX, "# ")]) {
            in_fence ^= line.trim_start().starts_with("```");
            let level = match in_fence && index != usize::MAX {
                true => 0,
                false if line.starts_with("# ") => 1,
                false => usize::from(line.starts_with("## ")) * 2,
            };
            if level == 0 {
                body.push_str(line);
                body.push('\n');
                continue;
            }
            match (body.trim(), headed) {
                ("", Some((index, line))) => self.unplaced(index, line),
                ("", None) => {}
                (text, headed) => {
                    let title = above.as_mut().map(|(_, line, is_told)| {
                        *is_told = true;
                        *line
                    });
                    let headings = [title, headed.map(|(_, line)| line)];
                    let parts: Vec<_> = headings.into_iter().flatten().chain([text]).collect();
                    rules.push(parts.join("\n"));
                }
            }
            body.clear();
            headed = (level == 2).then_some((index, line));
            if level == 1 {
                if let Some((index, line, false)) = above
                    && line != RULES_TITLE
                {
                    self.unplaced(index, line);
                }
                above = Some((index, line, false));
            }
        }
        rules
    }

    fn status(&mut self, text: &str, window: &mut WindowImport) {
        let mut rest = Vec::new();
        let mut heading = None;
        let mut in_entry = false;
        for (index, line) in text.lines().enumerate() {
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
                (Some(key), _) => self.set(&mut window.status, key, value, (index, line)),
                (None, Some(key)) if bare.is_empty() => heading = Some(key),
                (None, Some(_)) if !line.starts_with('#') && !fits_status(bare) => self.unplaced(index, line),
                (None, Some(key)) if !line.starts_with('#') => {
                    self.set(&mut window.status, key, bare, (index, line));
                }
                (None, _) => rest.push((index, line)),
            }
        }
        self.undated = window.status.updated.unwrap_or(self.undated);
        window.tasks = self.entries(&rest, Undated::BelowTasks, End::First);
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
        let lines: Vec<_> = text.lines().enumerate().skip(skipped).collect();
        (name, self.entries(&lines, Undated::BelowTasks, End::Last))
    }
}

/// At which end of a file the newest entry is: by the dates, else by the numbers in the ids, else as such a file is
/// written. What is appended to has the newest last; the service writes status and decisions newest first.
fn newest_end<E: Entry>(path: &str, read: &[(Option<DateTime<Utc>>, &Item<'_>, E)]) -> (End, By) {
    // Whether the second of a pair is the larger: 1, 0 or -1.
    let dates: Vec<_> = read.iter().filter_map(|(time, ..)| *time).collect();
    let by_dates: i64 = dates.windows(2).map(|pair| pair[1].cmp(&pair[0]) as i64).sum();
    let ids: Vec<_> = read.iter().map(|(_, item, entry)| entry.id(item)).collect();
    let numbers: Vec<_> = ids.iter().flatten().filter_map(|id| number_of(id)).collect();
    let pairs = numbers.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let by_ids: i64 = pairs.map(|pair| pair[1].1.cmp(&pair[0].1) as i64).sum();
    let end = |rises: i64| if rises > 0 { End::Last } else { End::First };
    if by_dates != 0 {
        return (end(by_dates), By::Dates);
    }
    if by_ids != 0 {
        return (end(by_ids), By::Ids);
    }
    let is_to_the_second = |item: &Item<'_>| {
        let time = item
            .line
            .strip_prefix("- [")
            .and_then(|rest| rest.split(']').next());
        time.is_some_and(|time| DateTime::parse_from_rfc3339(time).is_ok())
    };
    let is_appended_to = path != STATUS;
    match path == DECISIONS && read.iter().all(|(_, item, _)| is_to_the_second(item)) {
        false if is_appended_to => (End::Last, By::File),
        _ => (End::First, By::File),
    }
}

/// Whether a memory can store it as a goal or a blocker.
fn fits_status(value: &str) -> bool {
    fits(value, STATUS_BYTES)
}

/// The field that a line or heading of the status sets, with its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
#[strum(ascii_case_insensitive)]
enum Key {
    #[strum(serialize = "goal", serialize = "goals")]
    Goal,
    #[strum(serialize = "blocker", serialize = "blockers")]
    Blocker,
    #[strum(serialize = "updated", serialize = "update")]
    Updated,
}

/// Parses a field name as people write it: `Goal`, `Current Goal`, `Active Blockers`, `Last Updated`.
fn key_of(name: &str) -> Option<Key> {
    let name = name.to_lowercase();
    let bare = ["current ", "active ", "last "]
        .into_iter()
        .find_map(|before| name.strip_prefix(before))
        .unwrap_or(&name);
    bare.trim().parse().ok()
}
