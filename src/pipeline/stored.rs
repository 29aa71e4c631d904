//! Stored JSON that is executed later: queued requests and pending proposals.
//!
//! Reading is strict: a value is accepted only if this release would write it in exactly the same form. A missing or
//! unknown member, an unknown value or a different form is an error, so nothing is executed that was not requested.
//! During a rolling upgrade a newer release may store members that this one does not know. They may change what is
//! applied, so they are rejected instead of ignored, and the client gets an error and can retry.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The maximum length of a problem's description in characters; it may quote stored data.
const PROBLEM_CHARS: usize = 200;

/// Reads the stored form of a `T`.
///
/// # Errors
/// The path of the member that cannot be read, and why.
pub(super) fn read<T: Serialize + DeserializeOwned>(stored: &Value) -> Result<T, String> {
    let value: T = serde_path_to_error::deserialize(stored).map_err(|error| {
        let problem = error.to_string();
        problem.chars().take(PROBLEM_CHARS).collect::<String>()
    })?;
    match difference("", stored, &json!(value)) {
        None => Ok(value),
        Some(difference) => Err(difference),
    }
}

/// The first member that this release would write differently, and how it differs.
fn difference(path: &str, stored: &Value, written: &Value) -> Option<String> {
    let member = |name: &str| match path {
        "" => name.to_owned(),
        _ => format!("{path}.{name}"),
    };
    match (stored, written) {
        (Value::Object(stored), Value::Object(written)) => {
            let unknown = stored.keys().find(|name| !written.contains_key(*name));
            let missing = written.keys().find(|name| !stored.contains_key(*name));
            match (unknown, missing) {
                (Some(name), _) => Some(format!(
                    "{}: this release does not know it in this form",
                    member(name)
                )),
                (None, Some(name)) => Some(format!("{}: it is missing", member(name))),
                (None, None) => stored
                    .iter()
                    .find_map(|(name, value)| difference(&member(name), value, &written[name])),
            }
        }
        (Value::Array(stored), Value::Array(written)) if stored.len() == written.len() => (0..)
            .zip(stored.iter().zip(written))
            .find_map(|(at, (stored, written))| difference(&format!("{path}[{at}]"), stored, written)),
        _ => (stored != written).then(|| format!("{path}: this release does not know it in this form")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::UpdateInput;
    use crate::storage::Preconditions;

    fn literal() -> Value {
        json!({
            "task": "a task",
            "messages": [{"role": "user", "content": "do it"}, {"role": "tool", "content": "done"}],
            "dry_run": false,
            "allow_partial": true,
            "on_invalid": "fail",
            "evidence": "warn",
            "roles": ["progress", "verbatim"],
            "mode": "propose",
            "key_id": "k-1",
            "record": {
                "task_id": "t-1", "intent": "i", "summary": "s", "outcome": {"ok": true, "share": 0.1}, "epic": "e",
                "goal": "g", "blocker": "b",
            },
        })
    }

    #[test]
    fn a_queued_request_is_read_as_it_was() {
        let mut plain = literal();
        for absent in ["evidence", "key_id", "record"] {
            plain.as_object_mut().unwrap().remove(absent);
        }
        plain["mode"] = json!("apply");
        for stored in [literal(), plain] {
            assert_eq!(json!(read::<UpdateInput>(&stored).unwrap()), stored);
        }
        for stored in [
            json!({"if_match": null, "if_none_match": "any"}),
            json!({"if_match": {"list": ["a", "b"]}, "if_none_match": null}),
        ] {
            assert_eq!(json!(read::<Preconditions>(&stored).unwrap()), stored);
        }
    }

    #[test]
    fn a_member_that_cannot_be_read_is_an_error_and_no_default() {
        for (member, value) in [
            ("/task", json!(null)),
            ("/messages/1", json!("done")),
            ("/messages/1/content", json!(null)),
            ("/dry_run", json!(0)),
            ("/on_invalid", json!("ignore")),
            ("/roles", json!(["progress", "summary"])),
            ("/roles", json!(["progress", "progress"])),
            ("/mode", json!("apply later")),
            ("/mode", json!("apply")),
            ("/key_id", json!("not a key id")),
            ("/record", json!(null)),
            ("/record/task_id", json!("not an id")),
            ("/record/outcome", json!(null)),
            ("/record/goal", json!(null)),
            ("/ttl", json!(60)),
            ("/messages/0/ttl", json!(60)),
            ("/record/ttl", json!(60)),
        ] {
            let mut stored = literal();
            let (parent, name) = member.rsplit_once('/').unwrap();
            match stored.pointer_mut(parent).unwrap() {
                Value::Array(entries) => entries[name.parse::<usize>().unwrap()] = value,
                parent => parent[name] = value,
            }
            assert!(read::<UpdateInput>(&stored).is_err(), "{stored}");
        }
        for member in [
            "task",
            "messages",
            "dry_run",
            "allow_partial",
            "on_invalid",
            "roles",
            "mode",
            "key_id",
        ] {
            let mut stored = literal();
            stored.as_object_mut().unwrap().remove(member);
            assert!(read::<UpdateInput>(&stored).is_err(), "{member}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_never_no_precondition() {
        for stored in [
            json!(null),
            json!({}),
            json!({"if_match": null}),
            json!({"if_match": "a", "if_none_match": null}),
            json!({"if_match": {"list": [1]}, "if_none_match": null}),
            json!({"if_match": null, "if_none_match": false}),
            json!({"if_match": null, "if_none_match": null, "if_unmodified_since": "x"}),
        ] {
            assert!(read::<Preconditions>(&stored).is_err(), "{stored}");
        }
    }
}
