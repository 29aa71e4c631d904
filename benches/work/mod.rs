//! The operations of the micro-benchmarks, on inputs of any size: the same for the time (`micro`) and for the instruction
//! counter (`instructions`).

use std::fmt::Write as _;
use std::hint::black_box;
use working_memory::domain::document::{outline, records, unified_diff};
use working_memory::domain::dsl::{Parsed, parse};
use working_memory::domain::memory::{Counters, Limits, apply, project};
use working_memory::domain::operation::Operation;

/// One operation and its input.
pub(crate) struct Work {
    pub(crate) name: &'static str,
    /// The size of the input.
    pub(crate) bytes: usize,
    run: Box<dyn Fn()>,
}

impl Work {
    fn new<T>(name: &'static str, bytes: usize, run: impl Fn() -> T + 'static) -> Self {
        let run = Box::new(move || drop(black_box(run())));
        Self { name, bytes, run }
    }

    /// Executes it once.
    pub(crate) fn run(&self) {
        (self.run)();
    }
}

/// All of them. With a scale of 1 a document has about 4 KB and a text of the DSL about 2 KB, the usual sizes; other
/// scales multiply these.
pub(crate) fn all(scale: usize) -> Vec<Work> {
    let document = document(scale);
    // Changed like by a put: a bullet and an insight.
    let changed = document.replacen("step 0 ", "another step ", 1).replacen(
        "- KL-1 ",
        "- KL-0 because it is so: more\n- KL-1 ",
        1,
    );
    let dsl = dsl(scale);
    let operations: Vec<Operation> = parse_all(&dsl)
        .items
        .into_iter()
        .map(|item| item.operation)
        .collect();
    let written = dsl.len();
    let limits = Limits {
        max_additions: usize::MAX,
        item_bytes: usize::MAX,
        context_bytes: usize::MAX,
        pins_hold: false,
    };
    vec![
        Work::new("dsl_parse", dsl.len(), move || parse_all(&dsl)),
        Work::new("document_outline", document.len(), {
            let text = document.clone();
            move || outline(&text)
        }),
        Work::new("document_records", document.len(), {
            let text = document.clone();
            move || records(&text)
        }),
        Work::new("document_diff", document.len() + changed.len(), {
            let (before, after) = (document.clone(), changed.clone());
            move || unified_diff(&before, &after, "1", "2")
        }),
        Work::new("memory_project", document.len() + changed.len(), {
            let before = document.clone();
            move || project(&before, &changed)
        }),
        // Applying renders: it parses the document and writes sections and records into it.
        Work::new("memory_apply", document.len() + written, move || {
            apply(
                &document,
                Counters::default(),
                &operations,
                chrono::DateTime::UNIX_EPOCH,
                &limits,
            )
        }),
    ]
}

fn parse_all(text: &str) -> Parsed {
    parse(text)
}

/// A document of about 4 KB times `scale`, with managed and free sections.
fn document(scale: usize) -> String {
    let mut text = "# Description\nThe `orders` service takes orders from partner shops.\n\n".to_owned();
    text += "# Current Progress\n## Completed\n";
    for step in 0..6 * scale {
        let _ = writeln!(
            text,
            "- Measured step {step} of the parser and wired it to the route"
        );
    }
    text += "## In Progress\n- Wire the parser to the update route\n\n# Key Learnings\n";
    for number in 1..=12 * scale {
        let _ = writeln!(
            text,
            "- KL-{number} [2026-11-21T02:00:00Z] because CI number {number} has no database: commit the prepared query data"
        );
    }
    text += "\n# Verbatim Context\n";
    for number in 1..=4 * scale {
        let _ = writeln!(
            text,
            "- VC-{number} [2026-11-21T02:00:00Z] because the next step edits it: target {number} =>\n  test:\n  \tcargo test --package orders\n  \tcargo clippy\n"
        );
    }
    text += "# Facts\n";
    for number in 0..16 * scale {
        let _ = writeln!(
            text,
            "The partner {number} sends 35 requests a second, in `src/limits.rs` line {number}."
        );
    }
    text
}

/// A text of the DSL of about 2 KB times `scale`, without faults.
fn dsl(scale: usize) -> String {
    let mut text = "CURRENT_PROGRESS:\n  Completed:\n".to_owned();
    for step in 0..6 * scale {
        let _ = writeln!(text, "    - Wrote step {step} of the parser and its tests");
    }
    text += "  In Progress:\n    - Wire the parser to the update route\n\nKEY_LEARNINGS:\n  ADD:\n";
    for number in 0..6 * scale {
        let _ = writeln!(
            text,
            "    - because run {number} failed without it: keep the transaction to two statements"
        );
    }
    text += "\nVERBATIM_CONTEXT:\n  ADD:\n";
    for number in 0..6 * scale {
        let _ = writeln!(
            text,
            "    - because step {number} edits it: target {number} =>\n      test{number}:\n      \tcargo test --package orders"
        );
    }
    text
}
