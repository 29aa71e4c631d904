//! The history of records: what happened to each record by version, and how it is derived from the versions.
//!
//! Records and their history are projections of the documents: [`Rebuild`] recomputes both if the texts of all versions
//! exist. If one was redacted or pruned, the stored records and changes are kept as they are, and only what is
//! missing is derived, as far as texts exist.

use super::document::{Record, records};
use super::ids::{ActorId, RecordId, RecordKind};
use super::memory::{RecordChange, project};
use super::window::Task;
use chrono::{DateTime, Utc};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// The change of a record in a version.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString, IntoStaticStr, VariantNames,
)]
#[strum(serialize_all = "snake_case")]
pub enum ChangeKind {
    /// It was added.
    Added,
    /// Its text changed.
    Changed,
    /// It was archived.
    Archived,
    /// It was archived and another record replaced it.
    Superseded,
    /// It was added again after it had been archived.
    Restored,
}

listed! {
    /// What a version did to a record.
    ChangeKind as "ChangeKind";
}

impl ChangeKind {
    /// The name in the database and in responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The end of a record that another one may have replaced.
    #[must_use]
    pub fn end(superseded_by: Option<RecordId>) -> Self {
        match superseded_by {
            Some(_) => Self::Superseded,
            None => Self::Archived,
        }
    }

    /// Whether the record is absent from the version with this change.
    #[must_use]
    pub fn is_end(self) -> bool {
        matches!(self, Self::Archived | Self::Superseded)
    }
}

/// A version, when it was made, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionMark {
    /// Its number.
    pub version: i64,
    /// When the version was made.
    pub at: DateTime<Utc>,
    /// The actor who made it.
    pub by: ActorId,
}

/// One change of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordEvent {
    /// The record.
    pub id: RecordId,
    /// The kind of change.
    pub change: ChangeKind,
    /// The version with the change.
    pub mark: VersionMark,
}

/// How a record ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifeEnd {
    /// The first version without it.
    pub mark: VersionMark,
    /// The reason, if an operation gave one.
    pub reason: Option<String>,
    /// The record that replaced it.
    pub superseded_by: Option<RecordId>,
}

/// A record, active or archived, from its first version to its end, with what is known besides its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordLife {
    /// The record, as the last version that contains it has it.
    pub record: Record,
    /// The first version that contains it.
    pub born: VersionMark,
    /// How it ended; `None` while it is active.
    pub end: Option<LifeEnd>,
    /// The reported facts of a task; `None` for a task written into the document by hand, and for other kinds.
    pub reported: Option<Task>,
}

impl RecordLife {
    /// A record that began with this version.
    fn of(record: Record, mark: &VersionMark, end: Option<LifeEnd>) -> Self {
        Self {
            record,
            born: mark.clone(),
            end,
            reported: None,
        }
    }

    /// The facts of a task: as reported or, if its line was written or changed by hand, from the line.
    #[must_use]
    pub fn task(&self) -> Option<Task> {
        let record = &self.record;
        (record.id.kind == RecordKind::Task).then(|| Task::of_line(&record.content, self.reported.clone()))
    }

    /// The time on its line, or that of its version.
    #[must_use]
    pub fn time(&self) -> DateTime<Utc> {
        self.record.time.unwrap_or(self.born.at)
    }
}

/// Data about records from a version's operations that its text does not contain.
#[derive(Debug, Clone, Default)]
pub struct OperationDetails {
    /// Reasons of archived records.
    pub reasons: HashMap<RecordId, String>,
    /// The reason for all other archived records.
    pub left_out: Option<String>,
    /// Replacements of archived records.
    pub superseded: HashMap<RecordId, RecordId>,
    /// Records that went directly to the archive, with reasons.
    pub historic: Vec<(Record, String)>,
    /// The reported facts of tasks.
    pub tasks: HashMap<RecordId, Task>,
}

/// Rebuilds records and their history from the versions, oldest first. Linear in all texts together.
pub struct Rebuild {
    stored: BTreeMap<RecordId, RecordLife>,
    stored_events: Vec<RecordEvent>,
    lives: BTreeMap<RecordId, RecordLife>,
    events: BTreeMap<(i64, RecordId), RecordEvent>,
    version: i64,
    /// The text of the current version, if it exists; empty before the first version.
    text: Option<String>,
    /// Whether the texts of all versions so far exist.
    is_whole: bool,
}

impl Rebuild {
    /// Starts with the stored data, which counts if the versions are incomplete.
    #[must_use]
    pub fn new(stored: Vec<RecordLife>, events: Vec<RecordEvent>) -> Self {
        Self {
            stored: stored.into_iter().map(|life| (life.record.id, life)).collect(),
            stored_events: events,
            lives: BTreeMap::new(),
            events: BTreeMap::new(),
            version: 0,
            text: Some(String::new()),
            is_whole: true,
        }
    }

