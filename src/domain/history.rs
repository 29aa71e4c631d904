//! The history of records: what happened to each record by version, and how it is derived from the versions.
//!
//! Records and their history are projections of the documents: [`Rebuild`] recomputes both. A change can be
//! derived if the texts of a version and of its predecessor exist. If one of them was redacted or pruned, the
//! stored data is all that is known and is kept: the changes of that version, and births, ends and contents
//! that no pair of texts shows.

use super::document::{Marks, Record, records};
use super::ids::{ActorId, RecordId, RecordKind};
use super::memory::{RecordChange, project};
use super::window::Task;
use chrono::{DateTime, Utc};
use std::collections::{BTreeMap, HashMap, HashSet};
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

impl LifeEnd {
    /// An end of which nothing else is known.
    fn of(mark: &VersionMark) -> Self {
        Self {
            mark: mark.clone(),
            reason: None,
            superseded_by: None,
        }
    }
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

/// A life being rebuilt; uncertain parts are taken from the stored data.
struct RebuiltRecord {
    life: RecordLife,
    is_birth_certain: bool,
    is_text_certain: bool,
}

/// Rebuilds records and their history from the versions, oldest first. Linear in all texts together.
pub struct Rebuild {
    stored: BTreeMap<RecordId, RecordLife>,
    stored_events: BTreeMap<i64, Vec<RecordEvent>>,
    built: BTreeMap<RecordId, RebuiltRecord>,
    events: Vec<RecordEvent>,
    version: i64,
    /// The text of the current version, if it exists; empty before the first version.
    text: Option<String>,
    /// Whether the text of an earlier version is missing.
    has_gap: bool,
    tasks: HashMap<RecordId, Task>,
}

impl Rebuild {
    /// Starts with the stored data, which is used where the versions are incomplete.
    #[must_use]
    pub fn new(stored: Vec<RecordLife>, events: Vec<RecordEvent>) -> Self {
        let mut stored_events: BTreeMap<i64, Vec<RecordEvent>> = BTreeMap::new();
        for event in events {
            stored_events.entry(event.mark.version).or_default().push(event);
        }
        Self {
            stored: stored.into_iter().map(|life| (life.record.id, life)).collect(),
            stored_events,
            built: BTreeMap::new(),
            events: Vec::new(),
            version: 0,
            text: Some(String::new()),
            has_gap: false,
            tasks: HashMap::new(),
        }
    }

    /// Processes the next existing version: its `text` (`None` if redacted) and the data from its operations.
    pub fn version(&mut self, mark: &VersionMark, text: Option<&str>, details: OperationDetails) {
        if mark.version > self.version + 1 {
            self.keep_events(mark.version - 1);
            self.text = None;
            self.has_gap = true;
        }
        match (self.text.take(), text) {
            (Some(before), Some(text)) => {
                self.stored_events.remove(&mark.version);
                for step in steps(project(&before, text), &details) {
                    self.derive(mark, step, &details);
                }
            }
            (_, text) => {
                self.keep_events(mark.version);
                if let Some(text) = text {
                    self.take_present_records(mark, text);
                }
            }
        }
        if text.is_some() {
            self.add_historic(mark, &details.historic);
        }
        self.has_gap |= text.is_none();
        self.tasks.extend(details.tasks);
        self.text = text.map(str::to_owned);
        self.version = mark.version;
    }

    /// Returns the records by id, and their changes by version and id.
    #[must_use]
    pub fn finish(mut self) -> (Vec<RecordLife>, Vec<RecordEvent>) {
        self.keep_events(i64::MAX);
        let mut lives = std::mem::take(&mut self.stored);
        for (id, built) in self.built {
            let mut life = built.life;
            life.reported = self.tasks.remove(&id);
            if let Some(stored) = lives.remove(&id) {
                // A redaction may have removed some of them.
                life.reported = stored.reported;
                if !built.is_birth_certain {
                    life.born = stored.born;
                }
                if !built.is_text_certain {
                    life.record = stored.record;
                }
            }
            lives.insert(id, life);
        }
        self.events.sort_by_key(|event| (event.mark.version, event.id));
        (lives.into_values().collect(), self.events)
    }

