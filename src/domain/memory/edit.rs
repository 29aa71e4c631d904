//! Edits a document in place: removes byte ranges and inserts lines, and leaves everything else unchanged. Its counters are
//! the largest id number used per kind of record, so that no id is reused.

use super::apply::{AppliedOperation, OperationName};
use crate::domain::document::{
    Entry, Expiry, Layout, ManagedSection, Record, Section, brackets, entries, record_lines, record_ranges,
    written_time,
};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::AddedRecord;
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
    /// What the sections that change are given: new records, or of one without records its body, but for the blank lines at its
    /// end.
    changes: BTreeMap<ManagedSection, String>,
    /// The byte ranges to remove, each with the text in its place.
    splices: Vec<(Range<usize>, String)>,
    /// What was done, in order.
    pub(in crate::domain) operations: Vec<AppliedOperation>,
    /// The index of the operation that makes the next changes, of those that [`apply`](super::apply()) was given.
    pub(super) cause: Option<usize>,
}

/// A document after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedDocument {
    /// The text; equal to the original if nothing changed.
    pub text: String,
    /// The counters after the edit.
    pub counters: Counters,
    /// What was done, in order. What changed nothing is omitted.
    pub operations: Vec<AppliedOperation>,
}

impl ChangedDocument {
    /// Checks the size of a document that has changed. One over the limit, such as an imported one, may shrink.
    ///
    /// # Errors
    /// [`EditError::TooLarge`]
    pub(in crate::domain) fn within(self, limit: usize, original: &str) -> Result<Self, EditError> {
        let (before, bytes) = (original.len(), self.text.len());
        if bytes > limit && bytes >= before && self.text != original {
            return Err(EditError::TooLarge { before, bytes, limit });
        }
        Ok(self)
    }

    /// The record that was added last.
    #[must_use]
    pub fn added(&self) -> Option<RecordId> {
        self.ids_of(OperationName::Add).last()
    }

    /// The records that were archived, in order.
    #[must_use]
    pub fn archived(&self) -> Vec<RecordId> {
        self.ids_of(OperationName::Archive).collect()
    }

    fn ids_of(&self, op: OperationName) -> impl Iterator<Item = RecordId> {
        let operations = self.operations.iter().filter(move |operation| operation.op == op);
        operations.filter_map(|operation| operation.id)
    }
}

