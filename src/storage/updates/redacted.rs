//! What stands in a run instead of what was redacted.

use serde_json::Value;

/// What stands in a run instead of what it quoted of a redacted version.
pub(in crate::storage) fn redacted_json() -> Value {
    serde_json::json!({ "redacted": true })
}
