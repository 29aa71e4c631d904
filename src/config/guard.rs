//! `[guard]`: what happens to a put that drops much of a document.

use super::words::read_from_words;
use serde::Deserialize;
use strum::{EnumString, VariantNames};

/// What happens to a put that drops more than half of the bytes, or any active record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString, VariantNames)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum Collapse {
    /// Nothing.
    Off,
    /// The version is saved, and the response reports what it dropped.
    #[default]
    Warn,
    /// The version is saved only with `?confirm=collapse`.
    Reject,
}

read_from_words!(Collapse);

/// What happens to a put that drops much of a document.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GuardConfig {
    /// A put that drops more than half of the bytes, or any active record.
    pub collapse: Collapse,
}
