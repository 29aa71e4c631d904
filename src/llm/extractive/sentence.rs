//! A sentence of a message with its author, and its state from the list that contains it.

/// The author of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Assistant,
    User,
    /// The task of the update.
    Task,
}

impl Voice {
    /// The author for the role of a message. `None` for tool output, system messages and unknown roles:
    /// nothing is learned from them.
    pub(super) fn of(role: &str) -> Option<Self> {
        match role.trim().to_lowercase().as_str() {
            "assistant" | "ai" | "model" | "agent" => Some(Self::Assistant),
            "user" | "human" => Some(Self::User),
            _ => None,
        }
    }
}

/// The state of an item according to the heading of its list or its check box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListState {
    Done,
    Current,
    Left,
}

/// A sentence on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) voice: Voice,
    /// Number of its message, from 1; the task is 0.
    pub(super) message: usize,
    pub(super) text: String,
    /// Only for list items.
    pub(super) list_state: Option<ListState>,
}
