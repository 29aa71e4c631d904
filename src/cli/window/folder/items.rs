//! The entries of a list: which lines begin one, and which belong to it; and the named parts of an entry, as people write
//! them: `- **Summary:** all tests pass`.
//!
//! A bullet, a numbered line, a heading or a row of a table can be an entry; deeper lines belong to the entry above
//! them, and so does everything below a heading that is one. A line that is neither is left over.

use super::entry::{begins_with_id, read};
use chrono::{DateTime, Utc};

/// An entry as its file has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Item<'t> {
    /// The number of its first line, from 0.
    pub(super) index: usize,
    /// Its first line.
    pub(super) line: &'t str,
    /// Its time, if it or the heading above it has one.
    pub(super) time: Option<DateTime<Utc>>,
    /// Its first line without marks and time.
    pub(super) text: String,
    /// The quoted lines below it, verbatim.
    pub(super) quoted: Vec<&'t str>,
    /// The other lines below it.
    pub(super) body: Vec<&'t str>,
    /// The cells of a table's row: the title of the column, and the text.
    pub(super) cells: Vec<(String, String)>,
    /// The level of the heading that it is; 0 otherwise.
    pub(super) level: usize,
}

/// Where lines without date and id count as entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undated {
    /// Anywhere in the file, because it is a list of entries.
    Anywhere,
    /// Below a heading that names tasks.
    BelowTasks,
}

impl Undated {
    fn takes_below(self, heading: &str) -> bool {
        let heading = heading.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| heading.contains(word));
        let names_tasks = has(&["task", "recent", "completed", "done"]);
        let is_to_come =
            has(&["next", "todo", "to do", "upcoming", "remaining"]) || has(&["open", "planned", "pending"]);
        self == Self::Anywhere || names_tasks && !is_to_come
    }
}

/// The text of a bullet or a numbered line.
fn bullet(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = || {
        let rest = (1..=4).contains(&digits).then(|| &line[digits..])?;
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    };
    let marked = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    marked.or_else(numbered).map(str::trim)
}

/// A bullet's text without its ticked box; `None` if the box is not ticked, since that is not done.
fn ticked(text: &str) -> Option<&str> {
    let box_of = |mark: &str| text.strip_prefix(mark).map(str::trim);
    match box_of("[x]").or_else(|| box_of("[X]")) {
        Some(text) => Some(text),
        None => (!text.starts_with("[ ]")).then_some(text),
    }
}

/// The cells of a table's row.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?;
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    Some(inner.split('|').map(str::trim).collect())
}

/// Whether a row separates the titles of a table from its rows.
fn is_separator(line: &str) -> bool {
    cells(line).is_some_and(|cells| {
        cells
            .iter()
            .all(|cell| cell.contains('-') && cell.trim_matches([':', '-']).is_empty())
    })
}

/// The level of a heading and its text.
fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (level > 0 && (text.is_empty() || text.starts_with([' ', '\t']))).then(|| (level, text.trim()))
}

/// Whether a heading names a list, so that it is no entry of one.
fn names_a_list(heading: &str) -> bool {
    let heading = heading.trim_end_matches(':').to_lowercase();
    let ends = ["tasks", "decisions", "history", "log"]
        .iter()
        .any(|end| heading.ends_with(end));
    ends || ["recent", "completed", "done"].contains(&heading.as_str())
}

/// The scan of one file.
pub(super) struct Items<'t> {
    kind: Kind,
    undated: Undated,
    found: Vec<Item<'t>>,
    left_over: Vec<(usize, &'t str)>,
    open: Option<Item<'t>>,
    /// The date that a heading gives to the bullets below it.
    date: Option<DateTime<Utc>>,
    takes_undated: bool,
    /// Whether deeper lines belong to a line that was left over.
    skips_deeper: bool,
    in_fence: bool,
    titles: Option<Vec<&'t str>>,
}

