//! Replacement for redacted text in runs.

use serde_json::Value;

/// The JSON that replaces what a run quoted of a redacted version.
pub(in crate::storage) fn redacted_json() -> Value {
    serde_json::json!({ "redacted": true })
}
