//! Measures the pure parts: parsing and writing the DSL and documents, diffs, evidence, rules.
//!
//! ```sh
//! cargo bench --bench micro [-- NAME]   # median and fastest time of each whose name contains NAME, at 1, 2 and 4 times the input
//! micro list                            # the names of those whose instructions are counted
//! micro count NAME SCALE                # once, for `valgrind --tool=callgrind`; says how many bytes its input has
//! ```
#![expect(clippy::print_stdout, reason = "a program")]

use chrono::DateTime;
use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use working_memory::domain::document::{outline, records, unified_diff};
use working_memory::domain::dsl::parse;
use working_memory::domain::evidence::{Examples, Input, Judge, JudgeContext, Strictness};
use working_memory::domain::ids::{RecordId, RecordKind};
use working_memory::domain::memory::{Counters, Limits, apply, project};
use working_memory::domain::operation::{Item, Operation};
use working_memory::llm::ConversationMessage;
use working_memory::llm::rules::operations;

/// Multiples of the usual size: linear operations have the same throughput at each.
const SCALES: [usize; 3] = [1, 2, 4];

/// How long each is measured.
const MEASURED: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => {
            for work in small(1) {
                println!("{}", work.name);
            }
        }
        ["count", name, scale] => {
            let works = small(scale.parse().unwrap_or(1));
            let Some(work) = works.iter().find(|work| work.name == name) else {
                return ExitCode::FAILURE;
            };
            // The first run includes one-time initialisation.
            work.run();
            counted(work);
            println!("{}", work.bytes);
        }
        // What cargo passes; a test runner that runs all targets does not.
        [.., "--bench"] => {
            let name = arguments.first().filter(|name| !name.starts_with('-'));
            let all = SCALES.into_iter().flat_map(|scale| {
                let works = small(scale).into_iter().map(move |work| (scale, work));
                works.chain(
                    if scale == 1 { large() } else { Vec::new() }
                        .into_iter()
                        .map(|work| (1, work)),
                )
            });
            for (scale, work) in all {
                if name.is_none_or(|name| work.name.contains(name.as_str())) {
                    timed(scale, &work);
                }
            }
        }
        _ => {}
    }
    ExitCode::SUCCESS
}

#[inline(never)]
fn counted(work: &Work) {
    work.run();
}

/// Runs one for a second, after a warm-up, and prints its median and its fastest time, and the throughput of the median.
#[expect(clippy::cast_precision_loss, reason = "a figure to read")]
fn timed(scale: usize, work: &Work) {
    work.run();
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed() < MEASURED || times.len() < 10 {
        let begin = Instant::now();
        work.run();
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    let (median, fastest) = (times[times.len() / 2], times[0]);
    let speed = work.bytes as f64 / median.as_secs_f64() / f64::from(1 << 20);
    let name = format!("{} {scale}x", work.name);
    println!(
        "{name:36} {median:>12.3?} {fastest:>12.3?} {speed:8.1} MiB/s {:>8} runs",
        times.len()
    );
}

/// One operation and its input.
struct Work {
    name: &'static str,
    /// The size of the input.
    bytes: usize,
    run: Box<dyn Fn()>,
}

impl Work {
    fn new<T>(name: &'static str, bytes: usize, run: impl Fn() -> T + 'static) -> Self {
        let run = Box::new(move || drop(black_box(run())));
        Self { name, bytes, run }
    }

    /// Executes it once.
    fn run(&self) {
        (self.run)();
    }
}

/// Those of documents and of the DSL. With a scale of 1 a document has about 4 KB and a text of the DSL about 2 KB, the usual sizes; other
/// scales multiply these.
fn small(scale: usize) -> Vec<Work> {
    let document = document(scale);
    // Changed like by a put: a bullet and an insight.
    let changed = document.replacen("step 0 ", "another step ", 1).replacen(
        "- KL-1 ",
        "- KL-0 because it is so: more\n- KL-1 ",
        1,
    );
    let dsl = dsl(scale);
    let operations: Vec<Operation> = parse(&dsl).items.into_iter().map(|item| item.operation).collect();
    let written = dsl.len();
    let limits = Limits {
        max_additions: usize::MAX,
        item_bytes: usize::MAX,
        context_bytes: usize::MAX,
        pins_hold: false,
    };
    vec![
        Work::new("dsl_parse", dsl.len(), move || parse(&dsl)),
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
                DateTime::UNIX_EPOCH,
                &limits,
            )
        }),
    ]
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

/// Those of large inputs: the rules and the evidence on 2 MB.
fn large() -> Vec<Work> {
    vec![rules(), evidence()]
}

/// The built-in rules on a session of 2 MB, in which every eighth message has something that they hear.
fn rules() -> Work {
    let message = |n: usize| {
        let said = match n % 8 {
            0 => format!("Root cause: worker {n} keeps stale rows. Next: restart worker {n} with care."),
            _ => format!(
                "Worker {n} of \"eu-west\" answered {} times in `loop_{n}`, straße and all. ",
                n % 7
            )
            .repeat(8),
        };
        ConversationMessage {
            role: if n.is_multiple_of(2) { "assistant" } else { "user" }.to_owned(),
            content: said,
        }
    };
    let messages: Vec<ConversationMessage> = (0..4_000).map(message).collect();
    let bytes: usize = messages.iter().map(|message| message.content.len()).sum();
    Work::new("rules_2_mb", bytes, move || {
        operations("", "find out why workers are slow", &messages)
    })
}

/// 100 operations checked against 2 MB of messages (`docs/quality.md`): half insights, a quarter snippets, a quarter archives.
fn evidence() -> Work {
    let line = |n: usize| {
        format!(
            "step {n}: worker_{n} answered {} after {n} ms, Straße {n}; retry later.\n",
            n % 7
        )
    };
    let message: String = (0..28_000).map(line).collect();
    let records: String = (1..=50)
        .map(|n| format!("- KL-{n} because it is so: worker_{n} answers slowly\n"))
        .collect();
    let document = format!("# Key Learnings\n{records}");
    let items: Vec<Item> = (0..100)
        .map(|n| {
            let operation = match n % 4 {
                0 | 2 => {
                    let content = format!("worker_{n} answered after {n} ms, so retry");
                    Operation::learning("it was measured", content)
                }
                1 => Operation::snippet("next", "answer", line(27_000 + n) + &line(27_001 + n)),
                _ => Operation::Archive {
                    id: RecordId::new(RecordKind::Learning, 1 + n as i64 / 4),
                    reason: "gone".to_owned(),
                    ground: None,
                },
            };
            Item::new(operation, n..n + 1)
        })
        .collect();
    let examples = Examples::default();
    Work::new("evidence_2_mb_100_operations", message.len(), move || {
        let input = Input {
            task: "Look at the workers.",
            messages: vec![&message],
        };
        let judge = Judge::new(
            JudgeContext {
                input: &input,
                document: &document,
                progress: "",
                examples: &examples,
                max_archives: 100,
                strictness: Strictness::Reject,
            },
            &items,
        );
        (
            judge.items(items.clone()),
            judge.archives(items.clone(), std::iter::empty(), &[]),
        )
    })
}
