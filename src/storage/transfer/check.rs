//! What every value of a line must fulfil before it goes into a row.

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

/// A fault in the words of a domain type.
pub(super) fn said(field: &'static str, problem: &dyn Display) -> Fault {
    Fault {
        field,
        problem: problem.to_string(),
    }
}

/// A condition that must hold; `expected` completes "must be".
pub(super) fn order(field: &'static str, holds: bool, expected: &str) -> Result<(), Fault> {
    if holds {
        Ok(())
    } else {
        Err(said(field, &format_args!("must be {expected}")))
    }
}

/// An id of any kind.
pub(super) fn id<T: FromStr<Err: Display>>(field: &'static str, text: &str) -> Result<T, Fault> {
    text.parse().map_err(|problem| said(field, &problem))
}

/// A name out of a list.
pub(super) fn known<T: FromStr>(field: &'static str, name: &str) -> Result<T, Fault> {
    name.parse().map_err(|_| {
        let shown: String = name.chars().take(40).collect();
        said(field, &format_args!("{shown:?} is not known to this program"))
    })
}

/// A time that PostgreSQL keeps as it is: microseconds, no leap second, a year of four digits.
pub(super) fn time(field: &'static str, time: DateTime<Utc>) -> Result<(), Fault> {
    let nanos = time.nanosecond();
    order(
        field,
        nanos.is_multiple_of(1_000) && nanos < 1_000_000_000 && (1..=9999).contains(&time.year()),
        "a time of the years 1 to 9999 in whole microseconds",
    )
}

/// A text that PostgreSQL can store.
pub(super) fn text(field: &'static str, text: &str) -> Result<(), Fault> {
    order(field, !text.contains('\0'), "free of NUL characters")
}

/// A JSON value that PostgreSQL can store. Its depth is bounded, since it was parsed.
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
