//! Measures the pure parts: parsing and writing the DSL and documents, diffs. `make bench-micro` runs this and then
//! counts instructions, which other load on the machine does not affect.

mod work;

use chrono::DateTime;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::collections::BTreeSet;
use std::time::Duration;
use working_memory::domain::consolidation::{Share, find};
use working_memory::domain::document::Marks;
use working_memory::domain::evidence::{Examples, Input, Judge, JudgeContext, Strictness};
use working_memory::domain::ids::{RecordId, RecordKind};
use working_memory::domain::memory::{Limits, View, validate};
use working_memory::domain::operation::{Item, Operation};
use working_memory::llm::ConversationMessage;
use working_memory::llm::rules::operations;

/// Multiples of the usual size: linear operations have the same throughput at each.
const SCALES: [usize; 3] = [1, 2, 4];

fn pure_parts(criterion: &mut Criterion) {
    for scale in SCALES {
        for work in work::all(scale) {
            let mut group = criterion.benchmark_group(work.name);
            group.throughput(Throughput::Bytes(work.bytes as u64));
            group.bench_function(BenchmarkId::from_parameter(scale), |bencher| {
                bencher.iter(|| work.run());
            });
        }
    }
}

/// The built-in rules on a session of 2 MB, in which every eighth message has something that they hear.
fn rules(criterion: &mut Criterion) {
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
    let mut group = criterion.benchmark_group("rules");
    group.throughput(Throughput::Bytes(bytes as u64)).sample_size(10);
    group.bench_function("2_mb", |bencher| {
        bencher.iter(|| operations("", "find out why workers are slow", &messages));
    });
}

/// 100 operations checked against 2 MB of messages (`docs/quality.md`): half insights, a quarter snippets, a quarter archives.
fn evidence(criterion: &mut Criterion) {
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
                0 | 2 => Operation::AddLearning {
                    reason: "it was measured".to_owned(),
                    content: format!("worker_{n} answered after {n} ms, so retry"),
                    replaces: None,
                    merges: Vec::new(),
                    marks: Marks::default(),
                },
                1 => Operation::AddVerbatim {
                    reason: "next".to_owned(),
                    label: "answer".to_owned(),
                    snippet: line(27_000 + n) + &line(27_001 + n),
                    replaces: None,
                    marks: Marks::default(),
                },
                _ => Operation::Archive {
                    id: RecordId::new(RecordKind::Learning, 1 + n as i64 / 4),
                    reason: "gone".to_owned(),
                    ground: None,
                },
            };
            let range = n..n + 1;
            Item { operation, range }
        })
        .collect();
    let ids: Vec<RecordId> = (1..=25).map(|n| RecordId::new(RecordKind::Learning, n)).collect();
    let examples = Examples::default();
    let mut group = criterion.benchmark_group("evidence");
    group.throughput(Throughput::Bytes(message.len() as u64));
    group.bench_function("2_mb_100_operations", |bencher| {
        bencher.iter(|| {
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
                judge.archives(&ids, &[], &BTreeSet::new()),
            )
        });
    });
}

/// What can go of 1,000 records, and 200 steps that name grounds in them.
fn consolidation(criterion: &mut Criterion) {
    let record = |n: i64| {
        let written = if n % 5 == 0 { n - 1 } else { n };
        format!(
            "- KL-{n} because it was measured: worker {written} of \"eu-west\" answers after {written} ms, retry later\n"
        )
    };
    let document = format!("# Key Learnings\n{}", (1..=1_000).map(record).collect::<String>());
    let now = DateTime::UNIX_EPOCH;
    let mut group = criterion.benchmark_group("consolidation");
    group.bench_function("find_in_1000_records", |bencher| {
        bencher.iter(|| find(&document, now, &mut Share::of(&document, 0.2)))
    });
    let items: Vec<Item> = find(&document, now, &mut Share::of(&document, 0.2))
        .into_iter()
        .enumerate()
        .map(|(n, operation)| Item {
            operation,
            range: n..n + 1,
        })
        .collect();
    assert_eq!(
        items.len(),
        200,
        "every fifth record says what the one before it says"
    );
    group.bench_function("check_200_steps_in_1000_records", |bencher| {
        bencher.iter(|| {
            let view = View {
                document: &document,
                ended: &BTreeSet::new(),
                now,
            };
            validate(items.clone(), Vec::new(), &view, &[], &Limits::default())
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30);
    targets = pure_parts, evidence, rules, consolidation
}
criterion_main!(benches);
