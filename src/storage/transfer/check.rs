//! Validates the values of a line before they are stored in a row.

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use serde_json::Value;
use std::fmt::Display;
use std::str::FromStr;

/// What is wrong with a member of a line, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub(super) struct Fault {
    field: &'static str,
    problem: String,
}

/// A fault with the error message of a domain type.
pub(super) fn fault(field: &'static str, problem: &dyn Display) -> Fault {
    Fault {
        field,
        problem: problem.to_string(),
    }
}

/// Requires a condition; `expected` completes "must be".
pub(super) fn order(field: &'static str, holds: bool, expected: &str) -> Result<(), Fault> {
    if holds {
        Ok(())
    } else {
        Err(fault(field, &format_args!("must be {expected}")))
    }
}

/// Parses an id of any kind.
pub(super) fn id<T: FromStr<Err: Display>>(field: &'static str, text: &str) -> Result<T, Fault> {
    text.parse().map_err(|problem| fault(field, &problem))
}

/// Parses a name of an enumeration.
pub(super) fn known<T: FromStr>(field: &'static str, name: &str) -> Result<T, Fault> {
    name.parse().map_err(|_| {
        let shown: String = name.chars().take(40).collect();
        fault(field, &format_args!("{shown:?} is not known to this program"))
    })
}

/// Requires a time that PostgreSQL stores exactly: microseconds, no leap second, a year of four digits.
pub(super) fn time(field: &'static str, time: DateTime<Utc>) -> Result<(), Fault> {
    let nanos = time.nanosecond();
    order(
        field,
        nanos.is_multiple_of(1_000) && nanos < 1_000_000_000 && (1..=9999).contains(&time.year()),
        "a time of the years 1 to 9999 in whole microseconds",
    )
}

/// Requires a text that PostgreSQL can store.
pub(super) fn text(field: &'static str, text: &str) -> Result<(), Fault> {
    order(field, !text.contains('\0'), "free of NUL characters")
}

/// Requires a JSON value that PostgreSQL can store. The parser has bounded its depth.
pub(super) fn json(field: &'static str, value: &Value) -> Result<(), Fault> {
    match value {
        Value::String(string) => text(field, string),
        Value::Array(values) => values.iter().try_for_each(|value| json(field, value)),
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            text(field, name)?;
            json(field, value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}