/// Why a document was not changed. The message may be shown to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The document would exceed the limit.
    #[error("the document has {before} bytes and would have {bytes}, over limits.context_bytes = {limit}")]
    TooLarge {
        /// Current size in bytes.
        before: usize,
        /// Size it would have, in bytes.
        bytes: usize,
        /// Maximum size in bytes.
        limit: usize,
    },
    /// All numbers of a kind are used.
    #[error("no number is left for a new {} record: {} is taken", kind.prefix(), RecordId::new(*kind, i64::MAX))]
    IdsExhausted {
        /// The kind of record.
        kind: RecordKind,
    },
    /// A record to archive or to mark is not active.
    #[error("{id} is not an active {}", match id.kind { RecordKind::Decision => "decision", _ => "record" })]
    NotActive {
        /// The id given.
        id: RecordId,
        /// The active records of its kind, in document order.
        active: Vec<RecordId>,
    },
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
            operations: Vec::new(),
            cause: None,
        }
    }

    fn note(&mut self, op: OperationName, record: Record, reason: Option<String>) {
        self.operations.push(AppliedOperation {
            id: Some(record.id),
            label: record.label,
            reason,
            cause: self.cause,
            ..AppliedOperation::of_section(op, record.content)
        });
    }

    /// Whether a record is active and was not archived by this edit.
    pub(in crate::domain) fn is_active(&self, id: RecordId) -> bool {
        self.active.contains_key(&id)
    }

    fn place_of(&self, id: RecordId) -> Result<usize, EditError> {
        self.active.get(&id).copied().ok_or_else(|| {
            let ids = self.entries.iter().filter_map(|entry| entry.id);
            let is_active = |other: &RecordId| other.kind == id.kind && self.is_active(*other);
            let active = ids.filter(is_active).collect();
            EditError::NotActive { id, active }
        })
    }

    /// Removes an active record from the document. Removes its own lines but not the blank lines after them.
    ///
    /// # Errors
    ///
    /// [`EditError`] if the id is not active, or a bullet of the section needs an id and none is left.
    pub fn archive(&mut self, id: RecordId, reason: &str) -> Result<(), EditError> {
        let index = self.place_of(id)?;
        self.active.remove(&id);
        self.touch(id.kind)?;
        let entry = self.entries[index].clone();
        self.splices.push((entry.range.clone(), String::new()));
        let reason = Some(reason.to_owned());
        self.note(OperationName::Archive, entry.into_record_of(id), reason);
        Ok(())
    }

    /// Changes the marks of an active record; what is absent stays. Only what is between its brackets changes, and its time
    /// stays as it is written.
    ///
    /// # Errors
    ///
    /// [`EditError`] if the id is not active, or a bullet of the section needs an id and none is left.
    pub fn mark(
        &mut self,
        id: RecordId,
        reason: &str,
        pinned: Option<bool>,
        until: Option<Expiry>,
    ) -> Result<(), EditError> {
        let index = self.place_of(id)?;
        let mut entry = self.entries[index].clone();
        let before = entry.marks;
        entry.marks = before.changed(pinned, until);
        if entry.marks != before {
            self.touch(id.kind)?;
            let written = &self.text[entry.brackets.clone()];
            let time = entry.time.and_then(|_| written[1..].split([',', ']']).next());
            let mut range = entry.brackets.clone();
            let mut text = brackets(time.map(str::trim), &entry.marks);
            if range.is_empty() {
                // An id may stand at the end of its line.
                match self.text[..range.start].ends_with([' ', '\t', '\r']) {
                    true => text.push(' '),
                    false => text.insert(0, ' '),
                }
            } else if text.is_empty() {
                // Without brackets the blank behind them goes too.
                range.end += usize::from(self.text[range.end..].starts_with(' '));
            }
            self.splices.push((range, text));
            entry.content = match entry.marks.is_empty() {
                true => "no marks".to_owned(),
                false => entry.marks.to_string(),
            };
            let reason = Some(reason.to_owned());
            self.note(OperationName::Mark, entry.into_record_of(id), reason);
        }
        Ok(())
    }

    /// Adds a record with this time.
    ///
    /// # Errors
    ///
    /// [`EditError::IdsExhausted`] if no number is left for it, or for a bullet of its section that needs one.
    pub fn add(
        &mut self,
        kind: RecordKind,
        record: &AddedRecord,
        time: DateTime<Utc>,
    ) -> Result<RecordId, EditError> {
        self.touch(kind)?;
        let id = self.counters.give(kind)?;
        let lines = record_lines(id, time, record);
        let section = ManagedSection::of_records(kind);
        // As it will be read again.
        let added = Entry::read(&lines, 0..lines.len(), kind).into_record_of(id);
        let reason = added.reason.clone();
        self.note(OperationName::Add, added, reason);
        let new = self.changes.entry(section).or_default();
        match is_newest_first(kind) {
            true => new.insert_str(0, &lines),
            false => new.push_str(&lines),
        }
        Ok(id)
    }

    /// Allocates an id for a record that is not written into the document.
    ///
    /// # Errors
    ///
    /// [`EditError::IdsExhausted`] if no number is left for it.
    pub fn reserve(&mut self, kind: RecordKind) -> Result<RecordId, EditError> {
        self.counters.give(kind)
    }

    /// Replaces the body of `Current Progress`, as [`Self::rewrite`] does.
    pub(in crate::domain) fn rewrite_progress(&mut self, body: String) {
        if self.rewrite(ManagedSection::CurrentProgress, body.clone()) {
            let rewritten = AppliedOperation::of_section(OperationName::RewriteProgress, body);
            let cause = self.cause;
            self.operations.push(AppliedOperation { cause, ..rewritten });
        }
    }

    /// Replaces the body of a section that contains no records; its trailing blank lines stay. Returns
    /// `false` and changes nothing if the body has the same lines already, ignoring blank lines and trailing
    /// blanks.
    pub fn rewrite(&mut self, section: ManagedSection, body: String) -> bool {
        debug_assert!(section.record_kind().is_none(), "records are never rewritten");
        let current = self.layout.managed(section);
        let current = current.map_or("", |found| &self.text[found.body.clone()]);
        let differs = !nonblank_lines(current).eq(nonblank_lines(&body));
        if differs {
            self.changes.insert(section, body);
        }
        differs
    }

    /// Writes all changes.
    #[must_use]
    pub fn finish(mut self) -> ChangedDocument {
        let mut closing_line = self.layout.closing_line();
        let mut appended = Vec::new();
        for (section, new) in std::mem::take(&mut self.changes) {
            match self.layout.managed(section).cloned() {
                Some(found) => self.place(section, &found, new, &mut closing_line),
                None => appended.push((section, new)),
            }
        }
        let mut text = self.spliced();
        for (section, body) in appended {
            append_section(&mut text, closing_line.take(), section.title(), &body);
        }
        ChangedDocument {
            text,
            counters: self.counters,
            operations: self.operations,
        }
    }

    /// Places what is new in an existing section. Consumes the line that closes an open fence when it is written or no longer
    /// needed.
    fn place(
        &mut self,
        section: ManagedSection,
        found: &Section,
        mut new: String,
        closing_line: &mut Option<String>,
    ) {
        let is_last = found.range.end == self.text.len();
        let end = found.written_end(self.text);
        let mut bullets = self.layout.bullets.iter();
        let first = bullets.find(|bullet| bullet.section == section);
        let place = match section.record_kind() {
            None => found.body.start..end,
            Some(kind) => {
                let first = first.filter(|_| is_newest_first(kind));
                let at = first.map_or(end, |bullet| bullet.range.start);
                at..at
            }
        };
        if is_last && section.record_kind().is_none() {
            *closing_line = None;
        } else if is_last && place.end == end && !new.is_empty() {
            new.insert_str(0, &closing_line.take().unwrap_or_default());
        }
        self.splices.push((place, new));
    }

    /// Marks a section as changed; the first time, assigns ids to its bullets that have none.
    fn touch(&mut self, kind: RecordKind) -> Result<(), EditError> {
        let section = ManagedSection::of_records(kind);
        if self.changes.contains_key(&section) {
            return Ok(());
        }
        self.changes.insert(section, String::new());
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
            self.splices.push((range, text));
        }
        Ok(())
    }

    /// Applies the splices to the text. They do not overlap; at the same position insertions come first.
    fn spliced(&mut self) -> String {
        self.splices.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        for (range, new) in &self.splices {
            out.push_str(&self.text[done..range.start]);
            if new.ends_with('\n') {
                // Whole lines begin on a new one.
                end_line(&mut out);
            }
            out.push_str(new);
            done = range.end;
        }
        out.push_str(&self.text[done..]);
        out
    }
}

