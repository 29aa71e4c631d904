//! The rows that [`save`](super::save) writes, in the form that its statement reads: JSON objects whose members are the
//! columns of `save_versions.sql`. A new column of a version or a record needs a member here and a column there.

use super::prepared::Prepared;
use super::stored_operations::TAKEN_OVER;
use crate::domain::document::Record;
use crate::domain::history::{ChangeKind, RecordStep};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::memory::Counters;
use crate::domain::window::Task;
use crate::storage::contexts::origins;
use crate::storage::events::NewEvent;
use crate::storage::records::{DetailColumns, stored_marks};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// A version and the new values of its memory's row. Its text is sent separately.
#[derive(Serialize)]
pub(super) struct VersionRow<'a> {
    /// Its position among the versions saved together, from 1.
    place: usize,
    vault_id: &'a str,
    memory_id: &'a str,
    /// The head that it is based on; `None` if the memory has no version yet.
    base: Option<&'a str>,
    /// The counters that it is based on, if it assigns numbers.
    counted: Option<[i64; RecordKind::ALL.len()]>,
    context_id: &'a str,
    version: i64,
    time: DateTime<Utc>,
    counters: [i64; RecordKind::ALL.len()],
    actor_id: &'a str,
    source: &'static str,
    bytes: i32,
    update_id: Option<&'a str>,
    operations: Option<&'a Value>,
    log: &'a str,
    line_origins: Option<Vec<i64>>,
    event_id: &'a str,
    /// Sent when it is saved.
    notification: String,
}

impl<'a> VersionRow<'a> {
    pub(super) fn of(place: usize, prepared: &'a Prepared) -> Self {
        let metadata = &prepared.metadata;
        Self {
            place,
            vault_id: metadata.vault_id.as_str(),
            memory_id: metadata.memory_id.as_str(),
            base: prepared.base.as_ref().map(|base| base.as_str()),
            counted: prepared.counted.as_ref().map(Counters::numbers),
            context_id: metadata.context_id.as_str(),
            version: metadata.version,
            time: metadata.creation_time,
            counters: prepared.new.counters.numbers(),
            actor_id: metadata.actor_id.as_str(),
            source: metadata.source.name(),
            bytes: metadata.bytes,
            update_id: metadata.update_id.as_ref().map(|id| id.as_str()),
            operations: prepared.operations.as_ref(),
            log: &metadata.log,
            line_origins: prepared.origins.as_ref().and_then(origins::to_stored),
            event_id: &prepared.event.event_id,
            notification: prepared.notification().payload(),
        }
    }
}

/// The run that created a version.
#[derive(Serialize)]
pub(super) struct RunRow<'a> {
    /// The position of its version.
    place: usize,
    kind: &'static str,
    status: &'static str,
    actor_id: &'a str,
    created_at: DateTime<Utc>,
    finished_at: Option<DateTime<Utc>>,
    base_version: i64,
    request: Option<&'a RawValue>,
    exchanges: Option<&'a RawValue>,
    outcome: Option<&'a RawValue>,
}

impl<'a> RunRow<'a> {
    /// Of the run of a version that has no row yet.
    pub(super) fn of(place: usize, version: &'a Prepared) -> Option<Self> {
        let (run, texts) = (version.new.run.as_deref()?, version.ran.as_ref()?);
        Some(Self {
            place,
            kind: run.kind.name(),
            status: run.status.name(),
            actor_id: run.actor_id.as_str(),
            created_at: run.created_at,
            finished_at: run.finished_at,
            base_version: run.base_version,
            request: serde_json::from_str(&texts.request).ok(),
            exchanges: serde_json::from_str(&texts.exchanges).ok(),
            outcome: serde_json::from_str(&texts.outcome).ok(),
        })
    }
}

/// Instructions that a run names.
#[derive(Serialize)]
pub(super) struct InstructionRow<'a> {
    /// The position of its version.
    place: usize,
    hash: &'a str,
    text: &'a str,
}

