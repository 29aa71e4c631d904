//! A record with its current state.

use crate::domain::document::Record;
use crate::domain::history::{LifeEnd, RecordLife, VersionMark};
use crate::domain::ids::RecordKind;
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

/// A record, active or archived, with what is stored besides its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// The record, as the last version that contains it has it.
    pub record: Record,
    /// The first version that contains it.
    pub born: VersionMark,
    /// How it ended; `None` while it is active.
    pub end: Option<LifeEnd>,
    /// The reported facts of a task; `None` for a task written into the document by hand, and for other kinds.
    pub reported: Option<Task>,
}

impl StoredRecord {
    /// Its approximate size in a list, in bytes.
    pub(super) fn size(&self) -> usize {
        let texts = [&self.record.label, &self.record.reason];
        let reported = self
            .reported
            .as_ref()
            .map_or(0, |task| task.intent.len() + task.summary.len());
        texts.into_iter().flatten().map(String::len).sum::<usize>() + self.record.content.len() + reported
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

/// Which records to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecordFilter {
    /// Only this kind.
    pub kind: Option<RecordKind>,
    /// Only this status.
    pub status: Option<RecordStatus>,
}

impl From<StoredRecord> for RecordLife {
    fn from(stored: StoredRecord) -> Self {
        Self {
            record: stored.record,
            born: stored.born,
            end: stored.end,
        }
    }
}
