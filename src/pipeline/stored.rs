//! JSON that a row stores to be carried out later: requests that are queued, proposals that wait.
//!
//! It is read strictly: only what this release would write again as it is can be read. A member of another form, a missing
//! one, an unknown one and an unknown value are errors, and nothing is carried out that was not asked for. During a
//! rolling upgrade a newer release may store members that this one does not know. They may change what is to be
//! applied, so they are refused and not passed over; whoever asked is told so, and can ask again.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The longest description of a problem, in characters: it may quote what is stored.
const PROBLEM_CHARS: usize = 200;

/// Reads what a `T` was stored as.
///
/// # Errors
/// The path of a member that cannot be read, and why.
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

/// The first member that this release writes otherwise, and how it differs.
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
