//! What is answered where a command is not carried out.

/// Why a command was not carried out, in words for the model. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

impl Refusal {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}
