//! The input of a handoff: the changes in the window, each resolved to its current record or replacement.

use super::line::{Citation, Line, quoted};
use crate::domain::document::{ManagedSection, Record, progress_of, records, sections_changed};
use crate::domain::history::{ChangeKind, RecordEvent, RecordLife, VersionMark};
use crate::domain::ids::{ContextId, MemoryId, RecordId, RecordKind, VaultId};
use crate::domain::operation::Progress;
use crate::domain::text::lines::start_of;
use crate::domain::text::{is_nothing, visible_line};
use crate::domain::window::Status;
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

/// The state of a memory as read from the database in one snapshot.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its vault.
    pub vault: VaultId,
    /// Its id.
    pub memory: MemoryId,
    /// Time of the snapshot.
    pub now: DateTime<Utc>,
    /// The newest version.
    pub head: VersionMark,
    /// Context id of the newest version.
    pub context_id: ContextId,
    /// Text of the newest version.
    pub text: String,
    /// Text that was the newest when the window began: empty if the memory is younger, `None` if it is not known any
    /// more.
    pub before: Option<String>,
    /// The changes in the window, newest first.
    pub changes: Vec<RecordEvent>,
    /// Whether the window has older changes that were not read.
    pub has_more_changes: bool,
    /// The records that changed, and their replacements.
    pub records: BTreeMap<RecordId, RecordLife>,
}

/// A record that changed in the window.
#[derive(Debug, Clone)]
pub struct Entry<'s> {
    /// The current state of the record.
    pub life: &'s RecordLife,
    /// Its changes, oldest first, without duplicates.
    pub changes: Vec<ChangeKind>,
    /// The version of its last change in the window.
    pub last: &'s VersionMark,
    /// The record itself while it is active, otherwise the active record that replaced it, if any.
    pub current: Option<RecordId>,
}

impl Entry<'_> {
    /// Whether it is in the newest version.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.life.end.is_none()
    }

    /// Cites the record in a version that contains its current or last state.
    #[must_use]
    pub fn citation(&self) -> Citation {
        let version = match &self.life.end {
            None => self.last.version,
            Some(end) => end.mark.version - 1,
        };
        Citation::record(self.life.record.id, version)
    }
}

/// How far ahead a handoff looks for records that expire.
const EXPIRING_DAYS: i64 = 7;

/// A snapshot, resolved: everything that the lines of a handoff may cite.
#[derive(Debug, Clone)]
pub struct Material<'s> {
    pub(super) snapshot: &'s Snapshot,
    /// The records that changed, latest change first.
    pub entries: Vec<Entry<'s>>,
    /// Active records that replaced changed ones and did not change in the window themselves.
    replacements: Vec<&'s RecordLife>,
    /// The current work as the document states it.
    pub(super) steps: Steps,
    /// What changed outside the records.
    pub(super) section_changes: SectionChanges,
    /// Active records that expire within [`EXPIRING_DAYS`], and those that have expired, soonest first.
    pub(super) expiring: Vec<Line>,
    /// Citations of all records in the newest version.
    active: BTreeMap<RecordId, Citation>,
}

impl<'s> Material<'s> {
    /// Resolves a snapshot. Linear in its changes and the chains of replacements.
    #[must_use]
    pub fn of(snapshot: &'s Snapshot) -> Self {
        let entries = entries(snapshot);
        let changed: HashMap<RecordId, i64> = entries
            .iter()
            .map(|entry| (entry.life.record.id, entry.last.version))
            .collect();
        let mut seen: HashSet<RecordId> = HashSet::new();
        let replacements = entries
            .iter()
            .filter_map(|entry| entry.current)
            .filter(|id| !changed.contains_key(id) && seen.insert(*id))
            .filter_map(|id| snapshot.records.get(&id))
            .collect();
        let records = records(&snapshot.text);
        let active = records.iter().map(|record| {
            let changed = changed.get(&record.id).copied();
            let version = changed.unwrap_or(snapshot.head.version);
            (record.id, Citation::record(record.id, version))
        });
        let active = active.collect();
        let steps = Steps::of(&snapshot.text);
        Self {
            snapshot,
            entries,
            replacements,
            section_changes: SectionChanges::of(snapshot, &steps),
            steps,
            expiring: expiring(&records, &active, snapshot.now),
            active,
        }
    }

    /// Whether the cited subject is in the newest version.
    #[must_use]
    pub fn is_active(&self, citation: &Citation) -> bool {
        match citation.record_id() {
            None => citation.version == self.snapshot.head.version,
            Some(id) => self.citation_of(id) == Some(*citation),
        }
    }

    /// Citations of the records of a kind in the newest version, largest number first.
    #[must_use]
    pub fn active_citations(&self, kind: RecordKind) -> Vec<Citation> {
        let newest_first = self.active.iter().rev();
        newest_first
            .filter(|(id, _)| id.kind == kind)
            .map(|(_, citation)| *citation)
            .collect()
    }