impl<'t> Items<'t> {
    /// The entries of numbered lines, and the lines that belong to none. Linear.
    pub(super) fn of(
        lines: &[(usize, &'t str)],
        kind: Kind,
        undated: Undated,
    ) -> (Vec<Item<'t>>, Vec<(usize, &'t str)>) {
        let mut items = Self {
            kind,
            undated,
            found: Vec::new(),
            left_over: Vec::new(),
            open: None,
            date: None,
            takes_undated: undated == Undated::Anywhere,
            skips_deeper: false,
            in_fence: false,
            titles: None,
        };
        for (at, (index, line)) in lines.iter().enumerate() {
            items.line(*index, line, &lines[at + 1..]);
        }
        items.found.extend(items.open.take());
        (items.found, items.left_over)
    }

    fn begin(&mut self, item: Item<'t>) {
        self.skips_deeper = false;
        self.found.extend(self.open.replace(item));
    }

    fn leave(&mut self, index: usize, line: &'t str) {
        self.skips_deeper = true;
        self.found.extend(self.open.take());
        if !line.trim().is_empty() {
            self.left_over.push((index, line));
        }
    }

    fn line(&mut self, index: usize, line: &'t str, next: &[(usize, &'t str)]) {
        if line.trim().is_empty() {
            return;
        }
        let is_fence = line.trim_start().starts_with("```");
        self.in_fence ^= is_fence;
        if is_fence || self.in_fence {
            return self.below(index, line);
        }
        if cells(line).is_none() {
            self.titles = None;
        }
        if let Some((level, text)) = heading(line) {
            return self.heading((index, line), level, text, next);
        }
        let is_deeper = line.starts_with([' ', '\t']);
        if is_deeper && (self.open.is_some() || self.skips_deeper) {
            return self.below(index, line);
        }
        let line_text = line.trim_start();
        if let Some(row) = cells(line_text) {
            return self.row((index, line), row, next);
        }
        let marked = bullet(line_text);
        let Some(text) = ticked(marked.unwrap_or(line_text)) else {
            return self.leave(index, line);
        };
        let is_entry = marked.is_some()
            && !text.is_empty()
            && (self.takes_undated || self.date.is_some() || begins_with_id(text));
        let item = |time, text: &str| Item {
            index,
            line,
            time,
            text: text.to_owned(),
            ..Item::default()
        };
        if let Some((time, words)) = read(text) {
            self.date = None;
            self.begin(item(Some(time), words));
        } else if let Some((name, _)) = field(self.kind, text).filter(|(name, _)| self.names(*name)) {
            match &mut self.open {
                Some(open) if open.level > 0 || !name.begins_entry() => open.body.push(line),
                _ if is_entry && name.begins_entry() => {
                    let mut begun = item(self.date, "");
                    begun.body.push(line);
                    self.begin(begun);
                }
                _ => self.leave(index, line),
            }
        } else if is_entry && self.starts_here(text) {
            self.begin(item(self.date, text));
        } else {
            match &mut self.open {
                Some(open) if open.level > 0 => open.body.push(line),
                _ => self.leave(index, line),
            }
        }
    }

    /// Whether a name at the beginning of a bullet names a part of an entry.
    fn names(&self, name: Field) -> bool {
        name.is_strong() || self.open.as_ref().is_some_and(|open| open.level > 0)
    }

    /// Whether a bullet is an entry of its own: below a heading that is an entry only if an id says so.
    fn starts_here(&self, text: &str) -> bool {
        self.open.as_ref().is_none_or(|open| open.level == 0) || begins_with_id(text)
    }

    fn heading(
        &mut self,
        (index, line): (usize, &'t str),
        level: usize,
        text: &str,
        next: &[(usize, &'t str)],
    ) {
        if let Some(open) = self
            .open
            .as_mut()
            .filter(|open| open.level > 0 && open.level < level)
            && !begins_with_id(text)
            && read(text).is_none()
        {
            open.body.push(line);
            return;
        }
        let dated = read(text);
        let below = next
            .iter()
            .map(|(_, line)| line.trim())
            .find(|line| !line.is_empty());
        let has_fields = level > 1
            && !names_a_list(text)
            && below.is_some_and(|line| field(self.kind, bullet(line).unwrap_or(line)).is_some());
        if dated.is_some() || begins_with_id(text) || has_fields && !text.is_empty() {
            let (time, words) = match dated {
                Some((time, words)) => (Some(time), words),
                None => (self.date, text),
            };
            self.begin(Item {
                index,
                line,
                time,
                text: words.to_owned(),
                level,
                ..Item::default()
            });
            return;
        }
        self.found.extend(self.open.take());
        self.skips_deeper = false;
        // A heading with only a date sets the date of the bullets below it.
        self.date = read(&format!("{text} x")).map(|(time, _)| time);
        self.takes_undated = self.undated.takes_below(text);
    }

    fn row(&mut self, (index, line): (usize, &'t str), row: Vec<&'t str>, next: &[(usize, &'t str)]) {
        let Some(titles) = &self.titles else {
            let is_table = next.first().is_some_and(|(_, line)| is_separator(line));
            match is_table {
                true => self.titles = Some(row),
                false => self.leave(index, line),
            }
            return;
        };
        if is_separator(line) {
            return;
        }
        let titles = titles.iter().copied().chain(std::iter::repeat(""));
        let item = Item {
            index,
            line,
            time: self.date,
            cells: titles
                .zip(&row)
                .filter(|(_, text)| !text.is_empty())
                .map(|(title, text)| (title.to_owned(), (*text).to_owned()))
                .collect(),
            ..Item::default()
        };
        let has_id = row.iter().any(|cell| begins_with_id(&format!("{cell}: x")));
        if self.takes_undated || has_id {
            self.begin(item);
        } else {
            self.leave(index, line);
        }
    }

    /// A line that belongs to the open entry, if any.
    fn below(&mut self, index: usize, line: &'t str) {
        match &mut self.open {
            Some(open) => {
                let quoted = line.strip_prefix("  > ").or_else(|| line.strip_prefix("  >"));
                match quoted {
                    Some(quoted) if !self.in_fence => open.quoted.push(quoted),
                    _ => open.body.push(line),
                }
            }
            None => self.leave(index, line),
        }
    }
}

/// The text of a line below an entry, and whether it is a bullet.
pub(super) fn body_text(line: &str) -> (&str, bool) {
    let line = line.trim();
    let line = line.trim_start_matches(['#', '>']).trim_start();
    match bullet(line) {
        Some(text) => (ticked(text).unwrap_or(text), true),
        None => (line, false),
    }
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Task,
    Decision,
}

/// A named part of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// The intent of a task; what was decided.
    Words,
    /// The id of a task, or its intent.
    Task,
    Summary,
    Reason,
    Outcome,
    Epic,
    Time,
    /// Whether a task is done or failed.
    Status,
    /// Anything else that is told.
    Note,
}

impl Field {
    /// Whether a bullet that begins with its name can begin an entry.
    pub(super) fn begins_entry(self) -> bool {
        matches!(self, Self::Words | Self::Task)
    }

    /// Whether its name means it also on a bullet between others.
    pub(super) fn is_strong(self) -> bool {
        !matches!(self, Self::Time | Self::Status | Self::Note)
    }

    /// The part that a column or a line of this name tells.
    pub(super) fn named(kind: Kind, name: &str) -> Option<Self> {
        let name = name.trim_matches(['*', '_', '`', ' ']).to_lowercase();
        Some(match (kind, name.as_str()) {
            (Kind::Task, "intent" | "title") => Self::Words,
            (Kind::Task, "task" | "task id" | "id") => Self::Task,
            (Kind::Task, "outcome" | "validation") => Self::Outcome,
            (Kind::Task, "epic") => Self::Epic,
            (Kind::Task, "date" | "completed" | "time" | "when" | "finished") => Self::Time,
            (Kind::Task, "status" | "state" | "result") => Self::Status,
            (Kind::Task, "description" | "what") => Self::Note,
            (Kind::Decision, "decision" | "title") => Self::Words,
            (Kind::Decision, "reason" | "why" | "rationale") => Self::Reason,
            (Kind::Decision, "date" | "time" | "when" | "decided") => Self::Time,
            (Kind::Decision, "status" | "context" | "consequences" | "alternatives") => Self::Note,
            (_, "summary") => Self::Summary,
            (_, "notes" | "note" | "details") => Self::Note,
            _ => return None,
        })
    }
}

/// The part that a text names, and its value: `Summary: x`, `**Summary:** x`, `**Summary**: x`.
pub(super) fn field(kind: Kind, text: &str) -> Option<(Field, &str)> {
    let (name, value) = text.split_once(':')?;
    if !(value.is_empty() || value.starts_with([' ', '\t', '*', '_', '`'])) {
        return None;
    }
    let is_marked = name.starts_with(['*', '_']);
    let value = match is_marked {
        true => value.trim_start_matches(['*', '_']),
        false => value,
    };
    Some((Field::named(kind, name)?, value.trim()))
}
