//! The entries of a list: which lines begin one, and which belong to it; and the named parts of an entry, as people write
//! them: `- **Summary:** all tests pass`.
//!
//! A bullet, a numbered line, a heading or a row of a table can be an entry; deeper lines belong to the entry above
//! them, and so does everything below a heading that is one. A line that is neither is left over.

use super::entry::{NOT_DONE, begins_with_id, read, time_at};
use crate::domain::document::Fence;
use chrono::{DateTime, Utc};
use regex::Regex;
use std::sync::LazyLock;

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
    pub(super) text: &'t str,
    /// The lines below it with their numbers; also its own, if that is a named part.
    pub(super) body: Vec<(usize, &'t str)>,
    /// The cells of a table's row: the title of the column, and the text.
    pub(super) cells: Vec<(&'t str, &'t str)>,
    /// The level of the heading that it is; 0 otherwise.
    level: usize,
}

/// Where lines without date and id count as entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undated {
    /// Anywhere in the file, because it is a list of entries.
    Anywhere,
    /// Below a heading that names tasks.
    BelowTasks,
}

/// Whether a heading names tasks that are done.
fn names_tasks(heading: &str) -> bool {
    const NAMES: [&str; 4] = ["task", "recent", "completed", "done"];
    const TO_COME: [&str; 3] = ["next", "upcoming", "remaining"];
    let heading = heading.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| heading.contains(word));
    has(&NAMES) && !has(&TO_COME) && !has(&NOT_DONE)
}

/// Whether a heading names a list, so that it is no entry of one.
fn names_a_list(heading: &str) -> bool {
    const ENDS: [&str; 4] = ["tasks", "decisions", "history", "log"];
    let heading = heading.trim_end_matches(':').to_lowercase();
    ENDS.iter().any(|end| heading.ends_with(end))
        || ["recent", "completed", "done"].contains(&heading.as_str())
}

/// A bullet or a numbered line, and its text.
static BULLET: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:[-*+]|[0-9]{1,4}[.)]) (.*)$").expect("a form"));

fn bullet(line: &str) -> Option<&str> {
    let (_, [text]) = BULLET.captures(line)?.extract();
    Some(text.trim())
}

/// A bullet's text without its ticked box; `None` if the box is not ticked, since that is not done.
fn ticked(text: &str) -> Option<&str> {
    match text.strip_prefix("[x]").or_else(|| text.strip_prefix("[X]")) {
        Some(text) => Some(text.trim()),
        None => (!text.starts_with("[ ]")).then_some(text),
    }
}

/// The cells of a table's row.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?;
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let mut before = ' ';
    let ends_cell = |c| std::mem::replace(&mut before, c) != '\\' && c == '|';
    Some(inner.split(ends_cell).map(str::trim).collect())
}

/// Whether a row separates the titles of a table from its rows.
fn is_separator(row: &[&str]) -> bool {
    row.iter()
        .all(|cell| cell.contains('-') && cell.trim_matches([':', '-']).is_empty())
}

/// The level of a heading and its text.
fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (level > 0 && (text.is_empty() || text.starts_with([' ', '\t']))).then(|| (level, text.trim()))
}

/// Whether a line is one of a code block, also its first or last; `open` is the fence of the block.
pub(super) fn is_code(open: &mut Option<Fence>, line: &str) -> bool {
    let before = *open;
    *open = match before {
        Some(fence) => before.filter(|_| !fence.is_closed_by(line)),
        None => Fence::opened_by(line),
    };
    before.or(*open).is_some()
}