    /// The citation of a record of the newest version.
    #[must_use]
    pub fn citation_of(&self, id: RecordId) -> Option<Citation> {
        self.active.get(&id).copied()
    }

    /// The records that lines about the current state may cite, without duplicates.
    pub fn active(&self) -> impl Iterator<Item = (&'s RecordLife, Citation)> {
        let changed = self.entries.iter().filter(|entry| entry.is_active());
        let lives = changed
            .map(|entry| entry.life)
            .chain(self.replacements.iter().copied());
        lives.filter_map(|life| Some((life, self.citation_of(life.record.id)?)))
    }

    /// Cites `Current Progress` in the newest version.
    #[must_use]
    pub fn progress(&self) -> Citation {
        Citation::section(ManagedSection::CurrentProgress, self.snapshot.head.version)
    }

    /// Cites `Active Context` in the newest version.
    #[must_use]
    pub fn status(&self) -> Citation {
        Citation::section(ManagedSection::ActiveContext, self.snapshot.head.version)
    }
}

/// The records that changed, each with all of its changes.
fn entries(snapshot: &Snapshot) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut places: HashMap<RecordId, usize> = HashMap::new();
    for event in &snapshot.changes {
        let Some(life) = snapshot.records.get(&event.id) else {
            continue;
        };
        let place = *places.entry(event.id).or_insert_with(|| {
            entries.push(Entry {
                life,
                changes: Vec::new(),
                last: &event.mark,
                current: current(&snapshot.records, event.id),
            });
            entries.len() - 1
        });
        let changes = &mut entries[place].changes;
        if !changes.contains(&event.change) {
            changes.insert(0, event.change);
        }
    }
    entries
}

/// The lines about the records that expire soon or have expired, changed or not, soonest first.
fn expiring(records: &[Record], active: &BTreeMap<RecordId, Citation>, now: DateTime<Utc>) -> Vec<Line> {
    let soon = now + TimeDelta::days(EXPIRING_DAYS);
    let expiring = records.iter().filter_map(|record| {
        let until = record.marks.until.filter(|until| until.end() <= soon)?;
        let verb = if until.end() <= now { "expired" } else { "expires" };
        let (noun, id) = (noun(record.id.kind), record.id);
        let text = quoted(record.label.as_ref().unwrap_or(&record.content));
        let text = format!("{noun} {id} {verb} on {until}: {text}");
        Some((until.end(), Line::of(text, active[&id])))
    });
    let mut expiring: Vec<_> = expiring.collect();
    expiring.sort_by_key(|(end, _)| *end);
    expiring.into_iter().map(|(_, line)| line).collect()
}

/// Follows a chain of replacements to the active record at its end. A record never replaces itself, so the
/// chain ends; a cycle in the data yields `None`.
fn current(records: &BTreeMap<RecordId, RecordLife>, id: RecordId) -> Option<RecordId> {
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

/// Differences outside the records between the text at the beginning of the window and the newest one. Old text is not
/// quoted: it may have been redacted since.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SectionChanges {
    /// Goal and blocker, those of them that changed, with their new values.
    pub(super) status: Vec<(&'static str, Option<String>)>,
    /// Bullets that their list did not have.
    pub(super) new: Progress,
    /// Number of bullets of In Progress and Remaining that are in no list any more.
    pub(super) dropped: usize,
    /// Titles of the free sections that changed.
    pub(super) free: Vec<String>,
}

impl SectionChanges {
    fn of(snapshot: &Snapshot, now: &Steps) -> Self {
        let Some(before_text) = &snapshot.before else {
            return Self::default();
        };
        let before = Steps::of(before_text);
        let new = |now: &[String], before: &[String]| -> Vec<String> {
            let known: HashSet<&String> = before.iter().collect();
            now.iter()
                .filter(|bullet| !known.contains(bullet))
                .cloned()
                .collect()
        };
        let listed: HashSet<&str> = now.progress.bullets().collect();
        let (was, is) = (&before.progress, &now.progress);
        let planned = was.in_progress.iter().chain(&was.remaining);
        let status = [
            ("Goal", &before.goal, &now.goal),
            ("Blocker", &before.blocker, &now.blocker),
        ];
        let status = status.into_iter().filter(|(_, was, is)| was != is);
        Self {
            status: status.map(|(name, _, is)| (name, is.clone())).collect(),
            dropped: planned.filter(|bullet| !listed.contains(bullet.as_str())).count(),
            new: Progress {
                completed: new(&is.completed, &was.completed),
                in_progress: new(&is.in_progress, &was.in_progress),
                remaining: new(&is.remaining, &was.remaining),
            },
            free: sections_changed(before_text, &snapshot.text).free,
        }
    }
}

/// The current work as the document states it: goal, blocker and progress bullets, each on one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Steps {
    /// `Goal:` of Active Context; `None` if it says that there is none.
    pub goal: Option<String>,
    /// `Blocker:` of Active Context; `None` if it says that there is none.
    pub blocker: Option<String>,
    /// The bullets of Current Progress.
    pub progress: Progress,
}