/// Whether new records of a kind stand before the others.
fn is_newest_first(kind: RecordKind) -> bool {
    matches!(kind, RecordKind::Task | RecordKind::Decision)
}

/// The non-blank lines of a body, without trailing blanks.
fn nonblank_lines(body: &str) -> impl Iterator<Item = &str> {
    body.split('\n')
        .map(|line| line.trim_end_matches([' ', '\t', '\r']))
        .filter(|line| !line.is_empty())
}

/// Appends a section to a document: ends its last line if needed, closes an open fence, and adds an empty line and the
/// section. In an empty text the section starts at the first byte.
pub(in crate::domain) fn append_section(
    text: &mut String,
    closing_line: Option<String>,
    title: &str,
    body: &str,
) {
    end_line(text);
    text.push_str(&closing_line.unwrap_or_default());
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("# {title}\n{body}"));
}

/// Ends the last line of a text.
fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// The largest number ever used for each kind of record of one memory; 0 if none was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters([i64; RecordKind::ALL.len()]);

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
    /// [`EditError::IdsExhausted`] if the number 2^63-1 is in use.
    pub fn give(&mut self, kind: RecordKind) -> Result<RecordId, EditError> {
        let number = self.get(kind).checked_add(1);
        let number = number.ok_or(EditError::IdsExhausted { kind })?;
        self.raise(kind, number);
        Ok(RecordId::new(kind, number))
    }
}