impl<'a> InstructionRow<'a> {
    /// Those of the run of a version that has no row yet.
    pub(super) fn all_of(place: usize, version: &'a Prepared) -> impl Iterator<Item = Self> {
        version.ran.iter().flat_map(move |texts| {
            let named = texts.hashes.iter().zip(&texts.instructions);
            named.map(move |(hash, text)| Self { place, hash, text })
        })
    }
}

/// A step of the run that created a version, as an event.
#[derive(Serialize)]
pub(super) struct StepRow<'a> {
    /// The position of its version.
    place: usize,
    event_id: &'a str,
    kind: &'static str,
    created_at: DateTime<Utc>,
    actor_id: Option<&'a str>,
    update_id: Option<&'a str>,
    details: Option<&'a Value>,
}

impl<'a> StepRow<'a> {
    pub(super) fn of(place: usize, step: &'a NewEvent) -> Self {
        Self {
            place,
            event_id: &step.event_id,
            kind: step.kind.name(),
            created_at: step.created_at,
            actor_id: step.actor.as_ref().map(|actor| actor.as_str()),
            update_id: step.update_id.as_ref().map(|id| id.as_str()),
            details: step.details.as_ref(),
        }
    }
}

/// A record after its version, and how the version changed it.
#[derive(Serialize)]
pub(super) struct RecordRow<'a> {
    /// The position of its version.
    place: usize,
    kind: &'static str,
    number: i64,
    status: &'static str,
    /// The change in its history; `None` for a record that was archived before it was imported.
    change: Option<&'static str>,
    label: Option<&'a str>,
    reason: Option<&'a str>,
    content: &'a str,
    archive_reason: Option<&'a str>,
    superseded_by: Option<String>,
    written_at: Option<DateTime<Utc>>,
    marks: Option<String>,
    task_id: Option<&'a str>,
    intent: Option<&'a str>,
    summary: Option<&'a str>,
    #[serde(flatten)]
    details: DetailColumns<'a>,
}

impl<'a> RecordRow<'a> {
    fn of_record(place: usize, record: &'a Record) -> Self {
        Self {
            place,
            kind: record.id.kind.prefix(),
            number: record.id.number,
            status: "active",
            change: None,
            label: record.label.as_deref(),
            reason: record.reason.as_deref(),
            content: &record.content,
            archive_reason: None,
            superseded_by: None,
            written_at: record.time,
            marks: stored_marks(&record.marks),
            task_id: None,
            intent: None,
            summary: None,
            details: DetailColumns::default(),
        }
    }

    fn of_step(place: usize, step: &'a RecordStep) -> Self {
        Self {
            status: if step.change.is_end() {
                "archived"
            } else {
                "active"
            },
            change: Some(step.change.name()),
            archive_reason: step.reason.as_deref(),
            superseded_by: step.superseded_by.map(|id| id.to_string()),
            ..Self::of_record(place, &step.record)
        }
    }

    fn with_task(self, task: Option<&'a Task>) -> Self {
        let Some(task) = task else { return self };
        Self {
            task_id: task.task_id.as_ref().map(|id| id.as_str()),
            intent: Some(&task.intent),
            summary: Some(&task.summary),
            details: DetailColumns::from(&task.details),
            ..self
        }
    }

    /// The rows of a version: what it does to records, and those that it adds directly to the archive.
    pub(super) fn all_of(place: usize, prepared: &'a Prepared) -> impl Iterator<Item = Self> {
        let window = &prepared.new.window;
        let tasks: HashMap<RecordId, &Task> = window.tasks.iter().map(|(id, task)| (*id, task)).collect();
        let steps = prepared.steps.iter().map(move |step| {
            let task = match step.change {
                ChangeKind::Added => tasks.get(&step.record.id).copied(),
                _ => None,
            };
            Self::of_step(place, step).with_task(task)
        });
        let historic = window.historic.iter().map(move |historic| {
            let row = Self {
                status: "archived",
                archive_reason: Some(TAKEN_OVER),
                ..Self::of_record(place, &historic.record)
            };
            row.with_task(historic.task.as_ref())
        });
        steps.chain(historic)
    }
}
