//! What a handoff is made from: the changes of the window, each resolved to its current record or replacement.

use super::citation::Citation;
use super::steps::Steps;
use crate::domain::document::{ManagedSection, records};
use crate::domain::history::{ChangeKind, Life, Mark, RecordEvent};
use crate::domain::ids::{ContextId, MemoryId, RecordId, RecordKind, VaultId};
use chrono::{DateTime, Utc};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A memory as the database showed it at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its vault.
    pub vault: VaultId,
    /// Its id.
    pub memory: MemoryId,
    /// The moment.
    pub now: DateTime<Utc>,
    /// Since when there is the memory.
    pub created_at: DateTime<Utc>,
    /// The newest version.
    pub head: Mark,
    /// Its id.
    pub context_id: ContextId,
    /// Its text.
    pub text: String,
    /// The changes of the window, the newest first.
    pub changes: Vec<RecordEvent>,
    /// Older changes of the window that were too many to read.
    pub has_more_changes: bool,
    /// The records that changed, and those that took their place.
    pub records: BTreeMap<RecordId, Life>,
}

/// A record that changed in the window.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The record as it is now.
    pub life: Life,
    /// What happened to it, the oldest first, each once.
    pub changes: Vec<ChangeKind>,
    /// The version of its last change in the window.
    pub last: Mark,
    /// Itself while it is active, else the active record that took its place, if one did.
    pub current: Option<RecordId>,
}

impl Entry {
    /// Whether it stands in the newest version.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.life.end.is_none()
    }

    /// The record in a version in which it reads as it does now, or as it did last.
    #[must_use]
    pub fn citation(&self) -> Citation {
        let version = match &self.life.end {
            None => self.last.version,
            Some(end) => end.mark.version - 1,
        };
        Citation::record(self.life.id, version)
    }
}

/// What is known of something that may be cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Supplied {
    /// What it says.
    pub(super) text: String,
    /// Whether it stands in the newest version.
    pub(super) is_active: bool,
}

/// All that the lines of a handoff may stand on.
#[derive(Debug, Clone)]
pub struct Material {
    /// The newest version.
    pub head: Mark,
    /// The records that changed, the newest change first.
    pub entries: Vec<Entry>,
    /// Active records that took the place of such, and did not change in the window themselves.
    pub replacements: Vec<Life>,
    /// What the document says about the work.
    pub steps: Steps,
    /// The window had more changes than were read.
    pub has_more_changes: bool,
    pub(super) supplied: BTreeMap<Citation, Supplied>,
    active_by_id: BTreeMap<RecordId, Citation>,
    /// All records of the newest version by kind, those with the largest numbers first.
    standing: BTreeMap<RecordKind, Vec<Citation>>,
}

