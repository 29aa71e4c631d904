//! A record with its present state.

use crate::domain::history::{Ending, Life, Mark};
use crate::domain::ids::{ActorId, RecordId, RecordKind};
use crate::domain::window::Task;
use chrono::{DateTime, Utc};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// Whether a record stands in the newest version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RecordStatus {
    /// It does.
    Active,
    /// It did once.
    Archived,
}

impl RecordStatus {
    /// The stored and shown name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How a record left the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordEnd {
    /// The first version without it.
    pub version: i64,
    /// When that was made.
    pub at: DateTime<Utc>,
    /// Who made it.
    pub by: ActorId,
    /// Why, where an operation said so.
    pub reason: Option<String>,
    /// The record that took its place.
    pub superseded_by: Option<RecordId>,
}

/// A record, active or archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its id.
    pub id: RecordId,
    /// The label of a verbatim record.
    pub label: Option<String>,
    /// Why it was worth keeping, as its line says.
    pub reason: Option<String>,
    /// Its content; of a verbatim record the snippet.
    pub content: String,
    /// The first version with it.
    pub created_version: i64,
    /// When that was made.
    pub created_at: DateTime<Utc>,
    /// Who made it.
    pub created_by: ActorId,
    /// How it ended; `None` while it is active.
    pub end: Option<RecordEnd>,
    /// The time its line bears; without one, `created_at` counts.
    pub written_at: Option<DateTime<Utc>>,
    /// What was told of a task; `None` for one that a person wrote into the document, and for other kinds.
    pub told: Option<Task>,
}

impl StoredRecord {
    /// About how many bytes it takes in a list.
    pub(super) fn size(&self) -> usize {
        let texts = [&self.label, &self.reason];
        let told = self
            .told
            .as_ref()
            .map_or(0, |task| task.intent.len() + task.summary.len());
        texts.into_iter().flatten().map(String::len).sum::<usize>() + self.content.len() + told
    }

    /// What is known of a task: what was told of it or, where a person wrote or changed its line, what that says.
    #[must_use]
    pub fn task(&self) -> Option<Task> {
        (self.id.kind == RecordKind::Task).then(|| Task::of_line(&self.content, self.told.clone()))
    }

    /// When it was said, in its line or by its version.
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

impl From<StoredRecord> for Life {
    fn from(record: StoredRecord) -> Self {
        Self {
            id: record.id,
            label: record.label,
            reason: record.reason,
            content: record.content,
            written_at: record.written_at,
            born: Mark {
                version: record.created_version,
                at: record.created_at,
                by: record.created_by,
            },
            end: record.end.map(|end| Ending {
                mark: Mark {
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
