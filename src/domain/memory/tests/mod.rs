//! Tests of applying and validating operations.

use super::*;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{Operation, Progress};
use chrono::{DateTime, Utc};

mod appended;
mod applied;
mod numbered;
mod validated;

const LIMITS: Limits = Limits {
    max_additions: 3,
    item_bytes: 40,
    context_bytes: 10_000,
    pins_hold: false,
};

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a time")
}

/// [`now`] in the format of a record line.
const NOW: &str = "2027-01-15T08:00:00Z";

fn id(text: &str) -> RecordId {
    text.parse().expect("a record id")
}

fn learn(content: &str) -> Operation {
    Operation::learning("r", content)
}

fn keep(label: &str, snippet: &str) -> Operation {
    Operation::snippet("r", label, snippet)
}

/// A learning that replaces a record.
fn replace(name: &str, content: &str) -> Operation {
    let mut addition = Operation::learning("better", content);
    addition.set_replaced(Some(id(name)));
    addition
}

fn archive(name: &str) -> Operation {
    Operation::Archive {
        id: id(name),
        reason: "gone".to_owned(),
        ground: None,
    }
}

fn progress(completed: &[&str], in_progress: &[&str], remaining: &[&str]) -> Operation {
    let list = |bullets: &[&str]| bullets.iter().map(|bullet| (*bullet).to_owned()).collect();
    Operation::RewriteProgress(Progress {
        completed: list(completed),
        in_progress: list(in_progress),
        remaining: list(remaining),
    })
}

/// The document after operations, with times replaced by `NOW`.
fn after(document: &str, operations: &[Operation]) -> String {
    let applied = apply(document, Counters::default(), operations, now(), &LIMITS).expect("applied");
    applied.text.replace(NOW, "NOW")
}
