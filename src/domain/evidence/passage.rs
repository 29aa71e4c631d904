//! Passages of an update's input.

use strum::{IntoStaticStr, VariantNames};

/// Where a passage stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Origin {
    /// In the task.
    Task,
    /// In the message at this place, from 0.
    Message(usize),
}

/// A passage of the input that carries an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The text it stands in.
    pub origin: Origin,
    /// Its first byte in that text.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
    /// Its text.
    pub quote: String,
}