impl Steps {
    /// Parses a document. Linear.
    #[must_use]
    pub fn of(document: &str) -> Self {
        let Status { goal, blocker, .. } = Status::of(document);
        let stated = |value: Option<String>| {
            let value = visible_line(&value?);
            (!is_nothing(&value)).then_some(value)
        };
        Self {
            goal: stated(goal),
            blocker: stated(blocker),
            progress: progress_of(document),
        }
    }
}

/// The text of a record without its reason.
pub(super) fn content_text(life: &RecordLife) -> String {
    let mut text = String::new();
    if let Some(label) = &life.record.label {
        text.push_str(label);
        text.push_str(" => ");
    }
    text.push_str(&life.record.content);
    if text.trim().is_empty() {
        "(its text was taken out)".clone_into(&mut text);
    }
    text
}

/// The text of a record as on its line.
fn record_text(life: &RecordLife) -> String {
    match &life.record.reason {
        Some(reason) => format!("because {reason}: {}", content_text(life)),
        None => content_text(life),
    }
}

/// The name of a record kind.
pub(super) fn noun(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Learning => "Learning",
        RecordKind::Verbatim => "Snippet",
        RecordKind::Task => "Task",
        RecordKind::Decision => "Decision",
    }
}

/// Maximum number of records in the input, latest change first.
const RECORDS: usize = 100;

/// Maximum number of characters per entry.
const ENTRY_CHARS: usize = 500;

/// What a model is given: the entries as text, one line each after its citation, and what they say by citation, which is what
/// the model may cite.
#[must_use]
pub fn shown(material: &Material<'_>) -> (String, BTreeMap<Citation, String>) {
    let mut text = String::new();
    let mut said: BTreeMap<Citation, String> = BTreeMap::new();
    let mut entry = |citation: Citation, what: &str, content: &str| {
        // Brackets would look like citations of other entries.
        let content = visible_line(content).replace('[', "(").replace(']', ")");
        let content = start_of(&content, ENTRY_CHARS);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[{citation}] {what}: {content}");
        let _ = writeln!(said.entry(citation).or_default(), "{content}");
    };
    let (steps, changes) = (&material.steps, &material.section_changes);
    let status = [
        ("Goal", steps.goal.as_slice()),
        ("Blocker", steps.blocker.as_slice()),
    ];
    let progress = [
        ("In Progress", steps.progress.in_progress.as_slice()),
        ("Remaining", steps.progress.remaining.as_slice()),
    ];
    for (citation, lists) in [(material.status(), status), (material.progress(), progress)] {
        let values = lists
            .iter()
            .flat_map(|(name, values)| values.iter().map(move |value| format!("{name}: {value}")));
        let values: Vec<String> = values.collect();
        if !values.is_empty() {
            entry(citation, "active, the state of the work", &values.join("; "));
        }
    }
    for (name, value) in &changes.status {
        let value = value.as_deref().unwrap_or("none is stated any more");
        let content = format!("{name}: {value}");
        entry(material.status(), "changed in this window", &content);
    }
    for (name, bullets) in changes.new.lists() {
        if !bullets.is_empty() {
            let what = format!("new in this window under {name}");
            entry(material.progress(), &what, &bullets.join("; "));
        }
    }
    for changed in material.entries.iter().take(RECORDS) {
        let state = if changed.is_active() { "active" } else { "archived" };
        let changes: Vec<&str> = changed.changes.iter().map(|change| change.name()).collect();
        let what = format!(
            "{state} {}, {}",
            noun(changed.life.record.id.kind).to_lowercase(),
            changes.join(", then ")
        );
        entry(changed.citation(), &what, &record_text(changed.life));
    }
    for life in material.replacements.iter().take(RECORDS) {
        if let Some(citation) = material.citation_of(life.record.id) {
            let what = format!(
                "active {}, took the place of another",
                noun(life.record.id.kind).to_lowercase()
            );
            entry(citation, &what, &record_text(life));
        }
    }
    (text, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_and_the_status_are_read() {
        let text = "# Current Progress\n## Completed\n- done\n## In Progress\n- wire\n  it up\n- \nprose\n  more\n\
                    ```\n- shown\n```\n## Remaining:\n- (none)\n* bench\n# Active Context\nGoal: ship\nBlocker: (none)\nUpdated: now\n\
                    # Notes\n## Remaining\n- not this\n";
        let steps = Steps::of(text);
        assert_eq!(steps.goal.as_deref(), Some("ship"));
        assert_eq!(steps.blocker, None);
        assert_eq!(steps.progress.in_progress, ["wire it up"]);
        assert_eq!(steps.progress.remaining, ["bench"]);
        assert_eq!(Steps::of("# Notes\n- In Progress\n"), Steps::default());
        let shown = "# Active Context\nwords\n```\nGoal: shown\n```\n";
        assert_eq!(Steps::of(shown), Steps::default());
        let bullet = Steps::of("# Active Context\n- Blocker: the quota\n");
        assert_eq!(bullet.blocker.as_deref(), Some("the quota"));
    }
}
