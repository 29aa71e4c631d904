//! Passages of an update's input.

use crate::domain::ids::RecordId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The text that contains a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// In the task.
    Task,
    /// In the message with this index, from 0.
    Message(usize),
}

/// A passage of the input that supports an operation. Its JSON is an [`EvidenceForm`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "EvidenceForm", try_from = "EvidenceForm")]
pub struct Evidence {
    /// The text that contains it.
    pub origin: Origin,
    /// Start in that text, in bytes.
    pub start: usize,
    /// End in that text, in bytes, exclusive.
    pub end: usize,
    /// Its text.
    pub quote: String,
    /// The record that it was the evidence of before that was merged into another one.
    pub record: Option<RecordId>,
}

impl Evidence {
    /// The evidence of a record, as one that it was merged into keeps it.
    #[must_use]
    pub fn of(mut self, record: RecordId) -> Self {
        self.record.get_or_insert(record);
        self
    }
}

/// A passage of an update's input that carries a change.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = Evidence)]
pub struct EvidenceForm {
    /// The text it stands in.
    from: EvidenceOrigin,
    /// Which message, from 0; null for the task.
    #[schema(required, minimum = 0)]
    index: Option<usize>,
    /// Its first byte in that text.
    start: usize,
    /// The byte behind its last.
    end: usize,
    /// Its text, at most 200 bytes; a credential in it is masked.
    quote: String,
    /// Of a merged learning: which of its parts it is the evidence of. The text is that of the update that wrote the part.
    #[schema(value_type = Option<String>, nullable = false, example = "KL-1")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<RecordId>,
}

/// Which of the texts of an update's input.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum EvidenceOrigin {
    Task,
    Message,
}

impl From<Evidence> for EvidenceForm {
    fn from(evidence: Evidence) -> Self {
        let (from, index) = match evidence.origin {
            Origin::Task => (EvidenceOrigin::Task, None),
            Origin::Message(index) => (EvidenceOrigin::Message, Some(index)),
        };
        Self {
            from,
            index,
            start: evidence.start,
            end: evidence.end,
            quote: evidence.quote,
            record: evidence.record,
        }
    }
}

impl TryFrom<EvidenceForm> for Evidence {
    type Error = &'static str;

    fn try_from(form: EvidenceForm) -> Result<Self, Self::Error> {
        let origin = match (form.from, form.index) {
            (EvidenceOrigin::Task, None) => Origin::Task,
            (EvidenceOrigin::Message, Some(index)) => Origin::Message(index),
            _ => return Err("index is the number of a message, and null for the task"),
        };
        Ok(Self {
            origin,
            start: form.start,
            end: form.end,
            quote: form.quote,
            record: form.record,
        })
    }
}
