//! What a proposal keeps of itself, so that it can be applied later: a form of its own, with a number, which does not
//! change when the types of the service do.

use crate::domain::ids::{KeyId, RecordId, RecordKind};
use crate::domain::memory::{AppliedOperation, OperationName};
use crate::domain::operation::{Operation, Progress};
use crate::domain::window::{SessionRecord, Task, TaskDetails};
use crate::storage::records::evidence;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reading::Accepted;
use super::written_item::WrittenItem;

/// The number of the form.
const FORM: u32 = 1;

/// A proposal as its run keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Proposal {
    form: u32,
    /// By their numbers.
    pub(super) operations: Vec<KeptItem>,
    /// The progress that a rewriting one replaces, as it was then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) progress_before: Option<String>,
    /// What the session ended with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<KeptRecord>,
    /// The key that proposed it; `None` at a service that asked for none.
    pub(super) key_id: Option<String>,
}

/// One operation and the text it was read from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptItem {
    #[serde(flatten)]
    operation: KeptOperation,
    text: String,
    /// What of the input carries it, as a version keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum KeptOperation {
    RewriteProgress {
        completed: Vec<String>,
        in_progress: Vec<String>,
        remaining: Vec<String>,
    },
    AddLearning {
        reason: String,
        content: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<String>,
    },
    AddVerbatim {
        reason: String,
        label: String,
        snippet: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<String>,
    },
    Archive {
        id: String,
        reason: String,
    },
}

/// The record of a session, as runs keep it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    intent: String,
    summary: String,
    #[serde(flatten)]
    details: TaskDetails,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocker: Option<String>,
}

impl Proposal {
    /// Of operations in the order of [`in_order`].
    pub(super) fn new(
        operations: &[Accepted],
        progress_before: &str,
        record: Option<&SessionRecord>,
        key: Option<&KeyId>,
    ) -> Self {
        let rewrites = operations.iter().any(rewrites_progress);
        Self {
            form: FORM,
            operations: operations.iter().map(KeptItem::of).collect(),
            progress_before: rewrites.then(|| progress_before.to_owned()),
            record: record.map(KeptRecord::from),
            key_id: key.map(ToString::to_string),
        }
    }

    /// Reads what was kept.
    ///
    /// # Errors
    /// A sentence that says why it cannot be read.
    pub(super) fn read(kept: &Value) -> Result<Self, String> {
        let proposal = Self::deserialize(kept).map_err(|error| error.to_string())?;
        if proposal.form == FORM {
            Ok(proposal)
        } else {
            Err(format!("it has the form {}, not {FORM}", proposal.form))
        }
    }

    /// The operations with these numbers, which it has. An addition replaces nothing whose archiving, an operation of
    /// its own, is not among them.
    ///
    /// # Errors
    /// A sentence that says why one cannot be read.
    pub(super) fn chosen(&self, numbers: &[usize]) -> Result<Vec<Accepted>, String> {
        let archived = |kept: &KeptItem| match &kept.operation {
            KeptOperation::Archive { id, .. } => Some(id.clone()),
            _ => None,
        };
        let all = self.operations.iter().enumerate();
        let left: Vec<String> = all
            .filter(|(number, _)| !numbers.contains(number))
            .filter_map(|(_, kept)| archived(kept))
            .collect();
        let items = numbers.iter().filter_map(|number| self.operations.get(*number));
        items
            .map(|kept| {
                let mut item = kept.accepted()?;
                let replaced = item.operation.replaces().map(|id| id.to_string());
                if replaced.is_some_and(|id| left.contains(&id)) {
                    item.operation.replace_nothing();
                }
                Ok(item)
            })
            .collect()
    }
}

/// Items in the order in which [`crate::domain::memory::apply`] does them, so that each one's place is that of what
/// was applied. A rewriting that changes nothing is left out, as it is there.
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

impl KeptItem {
    fn of(item: &Accepted) -> Self {
        Self {
            operation: KeptOperation::of(&item.operation),
            text: item.written.text.clone(),
            evidence: (!item.evidence.is_empty()).then(|| evidence::to_stored(&item.evidence)),
        }
    }

    fn accepted(&self) -> Result<Accepted, String> {
        let told = self.evidence.as_ref().map(|kept| {
            let problem = "its evidence is not of the form in which it is kept";
            evidence::from_stored(kept).ok_or_else(|| problem.to_owned())
        });
        Ok(Accepted {
            operation: self.operation.read()?,
            evidence: told.transpose()?.unwrap_or_default(),
            written: WrittenItem {
                text: self.text.clone(),
                index: None,
            },
        })
    }
}

impl KeptOperation {
    fn of(operation: &Operation) -> Self {
        match operation.clone() {
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
                replaces: replaces.map(|id| id.to_string()),
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
                replaces: replaces.map(|id| id.to_string()),
            },
            Operation::Archive { id, reason } => Self::Archive {
                id: id.to_string(),
                reason,
            },
        }
    }

    fn read(&self) -> Result<Operation, String> {
        Ok(match self.clone() {
            Self::RewriteProgress {
                completed,
                in_progress,
                remaining,
            } => Operation::RewriteProgress(Progress {
                completed,
                in_progress,
                remaining,
            }),
            Self::AddLearning {
                reason,
                content,
                replaces,
            } => Operation::AddLearning {
                reason,
                content,
                replaces: replaces.map(|id| record(&id)).transpose()?,
            },
            Self::AddVerbatim {
                reason,
                label,
                snippet,
                replaces,
            } => Operation::AddVerbatim {
                reason,
                label,
                snippet,
                replaces: replaces.map(|id| record(&id)).transpose()?,
            },
            Self::Archive { id, reason } => Operation::Archive {
                id: record(&id)?,
                reason,
            },
        })
    }
}

fn record(id: &str) -> Result<RecordId, String> {
    id.parse().map_err(|_| format!("{id} is no id of a record"))
}

impl From<&SessionRecord> for KeptRecord {
    fn from(record: &SessionRecord) -> Self {
        let SessionRecord { task, goal, blocker } = record.clone();
        Self {
            task_id: task.task_id.map(|id| id.to_string()),
            intent: task.intent,
            summary: task.summary,
            details: task.details,
            goal,
            blocker,
        }
    }
}

impl TryFrom<KeptRecord> for SessionRecord {
    type Error = String;

    fn try_from(kept: KeptRecord) -> Result<Self, String> {
        let task_id = kept
            .task_id
            .map(|id| id.parse().map_err(|_| format!("{id} is no task_id")));
        Ok(Self {
            task: Task {
                task_id: task_id.transpose()?,
                intent: kept.intent,
                summary: kept.summary,
                details: kept.details,
            },
            goal: kept.goal,
            blocker: kept.blocker,
        })
    }
}

#[cfg(test)]
mod tests;
