//! The text that an operation was read from.

use crate::domain::text::masked;
use serde::{Deserialize, Serialize};

/// An item as it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WrittenItem {
    pub(super) text: String,
    /// Its position in the list of operations; `None` for operations sent as text.
    #[serde(skip)]
    pub(super) index: Option<usize>,
}

impl WrittenItem {
    pub(super) fn of_text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            index: None,
        }
    }

    /// The item without credentials.
    pub(super) fn masked(mut self) -> Self {
        self.text = masked(&self.text);
        self
    }
}
