//! Edits a document in place: removes byte ranges and inserts lines, and leaves everything else unchanged. Its counters are
//! the largest id number used per kind of record, so that no id is reused.

use crate::domain::document::{
    Entry, Layout, ManagedSection, Marks, NewRecord, Record, Section, brackets, entries, record_lines,
    record_ranges, written_time,
};
use crate::domain::ids::{RecordId, RecordKind};
use chrono::{DateTime, Utc};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A pending edit. Operations are collected against the original document; [`Edit::finish`] writes all of
/// them in one pass.
///
/// The first operation on a section assigns ids to its bullets that have none, in document order. New KL and
/// VC records are inserted at the end of their section, after its last line that is not blank. New T and D
/// records are inserted before its first bullet, or at the end if it has none. A missing section is appended.
///
/// Text written after an open fence at the end of the document could not be parsed, so a line that closes the
/// fence is written first. The text before it is unchanged and keeps its meaning.
#[derive(Debug, Clone)]
pub struct Edit<'t> {
    text: &'t str,
    layout: Layout,
    entries: Vec<Entry>,
    active: HashMap<RecordId, usize>,
    counters: Counters,
    now: DateTime<Utc>,
    changes: BTreeMap<ManagedSection, SectionChange>,
    splices: Vec<Splice>,
}

/// The insertions into one section.
#[derive(Debug, Clone, Default)]
struct SectionChange {
    /// Replaces the body except its trailing blank lines.
    body: Option<String>,
    /// Inserted before the first bullet, newest record first.
    first: Vec<String>,
    /// Inserted after the last line that is not blank.
    last: String,
}

/// A byte range to remove and the text to insert in its place.
#[derive(Debug, Clone)]
struct Splice {
    range: Range<usize>,
    text: String,
    /// Whether the inserted text must start on a new line.
    on_own_line: bool,
}

impl<'t> Edit<'t> {
    /// Starts an edit. The counters are raised to the numbers in the document.
    #[must_use]
    pub fn new(text: &'t str, counters: Counters, now: DateTime<Utc>) -> Self {
        let layout = Layout::of(text);
        let entries: Vec<_> = entries(text).collect();
        let active = entries
            .iter()
            .enumerate()
            .filter_map(|(index, e)| Some((e.id?, index)))
            .collect();
        let mut counters = counters;
        for id in entries.iter().filter_map(|entry| entry.id) {
            counters.raise(id.kind, id.number);
        }
        Self {
            text,
            layout,
            entries,
            active,
            counters,
            now,
            changes: BTreeMap::new(),
            splices: Vec::new(),
        }
    }

    /// Removes an active record from the document and returns it. Removes its own lines but not the blank
    /// lines after them. Returns `None` and changes nothing if the id is not active.
    ///
    /// # Errors
    ///
    /// [`IdsExhausted`] if a bullet of the section needs an id and none is left.
    pub fn archive(&mut self, id: RecordId) -> Result<Option<Record>, IdsExhausted> {
        let Some(index) = self.active.remove(&id) else {
            return Ok(None);
        };
        self.touch(id.kind)?;
        let entry = self.entries[index].clone();
        self.splices.push(Splice {
            range: entry.range.clone(),
            text: String::new(),
            on_own_line: false,
        });
        Ok(entry.into_record())
    }

    /// Changes the marks of an active record and returns it as it was and as it is. Only what is between its brackets
    /// changes, and its time stays as it is written. Returns `None` if the id is not active.
    ///
    /// # Errors
    ///
    /// [`IdsExhausted`] if a bullet of the section needs an id and none is left.
    pub fn mark(
        &mut self,
        id: RecordId,
        change: impl FnOnce(Marks) -> Marks,
    ) -> Result<Option<(Marks, Record)>, IdsExhausted> {
        let Some(index) = self.active.get(&id).copied() else {
            return Ok(None);
        };
        let mut entry = self.entries[index].clone();
        let before = entry.marks;
        entry.marks = change(before);
        if entry.marks != before {
            self.touch(id.kind)?;
            let written = &self.text[entry.brackets.clone()];
            let time = entry.time.and_then(|_| written[1..].split([',', ']']).next());
            let mut range = entry.brackets.clone();
            let mut text = brackets(time.map(str::trim), &entry.marks);
            if range.is_empty() {
                // An id may stand at the end of its line.
                match self.text[..range.start].ends_with([' ', '\t']) {
                    true => text.push(' '),
                    false => text.insert(0, ' '),
                }
            } else if text.is_empty() {
                // Without brackets the blank behind them goes too.
                range.end += usize::from(self.text[range.end..].starts_with(' '));
            }
            self.splices.push(Splice {
                range,
                text,
                on_own_line: false,
            });
        }
        Ok(entry.into_record().map(|record| (before, record)))
    }

