//! The lines of a file that are not rows of a table, and the enumeration of all lines.

use super::contexts::ContextLine;
use super::handoffs::HandoffLine;
use super::items::ItemLine;
use super::memory::MemoryLine;
use super::paths::PathLine;
use super::records::RecordLine;
use super::runs::RunLine;
use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::fmt::Display;
use std::str::FromStr;
use strum::IntoStaticStr;

/// A line of a file.
#[derive(Debug, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(super) enum Line {
    Header(Header),
    VaultItem(Box<ItemLine>),
    Memory(MemoryLine),
    Context(Box<ContextLine>),
    Record(Box<RecordLine>),
    Run(Box<RunLine>),
    Handoff(Box<HandoffLine>),
    Item(Box<ItemLine>),
    Path(Box<PathLine>),
    End(End),
    Footer(Footer),
}

impl Line {
    /// The JSON member that identifies the kind.
    pub(super) fn name(&self) -> &'static str {
        self.into()
    }
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) vault_id: String,
}

/// The last line of a memory: what must have preceded it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub(super) memory_id: String,
    #[serde(flatten)]
    pub(super) counts: Counts,
    pub(super) sha256: String,
}

/// Number of lines of each kind in a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Counts {
    pub(super) contexts: u64,
    pub(super) records: u64,
    pub(super) runs: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) handoffs: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) items: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) paths: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            contexts,
            records,
            runs,
            handoffs,
            items,
            paths,
        } = self;
        write!(
            f,
            "{contexts} contexts, {records} records, {runs} runs, {handoffs} handoffs, {items} items and {paths} paths"
        )
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Footer {
    pub(super) memories: u64,
}

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
