//! The stored outcome of a run, without what the version it created contains.
//!
//! The log and the operations are stored with the version, and the diff is computed from its text and the previous one.
//! So a run's row omits them, and reading it restores them. If retention has pruned one of the two versions, the parts
//! that came from it are empty.

use crate::domain::document::unified_diff;
use serde_json::{Value, json};

/// Marks an outcome whose other parts are stored in the version.
const IN_VERSION: &str = "in_version";

/// The parts stored in the version.
const OF_VERSION: [&str; 3] = ["diff", "log", "operations"];

/// Removes from an outcome what the created version contains.
pub(in crate::storage) fn pack(outcome: &mut Value) {
    let Some(members) = outcome.as_object_mut() else {
        return;
    };
    if OF_VERSION.iter().all(|name| members.contains_key(*name)) {
        members.retain(|name, _| !OF_VERSION.contains(&name.as_str()));
        members.insert(IN_VERSION.to_owned(), Value::Bool(true));
    }
}

/// Restores a run's outcome. `made` contains the `log`, `operations` and `text` of the created version, and the text of
/// the previous version as `before`.
pub(in crate::storage) fn unpack(mut outcome: Value, version: Option<i64>, made: Option<&Value>) -> Value {
    let Some(members) = outcome.as_object_mut() else {
        return outcome;
    };
    if members.remove(IN_VERSION).is_none() {
        return outcome;
    }
    let of = |name: &str| made.map_or(&Value::Null, |made| &made[name]);
    let version = version.unwrap_or_default();
    let before = match version {
        1 => Some(""),
        _ => of("before").as_str(),
    };
    let diff = match (before, of("text").as_str()) {
        (Some(before), Some(text)) => unified_diff(
            before,
            text,
            &format!("version {}", version - 1),
            &format!("version {version}"),
        ),
        _ => String::new(),
    };
    members.insert("diff".to_owned(), Value::String(diff));
    members.insert("log".to_owned(), json!(of("log").as_str().unwrap_or_default()));
    let operations = of("operations").as_array().into_iter().flatten();
    members.insert("operations".to_owned(), operations.filter_map(reported).collect());
    outcome
}

/// An operation of a version in the form of a run's report; `None` if only the version reports it.
fn reported(stored: &Value) -> Option<Value> {
    let mut operation = stored.as_object()?.clone();
    if operation.get("op")? == "history" {
        return None;
    }
    operation.remove("task");
    operation.entry("evidence").or_insert_with(|| json!([]));
    Some(Value::Object(operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_version_says_stays_as_it_is() {
        for outcome in [
            json!({"redacted": true}),
            json!({"problem": "x", "log": "y"}),
            json!([1]),
            json!(null),
        ] {
            assert_eq!(unpack(outcome.clone(), Some(2), None), outcome);
        }
    }

    #[test]
    fn parts_stored_with_the_version_are_merged_and_missing_ones_are_empty() {
        let stored = json!({"in_version": true, "models": {}});
        let made = json!({
            "log": "Title\n+ KL-1", "text": "a\nb\n", "before": "a\n",
            "operations": [
                {"op": "add", "id": "KL-1", "label": null, "reason": "r", "content": "b", "task": {"intent": "i"}},
                {"op": "history", "id": "T-1"},
            ],
        });
        let outcome = unpack(stored.clone(), Some(2), Some(&made));
        assert_eq!(outcome["log"], made["log"]);
        assert_eq!(
            outcome["operations"],
            json!([{"op": "add", "id": "KL-1", "label": null, "reason": "r", "content": "b", "evidence": []}])
        );
        assert_eq!(
            outcome["diff"],
            unified_diff("a\n", "a\nb\n", "version 1", "version 2")
        );
        assert!(outcome.get(IN_VERSION).is_none());
        let without = unpack(stored.clone(), Some(2), None);
        assert_eq!(
            (&without["log"], &without["diff"], &without["operations"]),
            (&json!(""), &json!(""), &json!([]))
        );
        let first = json!({"log": "", "text": "a\n", "before": null, "operations": null});
        let first = unpack(stored, Some(1), Some(&first));
        assert_eq!(first["diff"], unified_diff("", "a\n", "version 0", "version 1"));
    }
}