    fn derive(&mut self, mark: &VersionMark, step: RecordStep, details: &OperationDetails) {
        let id = step.record.id;
        let change = match step.change {
            ChangeKind::Archived | ChangeKind::Superseded => {
                let known = self.stored_end(id, mark.version);
                let told = details.reasons.contains_key(&id);
                let known_reason = known.as_ref().and_then(|end| end.reason.clone());
                let end = LifeEnd {
                    mark: mark.clone(),
                    // The reason of the whole version is less exact than a stored one.
                    reason: if told {
                        step.reason
                    } else {
                        known_reason.or(step.reason)
                    },
                    superseded_by: step.superseded_by.or_else(|| known?.superseded_by),
                };
                let change = ChangeKind::end(end.superseded_by);
                if let Some(built) = self.built.get_mut(&id) {
                    built.life.end = Some(end);
                }
                change
            }
            ChangeKind::Added | ChangeKind::Restored => {
                let was_before = self
                    .stored
                    .get(&id)
                    .is_some_and(|life| life.born.version < mark.version);
                let is_known = self.built.contains_key(&id) || (self.has_gap && was_before);
                self.mark_active(step.record, mark, !is_known);
                match is_known {
                    true => ChangeKind::Restored,
                    false => ChangeKind::Added,
                }
            }
            ChangeKind::Changed => {
                self.mark_active(step.record, mark, true);
                ChangeKind::Changed
            }
        };
        self.events.push(RecordEvent {
            id,
            change,
            mark: mark.clone(),
        });
    }

    /// Keeps the stored changes up to a version whose texts are missing.
    fn keep_events(&mut self, up_to: i64) {
        let later = match up_to.checked_add(1) {
            Some(next) => self.stored_events.split_off(&next),
            None => BTreeMap::new(),
        };
        let kept = std::mem::replace(&mut self.stored_events, later);
        for event in kept.into_values().flatten() {
            let end = self.stored_end(event.id, event.mark.version);
            let stored = self.stored.get(&event.id);
            let built = self.built.entry(event.id).or_insert_with(|| RebuiltRecord {
                life: stored.cloned().unwrap_or_else(|| empty(event.id, &event.mark)),
                is_birth_certain: false,
                is_text_certain: false,
            });
            built.is_text_certain = false;
            let unexplained = || LifeEnd::of(&event.mark);
            built.life.end = event.change.is_end().then(|| end.unwrap_or_else(unexplained));
            self.events.push(event);
        }
    }

    /// Processes a text whose predecessor is missing: exactly the records in it are active.
    fn take_present_records(&mut self, mark: &VersionMark, text: &str) {
        let present = records(text);
        let ids: HashSet<RecordId> = present.iter().map(|record| record.id).collect();
        for record in present {
            if !self.built.contains_key(&record.id) && !self.stored.contains_key(&record.id) {
                self.events.push(RecordEvent {
                    id: record.id,
                    change: ChangeKind::Added,
                    mark: mark.clone(),
                });
            }
            self.mark_active(record, mark, false);
        }
        for (id, built) in &mut self.built {
            if built.life.end.is_none() && !ids.contains(id) {
                let stored = self.stored.get(id).and_then(|life| life.end.clone());
                built.life.end = Some(stored.unwrap_or_else(|| LifeEnd::of(mark)));
                built.is_text_certain = false;
            }
        }
    }

    /// Processes records that went directly to the archive. Stored data takes precedence, because it may have
    /// been redacted.
    fn add_historic(&mut self, mark: &VersionMark, historic: &[(Record, String)]) {
        for (record, reason) in historic {
            let end = self.stored_end(record.id, mark.version).unwrap_or(LifeEnd {
                reason: Some(reason.clone()),
                ..LifeEnd::of(mark)
            });
            self.built.entry(record.id).or_insert_with(|| RebuiltRecord {
                life: RecordLife {
                    record: record.clone(),
                    born: mark.clone(),
                    end: Some(end),
                    reported: None,
                },
                is_birth_certain: true,
                is_text_certain: false,
            });
        }
    }

    fn mark_active(&mut self, record: Record, mark: &VersionMark, is_birth_certain: bool) {
        let built = self.built.entry(record.id).or_insert_with(|| RebuiltRecord {
            life: empty(record.id, mark),
            is_birth_certain,
            is_text_certain: true,
        });
        built.is_text_certain = true;
        built.life.end = None;
        built.life.record = record;
    }

    fn stored_end(&self, id: RecordId, version: i64) -> Option<LifeEnd> {
        let end = self.stored.get(&id)?.end.as_ref()?;
        (end.mark.version == version).then(|| end.clone())
    }
}

fn empty(id: RecordId, born: &VersionMark) -> RecordLife {
    RecordLife {
        record: Record {
            id,
            time: None,
            marks: Marks::default(),
            reason: None,
            label: None,
            content: String::new(),
        },
        born: born.clone(),
        end: None,
        reported: None,
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