    /// Adds a record and returns it as it will be parsed.
    ///
    /// # Errors
    ///
    /// [`IdsExhausted`] if no number is left for it, or for a bullet of its section that needs one.
    pub fn add(&mut self, kind: RecordKind, record: &NewRecord<'_>) -> Result<Record, IdsExhausted> {
        self.add_of(kind, record, self.now)
    }

    /// Like [`Edit::add`], with an explicit time on the record.
    ///
    /// # Errors
    ///
    /// As [`Edit::add`].
    pub fn add_of(
        &mut self,
        kind: RecordKind,
        record: &NewRecord<'_>,
        time: DateTime<Utc>,
    ) -> Result<Record, IdsExhausted> {
        self.touch(kind)?;
        let id = self.counters.give(kind)?;
        let lines = record_lines(id, time, record);
        let section = ManagedSection::of_records(kind);
        let added = Entry::read(&lines, 0..lines.len(), kind).into_record_of(id);
        let change = self.changes.entry(section).or_default();
        match kind {
            RecordKind::Learning | RecordKind::Verbatim => change.last.push_str(&lines),
            RecordKind::Task | RecordKind::Decision => change.first.push(lines),
        }
        Ok(added)
    }

    /// Allocates an id for a record that is not written into the document.
    ///
    /// # Errors
    ///
    /// [`IdsExhausted`] if no number is left for it, or for a bullet of its section that needs one.
    pub fn reserve(&mut self, kind: RecordKind) -> Result<RecordId, IdsExhausted> {
        self.counters.give(kind)
    }

    /// Replaces the body of a section that contains no records; its trailing blank lines stay. Returns
    /// `false` and changes nothing if the body has the same lines already, ignoring blank lines and trailing
    /// blanks.
    pub fn rewrite(&mut self, section: ManagedSection, body: String) -> bool {
        debug_assert!(section.record_kind().is_none(), "records are never rewritten");
        let current = self
            .layout
            .managed(section)
            .map_or("", |found| &self.text[found.body.clone()]);
        let differs = !nonblank_lines(current).eq(nonblank_lines(&body));
        if differs {
            self.changes.entry(section).or_default().body = Some(body);
        }
        differs
    }

    /// Returns the edited document and the updated counters. Without changes the document is equal to the
    /// original.
    #[must_use]
    pub fn finish(mut self) -> (String, Counters) {
        let mut closing_line = self.layout.closing_line();
        let mut appended = Vec::new();
        for (section, change) in std::mem::take(&mut self.changes) {
            match self.layout.managed(section).cloned() {
                Some(found) => self.place(section, &found, change, &mut closing_line),
                None => appended.push((section, change.into_text())),
            }
        }
        let mut text = self.spliced();
        for (section, body) in appended {
            append_section(&mut text, closing_line.take(), section, &body);
        }
        (text, self.counters)
    }

    /// Creates the splices for an existing section. Consumes the line that closes an open fence when it is
    /// written or no longer needed.
    fn place(
        &mut self,
        section: ManagedSection,
        found: &Section,
        change: SectionChange,
        closing_line: &mut Option<String>,
    ) {
        let is_last = found.range.end == self.text.len();
        let end = found.written_end(self.text);
        if let Some(body) = change.body {
            self.splice_lines(found.body.start..end, body);
            if is_last {
                *closing_line = None;
            }
            return;
        }
        let mut first: String = change.first.into_iter().rev().collect();
        let mut last = change.last;
        match self
            .layout
            .bullets
            .iter()
            .find(|bullet| bullet.section == section)
        {
            Some(bullet) => self.splice_lines(bullet.range.start..bullet.range.start, first),
            None => {
                first.push_str(&last);
                last = first;
            }
        }
        if is_last && !last.is_empty() {
            last.insert_str(0, &closing_line.take().unwrap_or_default());
        }
        self.splice_lines(end..end, last);
    }

