//! `[limits]`: sizes that requests and documents may have.

use crate::domain::memory::Limits;
use serde::Deserialize;

/// The largest document or item that any configuration allows, in bytes.
pub const MOST_BYTES: usize = 10 * 1024 * 1024;

/// Sizes in bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// A context document. At most 10 MiB, so that its copies and its diff stay affordable.
    pub context_bytes: usize,
    /// One insight or snippet.
    pub item_bytes: usize,
    /// The body of a request other than a document.
    pub body_bytes: usize,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            context_bytes: 102_400,
            item_bytes: 16_384,
            body_bytes: 1_048_576,
        }
    }
}

impl LimitsConfig {
    /// The limits of one application of operations.
    #[must_use]
    pub fn of_operations(&self, max_additions: usize) -> Limits {
        Limits {
            max_additions,
            item_bytes: self.item_bytes,
            context_bytes: self.context_bytes,
        }
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        for (key, value) in [
            ("limits.context_bytes", self.context_bytes),
            ("limits.item_bytes", self.item_bytes),
        ] {
            if value == 0 || value > MOST_BYTES {
                return Err(format!("{key} must be 1 to {MOST_BYTES}"));
            }
        }
        if self.body_bytes == 0 {
            return Err("limits.body_bytes must be at least 1".to_owned());
        }
        Ok(())
    }
}
