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
