//! The stored form of a proposal, from which it is applied later. The form is versioned and does not change with the
//! types of the service.

use super::reading::Accepted;
use super::stored;
use super::stored_request::StoredSessionRecord;
use super::written_item::WrittenItem;
use crate::domain::evidence::Evidence;
use crate::domain::ids::{KeyId, RecordId, RecordKind};
use crate::domain::memory::{AppliedOperation, OperationName};
use crate::domain::operation::{Operation, Progress};
use crate::domain::window::SessionRecord;
use crate::storage::as_text::AsText;
use crate::storage::records::evidence::StoredEvidence;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the form.
const FORM: u32 = 1;

/// A proposal as its run stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Proposal {
    form: u32,
    /// The operations, addressed by their index.
    pub(super) operations: Vec<StoredItem>,
    /// The progress at the time of the proposal, if an operation rewrites it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) progress_before: Option<String>,
    /// The record of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<StoredSessionRecord>,
    /// The key that made the proposal; `None` if the service requires no keys.
    pub(super) key_id: Option<AsText<KeyId>>,
}

/// One operation and the text it was read from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredItem {
    #[serde(flatten)]
    operation: StoredOperation,
    text: String,
    /// The evidence from the input, in the form a version stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Vec<StoredEvidence>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum StoredOperation {
    RewriteProgress {
        completed: Vec<String>,
        in_progress: Vec<String>,
        remaining: Vec<String>,
    },
    AddLearning {
        reason: String,
        content: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<AsText<RecordId>>,
    },
    AddVerbatim {
        reason: String,
        label: String,
        snippet: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<AsText<RecordId>>,
    },
    Archive {
        id: AsText<RecordId>,
        reason: String,
    },
}

impl Proposal {
    /// Creates a proposal from operations in the order of [`in_order`].
    pub(super) fn new(
        operations: &[Accepted],
        progress_before: &str,
        record: Option<&SessionRecord>,
        key: Option<&KeyId>,
    ) -> Self {
        let rewrites = operations.iter().any(rewrites_progress);
        Self {
            form: FORM,
            operations: operations.iter().map(StoredItem::of).collect(),
            progress_before: rewrites.then(|| progress_before.to_owned()),
            record: record.map(StoredSessionRecord::from),
            key_id: key.cloned().map(AsText),
        }
    }

    /// Reads a stored proposal.
    ///
    /// # Errors
    /// A sentence that says why it cannot be read.
    pub(super) fn read(kept: &Value) -> Result<Self, String> {
        let proposal: Self = stored::read(kept)?;
        if proposal.form == FORM {
            Ok(proposal)
        } else {
            Err(format!("it has the form {}, not {FORM}", proposal.form))
        }
    }

    /// The operations with these numbers; the numbers must exist. An addition does not supersede a record whose
    /// archive operation is not chosen too.
    pub(super) fn chosen(&self, numbers: &[usize]) -> Vec<Accepted> {
        let all = self.operations.iter().enumerate();
        let left: Vec<RecordId> = all
            .filter(|(number, _)| !numbers.contains(number))
            .filter_map(|(_, kept)| kept.operation.archived())
            .collect();
        let items = numbers.iter().filter_map(|number| self.operations.get(*number));
        items
            .map(|kept| {
                let mut item = kept.accepted();
                if item.operation.replaces().is_some_and(|id| left.contains(&id)) {
                    item.operation.replace_nothing();
                }
                item
            })
            .collect()
    }
}

/// Items in the order in which [`crate::domain::memory::apply`] applies them, so that the index of an item is that of
/// its applied operation. A rewrite that changes nothing is omitted, as it is there.
pub(super) fn in_order(items: &[Accepted], applied: &[AppliedOperation]) -> Vec<Accepted> {
    let rewritten = applied
        .first()
        .is_some_and(|operation| operation.op == OperationName::RewriteProgress);
    let mut ordered: Vec<Accepted> = Vec::with_capacity(items.len());
    ordered.extend(
        items
            .iter()
            .rev()
            .find(|item| rewrites_progress(item))
            .filter(|_| rewritten)
            .cloned(),
    );
    for kind in RecordKind::ALL {
        let archives =
            |item: &&Accepted| matches!(item.operation, Operation::Archive { id, .. } if id.kind == kind);
        ordered.extend(items.iter().filter(archives).cloned());
        let adds = |item: &&Accepted| match item.operation {
            Operation::AddLearning { .. } => kind == RecordKind::Learning,
            Operation::AddVerbatim { .. } => kind == RecordKind::Verbatim,
            _ => false,
        };
        ordered.extend(items.iter().filter(adds).cloned());
    }
    ordered
}

/// Whether it replaces the body of `Current Progress`.
pub(super) fn rewrites_progress(item: &Accepted) -> bool {
    matches!(item.operation, Operation::RewriteProgress(_))
}

impl StoredItem {
    fn of(item: &Accepted) -> Self {
        Self {
            operation: item.operation.clone().into(),
            text: item.written.text.clone(),
            evidence: (!item.evidence.is_empty())
                .then(|| item.evidence.iter().map(StoredEvidence::from).collect()),
        }
    }

    fn accepted(&self) -> Accepted {
        let evidence = self.evidence.iter().flatten().cloned();
        Accepted {
            operation: self.operation.clone().into(),
            evidence: evidence.map(Evidence::from).collect(),
            written: WrittenItem::of_text(self.text.clone()),
        }
    }
}

impl StoredOperation {
    /// The record that the operation archives.
    fn archived(&self) -> Option<RecordId> {
        match self {
            Self::Archive { id, .. } => Some(id.0),
            _ => None,
        }
    }
}

impl From<Operation> for StoredOperation {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::RewriteProgress(Progress {
                completed,
                in_progress,
                remaining,
            }) => Self::RewriteProgress {
                completed,
                in_progress,
                remaining,
            },
            Operation::AddLearning {
                reason,
                content,
                replaces,
            } => Self::AddLearning {
                reason,
                content,
                replaces: replaces.map(AsText),
            },
            Operation::AddVerbatim {
                reason,
                label,
                snippet,
                replaces,
            } => Self::AddVerbatim {
                reason,
                label,
                snippet,
                replaces: replaces.map(AsText),
            },
            Operation::Archive { id, reason } => Self::Archive {
                id: AsText(id),
                reason,
            },
        }
    }
}

impl From<StoredOperation> for Operation {
    fn from(stored: StoredOperation) -> Self {
        let id = |stored: Option<AsText<RecordId>>| stored.map(|AsText(id)| id);
        match stored {
            StoredOperation::RewriteProgress {
                completed,
                in_progress,
                remaining,
            } => Self::RewriteProgress(Progress {
                completed,
                in_progress,
                remaining,
            }),
            StoredOperation::AddLearning {
                reason,
                content,
                replaces,
            } => Self::AddLearning {
                reason,
                content,
                replaces: id(replaces),
            },
            StoredOperation::AddVerbatim {
                reason,
                label,
                snippet,
                replaces,
            } => Self::AddVerbatim {
                reason,
                label,
                snippet,
                replaces: id(replaces),
            },
            StoredOperation::Archive {
                id: AsText(id),
                reason,
            } => Self::Archive { id, reason },
        }
    }
}

#[cfg(test)]
mod tests;
