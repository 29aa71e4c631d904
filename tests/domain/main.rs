//! Property tests of the document and the memory on malicious input; no database.

mod comparison;
mod consolidation_corpus;
mod consolidation_laws;
mod document_laws;
mod evidence;
mod hostile;
mod memory_laws;
mod origin_laws;
mod prompt_laws;
mod size;

use chrono::{DateTime, Utc};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use working_memory::domain::consolidation::Ground;
use working_memory::domain::document::{Record, records};
use working_memory::domain::dsl::Parsed;
use working_memory::domain::evidence::{Examples, Input, JudgeContext, Strictness};
use working_memory::domain::ids::RecordId;
use working_memory::domain::memory::{Limits, View, validate};
use working_memory::domain::operation::Operation;

/// The limits of an update, with few additions.
const LIMITS: Limits = Limits {
    max_additions: 3,
    item_bytes: 16_384,
    context_bytes: 102_400,
    pins_hold: false,
};

/// A strict comparison of answers with an input, for an empty document.
fn case<'a>(input: &'a Input<'a>) -> JudgeContext<'a> {
    static EXAMPLES: LazyLock<Examples> = LazyLock::new(Examples::default);
    JudgeContext {
        input,
        document: "",
        progress: "",
        examples: &EXAMPLES,
        max_archives: 3,
        strictness: Strictness::Reject,
    }
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a time")
}

fn archive(id: RecordId, ground: Option<Ground>) -> Operation {
    Operation::Archive {
        id,
        reason: "it must go".to_owned(),
        ground,
    }
}

fn by_id(document: &str) -> BTreeMap<RecordId, Record> {
    let records = records(document).into_iter();
    records.map(|record| (record.id, record)).collect()
}

/// What a document accepts of operations.
fn accepted(
    document: &str,
    operations: impl IntoIterator<Item = Operation>,
    limits: &Limits,
) -> Vec<Operation> {
    let view = View {
        document,
        ended: &BTreeSet::new(),
        now: now(),
    };
    let items = validate(Parsed::of(operations), &view, &[], limits).items;
    items.into_iter().map(|item| item.operation).collect()
}