    /// Marks a section as changed; the first time, assigns ids to its bullets that have none.
    fn touch(&mut self, kind: RecordKind) -> Result<(), IdsExhausted> {
        let section = ManagedSection::of_records(kind);
        if self.changes.contains_key(&section) {
            return Ok(());
        }
        self.changes.insert(section, SectionChange::default());
        // Empty bullets get no id, except one that repeats an id: it would become that record once the first
        // is removed.
        let counts = |e: &Entry| !e.is_empty() || !e.id_range.is_empty();
        let unnumbered = |e: &&Entry| e.kind == kind && e.id.is_none() && counts(e);
        for entry in self.entries.iter().filter(unnumbered) {
            let mut text = self.counters.give(kind)?.to_string();
            let mut range = entry.id_range.clone();
            if entry.time.is_none() {
                let time = written_time(self.now);
                text = format!("{text} {}", brackets(Some(&time), &entry.marks));
                if !entry.brackets.is_empty() {
                    range.end = entry.brackets.end;
                }
            }
            if range.is_empty() {
                text.push(' ');
            }
            self.splices.push(Splice {
                range,
                text,
                on_own_line: false,
            });
        }
        Ok(())
    }

    fn splice_lines(&mut self, range: Range<usize>, text: String) {
        if !(range.is_empty() && text.is_empty()) {
            self.splices.push(Splice {
                range,
                text,
                on_own_line: true,
            });
        }
    }

    /// Applies the splices to the text. They do not overlap; at the same position insertions come first.
    fn spliced(&mut self) -> String {
        self.splices
            .sort_by_key(|splice| (splice.range.start, splice.range.end));
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        for splice in &self.splices {
            out.push_str(&self.text[done..splice.range.start]);
            if splice.on_own_line && !splice.text.is_empty() {
                end_line(&mut out);
            }
            out.push_str(&splice.text);
            done = splice.range.end;
        }
        out.push_str(&self.text[done..]);
        out
    }
}

impl SectionChange {
    fn into_text(self) -> String {
        let mut text = self.body.unwrap_or_default();
        text.extend(self.first.into_iter().rev());
        text.push_str(&self.last);
        text
    }
}

/// The non-blank lines of a body, without trailing blanks.
fn nonblank_lines(body: &str) -> impl Iterator<Item = &str> {
    body.split('\n')
        .map(|line| line.trim_end_matches([' ', '\t', '\r']))
        .filter(|line| !line.is_empty())
}

/// Appends a section: ends the last line if needed, adds an empty line, then the section. In an empty text
/// the section starts at the first byte.
fn append_section(text: &mut String, closing_line: Option<String>, section: ManagedSection, body: &str) {
    end_line(text);
    text.push_str(&closing_line.unwrap_or_default());
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("# {}\n{body}", section.title()));
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// The largest number ever used for each kind of record of one memory; 0 if none was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters([i64; RecordKind::ALL.len()]);

/// All numbers of a kind are used. The message may be shown to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no number is left for a new {} record: {} is taken", kind.prefix(), RecordId::new(*kind, i64::MAX))]
pub struct IdsExhausted {
    /// The kind of record.
    pub kind: RecordKind,
}

impl Counters {
    /// Reads the largest numbers on the record lines of a document. Ids in free text or in snippets do not
    /// count.
    #[must_use]
    pub fn seen_in(text: &str) -> Self {
        let mut counters = Self::default();
        for (id, _) in record_ranges(text) {
            counters.raise(id.kind, id.number);
        }
        counters
    }

    /// The largest number of a kind, 0 for none.
    #[must_use]
    pub fn get(&self, kind: RecordKind) -> i64 {
        self.0[kind as usize]
    }

    /// All of them, in the order of [`RecordKind::ALL`].
    #[must_use]
    pub fn numbers(&self) -> [i64; RecordKind::ALL.len()] {
        self.0
    }

    /// Counters by their numbers in the order of [`RecordKind::ALL`]. Absent ones are 0, and surplus ones are of kinds
    /// that are not known here.
    #[must_use]
    pub fn of_numbers(numbers: &[i64]) -> Self {
        let mut counters = Self::default();
        for (kind, number) in RecordKind::ALL.into_iter().zip(numbers) {
            counters.raise(kind, *number);
        }
        counters
    }

    /// Raises the counter of a kind to at least `number`.
    pub fn raise(&mut self, kind: RecordKind, number: i64) {
        let counter = &mut self.0[kind as usize];
        *counter = number.max(*counter);
    }

    /// Raises every counter to at least that of `other`.
    #[must_use]
    pub fn raised_by(mut self, other: &Self) -> Self {
        for kind in RecordKind::ALL {
            self.raise(kind, other.get(kind));
        }
        self
    }

    /// Allocates the next id of a kind.
    ///
    /// # Errors
    ///
    /// [`IdsExhausted`] if the number 2^63-1 is in use.
    pub fn give(&mut self, kind: RecordKind) -> Result<RecordId, IdsExhausted> {
        let number = self.get(kind).checked_add(1).ok_or(IdsExhausted { kind })?;
        self.raise(kind, number);
        Ok(RecordId::new(kind, number))
    }
}
