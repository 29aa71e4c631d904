//! Limits on the fields of tasks, decisions and a status.

use crate::domain::window::{OUTCOME_BYTES, unwritable_at};
use crate::http::problem::Problem;
use serde_json::Value;

/// A text that is not blank and has no NUL.
#[derive(utoipa::ToSchema)]
#[schema(min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$")]
#[expect(dead_code, reason = "documents what `required` checks")]
pub(in crate::http::routes) struct NonBlank(String);

/// Checks a text that must not be blank and has at most `limit` bytes.
///
/// # Errors
/// 422 that names the field and the limit.
pub(in crate::http::routes) fn required(field: &str, text: &str, limit: usize) -> Result<(), Problem> {
    if text.trim().is_empty() {
        return Err(Problem::invalid(field, format!("{field} must not be blank")));
    }
    optional(field, text, limit)
}

/// Checks a text of at most `limit` bytes.
///
/// # Errors
/// 422 that names the field and the limit.
pub(in crate::http::routes) fn optional(field: &str, text: &str, limit: usize) -> Result<(), Problem> {
    refuse_nul(field, text)?;
    if text.len() > limit {
        return Err(too_long(field, text.len(), limit));
    }
    Ok(())
}

/// Checks a reason that is written into a record line.
///
/// # Errors
/// 422 that names the field and what the line cannot contain.
pub(in crate::http::routes) fn reason(field: &str, text: &str) -> Result<(), Problem> {
    match unwritable_at(text) {
        None => Ok(()),
        Some(at) => Err(Problem::invalid(
            field,
            format!(
                "{field} must be one line without a colon that a blank follows, since that ends the reason on the record's line: \
                 look at byte {at}; use a dash or a comma, or tell the rest in the decision"
            ),
        )),
    }
}

/// Checks JSON that is stored in the database: at most 8 KB.
///
/// # Errors
/// 422 that names the field and the limit.
pub(in crate::http::routes) fn outcome(field: &str, outcome: &Value) -> Result<(), Problem> {
    refuse_nul_in(field, outcome)?;
    let bytes = outcome.to_string().len();
    if bytes > OUTCOME_BYTES {
        return Err(too_long(field, bytes, OUTCOME_BYTES));
    }
    Ok(())
}

/// 422 for a text that is over its limit.
pub(in crate::http::routes) fn too_long(field: &str, actual: usize, limit: usize) -> Problem {
    Problem::invalid(
        field,
        format!("{field} has {actual} bytes; at most {limit} are accepted"),
    )
    .with("limit", limit)
    .with("actual", actual)
}

/// Rejects NUL, which no text of the database can hold.
///
/// # Errors
/// 422 that names the field and the place.
pub(in crate::http::routes) fn refuse_nul(field: &str, text: &str) -> Result<(), Problem> {
    match text.find('\0') {
        Some(at) => Err(Problem::invalid(
            field,
            format!("{field} contains a NUL character at byte {at}; remove it"),
        )),
        None => Ok(()),
    }
}

/// The recursion depth is bounded by that of the JSON parser.
fn refuse_nul_in(field: &str, value: &Value) -> Result<(), Problem> {
    match value {
        Value::String(text) => refuse_nul(field, text),
        Value::Array(values) => values.iter().try_for_each(|value| refuse_nul_in(field, value)),
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            refuse_nul(field, name)?;
            refuse_nul_in(field, value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}
