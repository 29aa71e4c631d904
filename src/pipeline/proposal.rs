//! A proposal as its run stores it, from which it is applied later.

use super::reading::Accepted;
use super::request;
use crate::domain::ids::{KeyId, RecordId};
use crate::domain::operation::Operation;
use crate::domain::window::SessionRecord;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the form.
const FORM: u32 = 1;

/// A proposal as its run stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Proposal {
    form: u32,
    /// The operations, addressed by their index.
    pub(super) operations: Vec<Accepted>,
    /// The progress at the time of the proposal, if an operation rewrites it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) progress_before: Option<String>,
    /// The record of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<SessionRecord>,
    /// The key that made the proposal; `None` if the service requires no keys.
    pub(super) key_id: Option<KeyId>,
}

impl Proposal {
    /// Creates a proposal from operations in the order in which they are applied.
    pub(super) fn new(
        operations: &[Accepted],
        progress_before: &str,
        record: Option<&SessionRecord>,
        key: Option<&KeyId>,
    ) -> Self {
        let rewrites = operations.iter().any(rewrites_progress);
        Self {
            form: FORM,
            operations: operations.to_vec(),
            progress_before: rewrites.then(|| progress_before.to_owned()),
            record: record.cloned(),
            key_id: key.cloned(),
        }
    }

    /// Reads a stored proposal.
    ///
    /// # Errors
    /// A sentence that says why it cannot be read.
    pub(super) fn read(kept: &Value) -> Result<Self, String> {
        let proposal: Self = request::read_stored(kept)?;
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
            .filter_map(|(_, item)| item.operation.archives())
            .collect();
        let items = numbers.iter().filter_map(|number| self.operations.get(*number));
        items
            .cloned()
            .map(|mut item| {
                if item.operation.replaces().is_some_and(|id| left.contains(&id)) {
                    item.operation.set_replaced(None);
                }
                item
            })
            .collect()
    }
}

/// Whether it replaces the body of `Current Progress`.
pub(super) fn rewrites_progress(item: &Accepted) -> bool {
    matches!(item.operation, Operation::RewriteProgress(_))
}

#[cfg(test)]
mod tests;
