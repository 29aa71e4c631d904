//! What a version does to the records.

use super::{ChangeKind, OperationDetails};
use crate::domain::document::{Record, records};
use crate::domain::ids::RecordId;
use crate::domain::memory::RecordChange;
use std::collections::HashMap;

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

/// The records of a version, as a pure function of the document before, the changes from it to the version's document
/// ([`project`](crate::domain::memory::project)), and the data of the operations: the rows that a save, a rebuild and an import write.
#[must_use]
pub fn steps(before: &str, changes: Vec<RecordChange>, details: &OperationDetails) -> Vec<RecordStep> {
    let ends = changes
        .iter()
        .any(|change| matches!(change, RecordChange::Archived(_)));
    let ended = if ends { records(before) } else { Vec::new() };
    let mut ended: HashMap<RecordId, Record> = ended.into_iter().map(|record| (record.id, record)).collect();
    let step = |record, change| RecordStep {
        record,
        change,
        reason: None,
        superseded_by: None,
    };
    changes
        .into_iter()
        .filter_map(|change| match change {
            RecordChange::Added(record) => Some(step(record, ChangeKind::Added)),
            RecordChange::Changed(record) => Some(step(record, ChangeKind::Changed)),
            RecordChange::Archived(id) => {
                let superseded_by = details.superseded.get(&id).copied();
                let change = match superseded_by {
                    Some(_) => ChangeKind::Superseded,
                    None => ChangeKind::Archived,
                };
                Some(RecordStep {
                    reason: details.reasons.get(&id).or(details.left_out.as_ref()).cloned(),
                    superseded_by,
                    ..step(ended.remove(&id)?, change)
                })
            }
        })
        .collect()
}