/// The scan of one file.
pub(super) struct Items<'t> {
    kind: Kind,
    undated: Undated,
    found: Vec<Item<'t>>,
    /// Whether the last one takes the lines below it.
    is_open: bool,
    left_over: Vec<(usize, &'t str)>,
    /// The date that a heading gives to the bullets below it.
    date: Option<DateTime<Utc>>,
    takes_undated: bool,
    /// Whether deeper lines belong to a line that was left over.
    skips_deeper: bool,
    fence: Option<Fence>,
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
            is_open: false,
            left_over: Vec::new(),
            date: None,
            takes_undated: undated == Undated::Anywhere,
            skips_deeper: false,
            fence: None,
            titles: None,
        };
        for (at, (index, line)) in lines.iter().enumerate() {
            if !line.trim().is_empty() {
                items.line((*index, line), &lines[at + 1..]);
            }
        }
        (items.found, items.left_over)
    }

    fn open(&mut self) -> Option<&mut Item<'t>> {
        self.found.last_mut().filter(|_| self.is_open)
    }

    /// Begins an entry with the time of its line or else of the heading above.
    fn begin(&mut self, (index, line): (usize, &'t str), time: Option<DateTime<Utc>>, text: &'t str) {
        self.skips_deeper = false;
        self.is_open = true;
        self.found.push(Item {
            index,
            line,
            time: time.or(self.date),
            text,
            ..Item::default()
        });
    }

    fn leave(&mut self, line: (usize, &'t str)) {
        self.skips_deeper = true;
        self.is_open = false;
        self.left_over.push(line);
    }

    fn line(&mut self, at: (usize, &'t str), next: &[(usize, &'t str)]) {
        let line = at.1;
        let bare = line.trim_start();
        if is_code(&mut self.fence, bare) {
            return self.below(at);
        }
        let row = cells(bare);
        if row.is_none() {
            self.titles = None;
        }
        if let Some((level, text)) = heading(line) {
            return self.heading(at, level, text, next);
        }
        if line.starts_with([' ', '\t']) && (self.is_open || self.skips_deeper) {
            return self.below(at);
        }
        if let Some(row) = row {
            return self.row(at, row, next);
        }
        let marked = bullet(bare);
        let Some(text) = ticked(marked.unwrap_or(bare)) else {
            return self.leave(at);
        };
        if let Some((time, words)) = read(text) {
            self.date = None;
            return self.begin(at, Some(time), words);
        }
        let has_id = begins_with_id(text);
        let may_begin =
            marked.is_some() && !text.is_empty() && (self.takes_undated || self.date.is_some() || has_id);
        // Below a heading that is an entry everything belongs to it, but for a bullet with an id.
        let is_below_heading = self.open().is_some_and(|open| open.level > 0);
        let name = field(self.kind, text).map(|(name, ..)| name);
        match name.filter(|name| name.is_strong() || is_below_heading) {
            Some(name) if is_below_heading || self.is_open && !name.begins_entry() => self.below(at),
            Some(name) if may_begin && name.begins_entry() => {
                self.begin(at, None, "");
                self.below(at);
            }
            None if may_begin && (has_id || !is_below_heading) => self.begin(at, None, text),
            None if is_below_heading => self.below(at),
            _ => self.leave(at),
        }
    }

    fn heading(&mut self, at: (usize, &'t str), level: usize, text: &'t str, next: &[(usize, &'t str)]) {
        let (dated, has_id) = (read(text), begins_with_id(text));
        if let Some(open) = self.open()
            && (1..level).contains(&open.level)
            && !has_id
            && dated.is_none()
        {
            open.body.push(at);
            return;
        }
        let below = next
            .iter()
            .map(|(_, line)| line.trim())
            .find(|line| !line.is_empty());
        let has_fields = level > 1
            && !text.is_empty()
            && !names_a_list(text)
            && below.is_some_and(|line| field(self.kind, bullet(line).unwrap_or(line)).is_some());
        if dated.is_some() || has_id || has_fields {
            let (time, words) = dated.map_or((None, text), |(time, words)| (Some(time), words));
            self.begin(at, time, words);
            if let Some(open) = self.open() {
                open.level = level;
            }
            return;
        }
        self.is_open = false;
        self.skips_deeper = false;
        // A heading with only a date sets the date of the bullets below it.
        self.date = time_at(text);
        self.takes_undated = self.undated == Undated::Anywhere || names_tasks(text);
    }

    fn row(&mut self, at: (usize, &'t str), row: Vec<&'t str>, next: &[(usize, &'t str)]) {
        let Some(titles) = &self.titles else {
            let below = next.first().and_then(|(_, line)| cells(line));
            match below.is_some_and(|below| is_separator(&below)) {
                true => self.titles = Some(row),
                false => self.leave(at),
            }
            return;
        };
        if is_separator(&row) {
            return;
        }
        let has_id = row.iter().any(|cell| begins_with_id(&format!("{cell}: x")));
        if !self.takes_undated && !has_id {
            return self.leave(at);
        }
        let titles = titles.iter().copied().chain(std::iter::repeat(""));
        let cells = titles.zip(row).filter(|(_, text)| !text.is_empty()).collect();
        self.begin(at, None, "");
        if let Some(open) = self.open() {
            open.cells = cells;
        }
    }

    /// A line that belongs to the open entry, if any.
    fn below(&mut self, at: (usize, &'t str)) {
        match self.open() {
            Some(open) => open.body.push(at),
            None => self.leave(at),
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
    fn begins_entry(self) -> bool {
        matches!(self, Self::Words | Self::Task)
    }

    /// Whether its name means it also on a bullet between others.
    fn is_strong(self) -> bool {
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

/// The part that a text names, its name as written, and its value: `Summary: x`, `**Summary:** x`, `**Summary**: x`.
pub(super) fn field(kind: Kind, text: &str) -> Option<(Field, &str, &str)> {
    let (name, value) = text.split_once(':')?;
    if !(value.is_empty() || value.starts_with([' ', '\t', '*', '_', '`'])) {
        return None;
    }
    let value = match name.starts_with(['*', '_']) {
        true => value.trim_start_matches(['*', '_']),
        false => value,
    };
    let shown = name.trim_matches(['*', '_', ' ']);
    Some((Field::named(kind, name)?, shown, value.trim()))
}