impl Material {
    /// Resolves a snapshot. Linear in its changes and the chains of replacements.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        let mut places: HashMap<RecordId, usize> = HashMap::new();
        for event in &snapshot.changes {
            let Some(life) = snapshot.records.get(&event.id) else {
                continue;
            };
            let place = *places.entry(event.id).or_insert_with(|| {
                entries.push(Entry {
                    life: life.clone(),
                    changes: Vec::new(),
                    last: event.mark.clone(),
                    current: current(&snapshot.records, event.id),
                });
                entries.len() - 1
            });
            let changes = &mut entries[place].changes;
            if !changes.contains(&event.change) {
                changes.insert(0, event.change);
            }
        }
        let mut seen: HashSet<RecordId> = HashSet::new();
        let replacements = entries
            .iter()
            .filter_map(|entry| entry.current)
            .filter(|id| !places.contains_key(id) && seen.insert(*id))
            .filter_map(|id| snapshot.records.get(&id).cloned())
            .collect();
        let mut material = Self {
            head: snapshot.head.clone(),
            entries,
            replacements,
            steps: Steps::of(&snapshot.text),
            has_more_changes: snapshot.has_more_changes,
            supplied: BTreeMap::new(),
            active_by_id: BTreeMap::new(),
            standing: BTreeMap::new(),
        };
        material.supplied = material.supply();
        material.active_by_id = material
            .active()
            .map(|(life, citation)| (life.id, citation))
            .collect();
        material.stand(&snapshot.text);
        material
    }

    /// Takes notice of the records of the newest version, whether they changed or not.
    fn stand(&mut self, document: &str) {
        for record in records(document) {
            let changed = self.active_by_id.get(&record.id).copied();
            let citation = changed.unwrap_or_else(|| Citation::record(record.id, self.head.version));
            self.standing.entry(record.id.kind).or_default().push(citation);
        }
        for citations in self.standing.values_mut() {
            citations.sort_by_key(|citation| Reverse(citation.subject));
        }
    }

    /// Whether what is cited stands in the newest version.
    #[must_use]
    pub fn is_active(&self, citation: &Citation) -> bool {
        match self.supplied.get(citation) {
            Some(supplied) => supplied.is_active,
            None => self
                .standing
                .values()
                .flatten()
                .any(|standing| standing == citation),
        }
    }

    /// How the records of a kind in the newest version are cited, those with the largest numbers first.
    #[must_use]
    pub fn standing(&self, kind: RecordKind) -> &[Citation] {
        self.standing.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// How an active record or replacement is cited; `None` for one that is not among them.
    #[must_use]
    pub fn citation_of(&self, id: RecordId) -> Option<Citation> {
        self.active_by_id.get(&id).copied()
    }

    /// The records that lines about the present may be about, each once.
    pub fn active(&self) -> impl Iterator<Item = (&Life, Citation)> {
        let changed = self.entries.iter().filter(|entry| entry.is_active());
        let replacements = self.replacements.iter();
        changed
            .map(|entry| (&entry.life, entry.citation()))
            .chain(replacements.map(|life| (life, self.citation_of_replacement(life))))
    }

    /// `Current Progress` in the newest version.
    #[must_use]
    pub fn progress(&self) -> Citation {
        Citation::section(ManagedSection::CurrentProgress, self.head.version)
    }

    /// `Active Context` in the newest version.
    #[must_use]
    pub fn status(&self) -> Citation {
        Citation::section(ManagedSection::ActiveContext, self.head.version)
    }

    fn citation_of_replacement(&self, life: &Life) -> Citation {
        Citation::record(life.id, self.head.version)
    }

    fn supply(&self) -> BTreeMap<Citation, Supplied> {
        let mut supplied = BTreeMap::new();
        let active = self
            .active()
            .map(|(life, citation)| (citation, wording(life), true));
        let ended = self
            .entries
            .iter()
            .filter(|entry| !entry.is_active())
            .map(|entry| (entry.citation(), wording(&entry.life), false));
        for (citation, text, is_active) in active.chain(ended) {
            supplied.insert(citation, Supplied { text, is_active });
        }
        let Steps {
            goal,
            blocker,
            in_progress,
            remaining,
        } = &self.steps;
        let mut section = |citation: Citation, lines: Vec<String>| {
            if !lines.is_empty() {
                let text = lines.join("; ");
                supplied.insert(
                    citation,
                    Supplied {
                        text,
                        is_active: true,
                    },
                );
            }
        };
        let named = |name: &str, lines: &[String]| -> Vec<String> {
            lines.iter().map(|line| format!("{name}: {line}")).collect()
        };
        let status = [("Goal", goal), ("Blocker", blocker)];
        section(
            self.status(),
            status
                .iter()
                .filter_map(|(name, value)| Some(format!("{name}: {}", value.as_ref()?)))
                .collect(),
        );
        let mut progress = named("In Progress", in_progress);
        progress.extend(named("Remaining", remaining));
        section(self.progress(), progress);
        supplied
    }
}

/// The active record at the end of a chain of replacements. A record never takes its own place, so a chain ends; one
/// that does not is broken off.
fn current(records: &BTreeMap<RecordId, Life>, id: RecordId) -> Option<RecordId> {
    let mut seen: HashSet<RecordId> = HashSet::new();
    let mut at = id;
    while seen.insert(at) {
        match &records.get(&at)?.end {
            None => return Some(at),
            Some(end) => at = end.superseded_by?,
        }
    }
    None
}

/// What a record says, in the words of its line.
pub(super) fn wording(life: &Life) -> String {
    let mut text = String::new();
    if let Some(reason) = &life.reason {
        text.push_str("because ");
        text.push_str(reason);
        text.push_str(": ");
    }
    if let Some(label) = &life.label {
        text.push_str(label);
        text.push_str(" => ");
    }
    text.push_str(&life.content);
    if text.trim().is_empty() {
        "(its text was taken out)".clone_into(&mut text);
    }
    text
}

/// A kind of records in a word.
pub(super) fn noun(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Learning => "Learning",
        RecordKind::Verbatim => "Snippet",
        RecordKind::Task => "Task",
        RecordKind::Decision => "Decision",
    }
}
