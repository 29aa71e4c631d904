//! A record with its current state.

use crate::domain::document::{Marks, Record};
use crate::domain::history::{LifeEnd, RecordLife, VersionMark};
use crate::domain::ids::{ActorId, RecordId, RecordKind};
use crate::domain::window::Task;
use chrono::{DateTime, Utc};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// Whether a record is in the newest version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RecordStatus {
    /// It is in the newest version.
    Active,
    /// It was in an older version.
    Archived,
}

impl RecordStatus {
    /// The name in storage and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How a record was archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordEnd {
    /// The first version without it.
    pub version: i64,
    /// When that version was created.
    pub at: DateTime<Utc>,
    /// Who created it.
    pub by: ActorId,
    /// The reason, if an operation contained one.
    pub reason: Option<String>,
    /// The record that replaced it.
    pub superseded_by: Option<RecordId>,
}

/// A record, active or archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its id.
    pub id: RecordId,
    /// The label of a verbatim record.
    pub label: Option<String>,
    /// The reason for keeping it, from its line.
    pub reason: Option<String>,
    /// Its content; for a verbatim record the snippet.
    pub content: String,
    /// The first version with it.
    pub created_version: i64,
    /// When that version was created.
    pub created_at: DateTime<Utc>,
    /// Who created it.
    pub created_by: ActorId,
    /// How it ended; `None` while it is active.
    pub end: Option<RecordEnd>,
    /// The time on its line; without one, `created_at` counts.
    pub written_at: Option<DateTime<Utc>>,
    /// Whether it is pinned, and until when it holds.
    pub marks: Marks,
    /// The reported facts of a task; `None` for a task written into the document by hand, and for other kinds.
    pub reported: Option<Task>,
}

impl StoredRecord {
    /// Its approximate size in a list, in bytes.
    pub(super) fn size(&self) -> usize {
        let texts = [&self.label, &self.reason];
        let reported = self
            .reported
            .as_ref()
            .map_or(0, |task| task.intent.len() + task.summary.len());
        texts.into_iter().flatten().map(String::len).sum::<usize>() + self.content.len() + reported
    }

    /// The facts of a task: as reported or, if its line was written or changed by hand, from the line.
    #[must_use]
    pub fn task(&self) -> Option<Task> {
        (self.id.kind == RecordKind::Task).then(|| Task::of_line(&self.content, self.reported.clone()))
    }

    /// The time on its line, or that of its version.
    #[must_use]
    pub fn time(&self) -> DateTime<Utc> {
        self.written_at.unwrap_or(self.created_at)
    }
}

/// Which records to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecordFilter {
    /// Only this kind.
    pub kind: Option<RecordKind>,
    /// Only this status.
    pub status: Option<RecordStatus>,
}

impl From<StoredRecord> for RecordLife {
    fn from(record: StoredRecord) -> Self {
        Self {
            record: Record {
                id: record.id,
                time: record.written_at,
                marks: record.marks,
                reason: record.reason,
                label: record.label,
                content: record.content,
            },
            born: VersionMark {
                version: record.created_version,
                at: record.created_at,
                by: record.created_by,
            },
            end: record.end.map(|end| LifeEnd {
                mark: VersionMark {
                    version: end.version,
                    at: end.at,
                    by: end.by,
                },
                reason: end.reason,
                superseded_by: end.superseded_by,
            }),
        }
    }
}
