//! The words that an operation was read from.

/// An item as it was written.
#[derive(Debug, Clone)]
pub(super) struct WrittenItem {
    pub(super) text: String,
    /// Its place in the list that was sent, if it is no text.
    pub(super) index: Option<usize>,
}

impl WrittenItem {
    pub(super) fn of_text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            index: None,
        }
    }
}