    /// Processes the next existing version: its `text` (`None` if redacted) and the data from its operations.
    pub fn version(&mut self, mark: &VersionMark, text: Option<&str>, details: OperationDetails) {
        let is_next = mark.version == self.version + 1;
        self.is_whole &= is_next && text.is_some();
        match (self.text.take().filter(|_| is_next), text) {
            (Some(before), Some(text)) => {
                for step in steps(project(&before, text), &details) {
                    self.derive(mark, step);
                }
            }
            (None, Some(text)) => self.begin_again(mark, text),
            (_, None) => {}
        }
        for (record, reason) in details.historic {
            let end = LifeEnd {
                mark: mark.clone(),
                reason: Some(reason),
                superseded_by: None,
            };
            let life = self.lives.entry(record.id);
            life.or_insert_with(|| RecordLife::of(record, mark, Some(end)));
        }
        for (id, task) in details.tasks {
            if let Some(life) = self.lives.get_mut(&id) {
                life.reported = Some(task);
            }
        }
        self.text = text.map(str::to_owned);
        self.version = mark.version;
    }

    /// Returns the records by id, and their changes by version and id.
    #[must_use]
    pub fn finish(mut self) -> (Vec<RecordLife>, Vec<RecordEvent>) {
        if self.is_whole {
            // What was reported of a task may be known from an import alone.
            for (id, life) in &mut self.lives {
                if let Some(stored) = self.stored.remove(id) {
                    life.reported = stored.reported;
                }
            }
        } else {
            // A record without a row is one that follows from the versions that are there: so it was exported once.
            self.lives.extend(self.stored);
            let stored = self.stored_events.into_iter();
            self.events
                .extend(stored.map(|event| ((event.mark.version, event.id), event)));
        }
        (
            self.lives.into_values().collect(),
            self.events.into_values().collect(),
        )
    }

    /// Whether the texts of all versions so far exist.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// After a missing text: what was active and is not there has ended unseen, what is there and unknown begins.
    fn begin_again(&mut self, mark: &VersionMark, text: &str) {
        let present: BTreeMap<RecordId, Record> = records(text)
            .into_iter()
            .map(|record| (record.id, record))
            .collect();
        self.lives
            .retain(|id, life| life.end.is_some() || present.contains_key(id));
        for record in present.into_values() {
            self.set(mark, record, None);
        }
    }

    /// What a record is from a version on; an unknown one begins there.
    fn set(&mut self, mark: &VersionMark, record: Record, end: Option<LifeEnd>) {
        match self.lives.entry(record.id) {
            Entry::Occupied(life) => {
                let life = life.into_mut();
                (life.record, life.end) = (record, end);
            }
            Entry::Vacant(life) => {
                life.insert(RecordLife::of(record, mark, end));
            }
        }
    }

    fn derive(&mut self, mark: &VersionMark, step: RecordStep) {
        let id = step.record.id;
        let is_older = |stored: &RecordLife| stored.born.version < mark.version;
        let is_known =
            self.lives.contains_key(&id) || !self.is_whole && self.stored.get(&id).is_some_and(is_older);
        let change = match step.change {
            ChangeKind::Added if is_known => ChangeKind::Restored,
            change => change,
        };
        let end = change.is_end().then(|| LifeEnd {
            mark: mark.clone(),
            reason: step.reason,
            superseded_by: step.superseded_by,
        });
        self.set(mark, step.record, end);
        let mark = mark.clone();
        self.events
            .insert((mark.version, id), RecordEvent { id, change, mark });
    }
}

/// What a version does to a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordStep {
    /// The record after the version; of one that ended, as the version before has it.
    pub record: Record,
    /// The change. A record that is added may have been archived before: then the step restores it.
    pub change: ChangeKind,
    /// Why it ended.
    pub reason: Option<String>,
    /// The record that replaced it.
    pub superseded_by: Option<RecordId>,
}

/// The records of a version, as a pure function of the changes from the document before it to its own
/// ([`project`]), and the data of the operations: the rows that a save, a rebuild and an import write.
#[must_use]
pub fn steps(changes: Vec<RecordChange>, details: &OperationDetails) -> Vec<RecordStep> {
    let step = |record, change| RecordStep {
        record,
        change,
        reason: None,
        superseded_by: None,
    };
    let steps = changes.into_iter().map(|change| match change {
        RecordChange::Added(record) => step(record, ChangeKind::Added),
        RecordChange::Changed { new, .. } => step(new, ChangeKind::Changed),
        RecordChange::Archived(record) => {
            let id = record.id;
            let superseded_by = details.superseded.get(&id).copied();
            RecordStep {
                reason: details.reasons.get(&id).or(details.left_out.as_ref()).cloned(),
                superseded_by,
                ..step(record, ChangeKind::end(superseded_by))
            }
        }
    });
    steps.collect()
}
