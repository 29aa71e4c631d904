//! The records of a memory, derived from its versions.

use super::RecordRow;
use crate::domain::changelog::left_out_by;
use crate::domain::document::Record;
use crate::domain::history::{LifeEnd, OperationDetails, Rebuild, RecordLife, VersionMark, steps};
use crate::domain::memory::RecordChange;
use crate::storage::contexts::Source;
use crate::storage::write::operation_details;
use serde::Serialize;
use serde_json::Value;

/// A version as far as records follow from it.
pub(in crate::storage) struct ProjectedVersion<'v> {
    pub(in crate::storage) mark: VersionMark,
    /// The operation that created it.
    pub(in crate::storage) source: Source,
    /// `None` if it was redacted.
    pub(in crate::storage) text: Option<&'v str>,
    pub(in crate::storage) operations: Option<&'v Value>,
}

/// A record after a version that changed it.
#[derive(Debug, Serialize)]
pub(in crate::storage) struct ChangedRecord {
    /// The change in its history; `None` for one that was added directly to the archive.
    change: Option<&'static str>,
    #[serde(flatten)]
    row: RecordRow,
}

impl ProjectedVersion<'_> {
    /// Adds it to those that records are rebuilt from.
    pub(in crate::storage) fn add_to(&self, rebuild: &mut Rebuild) {
        rebuild.version(&self.mark, self.text, self.details());
    }

    /// What its operations tell about records beyond its text.
    fn details(&self) -> OperationDetails {
        let is_whole = matches!(self.source, Source::Put | Source::Restore);
        OperationDetails {
            left_out: is_whole.then(|| left_out_by(self.mark.version)),
            ..operation_details(self.operations)
        }
    }

    /// The records that it changes, by the changes from the document before it to its own, and those that it adds to the
    /// archive.
    pub(in crate::storage) fn changed_records(&self, changes: Vec<RecordChange>) -> Vec<ChangedRecord> {
        let details = self.details();
        let end = |reason, superseded_by| LifeEnd {
            mark: self.mark.clone(),
            reason,
            superseded_by,
        };
        let changed = |record: Record, end, change| {
            let life = RecordLife {
                reported: details.tasks.get(&record.id).cloned(),
                born: self.mark.clone(),
                record,
                end,
            };
            let row = RecordRow::of(life);
            ChangedRecord { change, row }
        };
        let steps = steps(changes, &details).into_iter().map(|step| {
            let end = step.change.is_end().then(|| end(step.reason, step.superseded_by));
            changed(step.record, end, Some(step.change.name()))
        });
        let historic = details.historic.into_iter();
        let historic = historic.map(|(record, reason)| changed(record, Some(end(Some(reason), None)), None));
        steps.chain(historic).collect()
    }
}
