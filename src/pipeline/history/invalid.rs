//! Errors of messages that cannot be read.

/// A message that cannot be read. The texts are safe to return to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct InvalidMessage {
    /// The path of the member: `messages[3].content[1].type`.
    pub field: String,
    /// What is wrong and what is expected.
    pub problem: String,
}

impl InvalidMessage {
    pub(super) fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

/// Rejects NUL: the run is stored in PostgreSQL, whose texts cannot contain it.
pub(super) fn refuse_nul(field: &str, text: &str) -> Result<(), InvalidMessage> {
    match text.find('\0') {
        Some(at) => {
            let problem = format!("contains a NUL character at byte {at}; remove it");
            Err(InvalidMessage::new(field, problem))
        }
        None => Ok(()),
    }
}
