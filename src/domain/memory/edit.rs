//! One service-made change of a document: bytes cut out and lines put in, everything else untouched.

use super::counters::{Counters, IdsExhausted};
use crate::domain::document::{
    Entry, Layout, ManagedSection, NewRecord, Record, Section, entries, record_lines, written_time,
};
use crate::domain::ids::{RecordId, RecordKind};
use chrono::{DateTime, Utc};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A change in the making. Operations are collected against the document as it was; [`Edit::finish`] writes
/// them all in one pass.
///
/// The first operation on a section numbers its bullets that have no id, in place and in document order.
/// New KL and VC records go last in their section, behind its last line that is not blank; new T and D records
/// go before its first bullet, or last where it has none. A section the document lacks is appended.
///
/// Where a fence is open at the end of the text, what would be written behind it could not be read: a line that
/// closes the fence is written first. The text before it stays as it is, and means what it meant.
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

/// What is put into one section.
#[derive(Debug, Clone, Default)]
struct SectionChange {
    /// Put in the place of the body, but for the blank lines at its end.
    body: Option<String>,
    /// Put before the first bullet, the newest record first.
    first: Vec<String>,
    /// Put behind the last written line.
    last: String,
}

/// Bytes cut out and text put in their place.
#[derive(Debug, Clone)]
struct Splice {
    range: Range<usize>,
    text: String,
    /// Whether the text must begin on a line of its own.
    on_own_line: bool,
}

impl<'t> Edit<'t> {
    /// Begins a change. The counters are raised to the numbers the document itself holds.
    #[must_use]
    pub fn new(text: &'t str, counters: Counters, now: DateTime<Utc>) -> Self {
        let layout = Layout::of(text);
        let entries: Vec<_> = entries(text, &layout).collect();
        let active = entries
            .iter()
            .enumerate()
            .filter_map(|(index, e)| Some((e.id?, index)))
            .collect();
        let counters = counters.raised_by(&Counters::seen_in(text));
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

    /// Takes an active record out of the document, with its own lines but not the blank lines behind them, and
    /// gives it back. None if the id is not active; then nothing is changed.
    ///
    /// # Errors
    ///
    /// [`IdsExhausted`] when a bullet of the section needs an id and none is left.
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

    /// Adds a record and gives it back as it will be read.
    ///
    /// # Errors
    ///
    /// [`IdsExhausted`] when no number is left for it, or for a bullet of its section that needs one.
    pub fn add(&mut self, kind: RecordKind, record: &NewRecord<'_>) -> Result<Record, IdsExhausted> {
        self.add_of(kind, record, self.now)
    }

    /// As [`Edit::add`], with the time that is written on the record.
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

    /// Gives an id to a record that does not stand in the document.
    ///
    /// # Errors
    ///
    /// [`IdsExhausted`] when no number is left for it, or for a bullet of its section that needs one.
    pub fn reserve(&mut self, kind: RecordKind) -> Result<RecordId, IdsExhausted> {
        self.counters.give(kind)
    }

    /// Replaces the whole body of a section that holds no records; blank lines at its end stay. False, and
    /// nothing changed, if the body says that already: it has the same lines, blank ones and blanks at the ends
    /// of lines aside.
    pub fn rewrite(&mut self, section: ManagedSection, body: String) -> bool {
        debug_assert!(section.record_kind().is_none(), "records are never rewritten");
        let current = self
            .layout
            .managed(section)
            .map_or("", |found| &self.text[found.body.clone()]);
        let differs = !said_lines(current).eq(said_lines(&body));
        if differs {
            self.changes.entry(section).or_default().body = Some(body);
        }
        differs
    }

    /// The document after the change, and the counters after it. Equal to the document before if nothing was
    /// changed.
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

    /// Makes the splices of a section that exists. The line that closes an open fence is taken where it is
    /// written, or no longer needed.
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

    /// Notes that a section is changed, and at the first time numbers its bullets that have no id.
    fn touch(&mut self, kind: RecordKind) -> Result<(), IdsExhausted> {
        let section = ManagedSection::of_records(kind);
        if self.changes.contains_key(&section) {
            return Ok(());
        }
        self.changes.insert(section, SectionChange::default());
        // An empty bullet is nothing to keep; but one that repeats an id would be that record once the first is gone.
        let counts = |e: &Entry| !e.is_empty() || !e.id_place.is_empty();
        let unnumbered = |e: &&Entry| e.kind == kind && e.id.is_none() && counts(e);
        for entry in self.entries.iter().filter(unnumbered) {
            let mut text = self.counters.give(kind)?.to_string();
            if entry.time.is_none() {
                text.push_str(&format!(" [{}]", written_time(self.now)));
            }
            if entry.id_place.is_empty() {
                text.push(' ');
            }
            self.splices.push(Splice {
                range: entry.id_place.clone(),
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

    /// The text with the splices made. They do not overlap; at one place what is put in stands first.
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

/// What a body says, line by line.
fn said_lines(body: &str) -> impl Iterator<Item = &str> {
    body.split('\n')
        .map(|line| line.trim_end_matches([' ', '\t', '\r']))
        .filter(|line| !line.is_empty())
}

/// Appends a section: a newline if the text lacks one, an empty line, the section. Into an empty text it goes
/// at the first byte.
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
