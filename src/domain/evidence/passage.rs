//! Passages of an update's input.

use strum::{IntoStaticStr, VariantNames};

/// The text that contains a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Origin {
    /// In the task.
    Task,
    /// In the message with this index, from 0.
    Message(usize),
}

/// A passage of the input that supports an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The text that contains it.
    pub origin: Origin,
    /// Start in that text, in bytes.
    pub start: usize,
    /// End in that text, in bytes, exclusive.
    pub end: usize,
    /// Its text.
    pub quote: String,
}
