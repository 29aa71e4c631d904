//! A sentence of a message: whose it is, and how far the list says that it is.

/// Whose words they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Assistant,
    User,
    /// The task of the update.
    Task,
}

impl Voice {
    /// Output of tools, standing instructions and roles of other names speak with no voice: nothing is learned
    /// from them.
    pub(super) fn of(role: &str) -> Option<Self> {
        match role.trim().to_lowercase().as_str() {
            "assistant" | "ai" | "model" | "agent" => Some(Self::Assistant),
            "user" | "human" => Some(Self::User),
            _ => None,
        }
    }
}

/// What the heading above a list, or a check box, says about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Done,
    Current,
    Left,
}

/// A sentence on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) voice: Voice,
    /// Which message it stands in, from 1; the task is 0.
    pub(super) message: usize,
    pub(super) text: String,
    /// Only items of lists have one.
    pub(super) standing: Option<Standing>,
}
