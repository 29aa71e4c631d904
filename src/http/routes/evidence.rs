//! The evidence of a record or line in an update's input.

use crate::domain::evidence::{Evidence, Origin};
use crate::http::names::EvidenceOrigin;
use serde::Serialize;

/// A passage of an update's input that carries a change.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Evidence)]
pub(crate) struct EvidenceBody {
    /// The text it stands in.
    #[schema(value_type = EvidenceOrigin)]
    from: &'static str,
    /// Which message, from 0; null for the task.
    #[schema(required, minimum = 0)]
    index: Option<usize>,
    /// Its first byte in that text.
    start: usize,
    /// The byte behind its last.
    end: usize,
    /// Its text, at most 200 bytes; a credential in it is masked.
    quote: String,
}

impl From<&Evidence> for EvidenceBody {
    fn from(evidence: &Evidence) -> Self {
        let index = match evidence.origin {
            Origin::Task => None,
            Origin::Message(index) => Some(index),
        };
        Self {
            from: evidence.origin.into(),
            index,
            start: evidence.start,
            end: evidence.end,
            quote: evidence.quote.clone(),
        }
    }
}
