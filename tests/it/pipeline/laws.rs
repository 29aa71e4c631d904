//! Property test of updates: after any model responses and any puts, every record that left the document was archived by name,
//! versions are contiguous, ids are never reused, and records match the documents.

use super::dictated::{Dictated, dictate};
use super::stored::{is_sound, records, versions};
use crate::harness::{Memory, Service};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// An operation on a memory.
#[derive(Debug, Clone)]
enum Step {
    Put(String),
    Update([String; 3]),
    Operations(String),
}

const FRAGMENTS: &[&str] = &[
    "CURRENT_PROGRESS:\n",
    "  Completed:\n",
    "  In Progress:\n",
    "  Remaining:\n",
    "KEY_LEARNINGS:\n",
    "VERBATIM_CONTEXT:\n",
    "  ADD:\n",
    "  ARCHIVE:\n",
    "  EDIT:\n",
    "    - because one: first insight\n",
    "    - because two: Second  insight\n",
    "    - because std::fs blocks: use tokio\n",
    "    - because : nothing\n",
    "    - no reason\n",
    "    - because snip: label => one line\n",
    "    - because snip: label =>\n        two\n        \tlines\n\n",
    "    - because snip: fence =>\n      ```\n      - because inside: x\n      ```\n",
    "    - KL-1 because gone\n",
    "    - KL-2, KL-3 because gone\n",
    "    - KL-01 because odd\n",
    "    - VC-1 because gone\n",
    "    - VC-2: because gone\n",
    "    - KL-40 because gone\n",
    "    - T-1 because gone\n",
    "    - done something\n",
    "```\n",
    "prose in between\r\n",
    "\n",
];

const LINES: &[&str] = &[
    "# Key Learnings\n",
    "# Verbatim Context\n",
    "# Current Progress\n",
    "# Recent Tasks\n",
    "# Decisions\n",
    "# Notes\n",
    "- KL-1 because a: alpha\n",
    "- KL-2 [2026-11-21T02:00:00Z] because b: beta\n",
    "- KL-2 because twice: other\n",
    "- KL-40 because far: away\n",
    "- VC-1 because c: l => snippet\n",
    "- VC-2 because c: l =>\n  a\n\n  b\n",
    "- T-1 because t: task\n",
    "- D-2 because d: decision\n",
    "- because e: no id\n",
    "- plain\n",
    "## In Progress\n",
    "```\n",
    "prose\n",
    "\n",
];

fn text_of(fragments: &'static [&'static str]) -> impl Strategy<Value = String> {
    vec(select(fragments), 1..14).prop_map(|parts| parts.concat())
}

/// A well-formed section of records, then random text.
fn records_of(header: &'static str, ids: &'static [&'static str]) -> impl Strategy<Value = String> {
    let additions: Vec<_> = FRAGMENTS
        .iter()
        .filter(|part| part.contains("- because "))
        .collect();
    let additions = vec(select(additions).prop_map(|part| (*part).to_owned()), 0..3);
    let archives = vec(
        select(ids).prop_map(|id| format!("    - {id} because gone\n")),
        0..2,
    );
    (additions, archives, noise()).prop_map(move |(additions, archives, noise)| {
        let (additions, archives) = (additions.concat(), archives.concat());
        format!("{header}:\n  ADD:\n{additions}  ARCHIVE:\n{archives}{noise}")
    })
}

fn progress() -> impl Strategy<Value = String> {
    (0..5_u8, noise()).prop_map(|(number, noise)| {
        format!("CURRENT_PROGRESS:\n  In Progress:\n    - Step {number}\n{noise}")
    })
}

fn noise() -> impl Strategy<Value = String> {
    prop_oneof![2 => Just(String::new()), 1 => text_of(FRAGMENTS)]
}

const LEARNINGS: &[&str] = &["KL-1", "KL-2", "KL-3", "KL-40"];
const SNIPPETS: &[&str] = &["VC-1", "VC-2"];

fn step() -> impl Strategy<Value = Step> {
    let update = (
        prop_oneof![3 => progress(), 1 => text_of(FRAGMENTS)],
        prop_oneof![3 => records_of("KEY_LEARNINGS", LEARNINGS), 1 => text_of(FRAGMENTS)],
        prop_oneof![3 => records_of("VERBATIM_CONTEXT", SNIPPETS), 1 => text_of(FRAGMENTS)],
    );
    prop_oneof![
        1 => text_of(LINES).prop_map(|text| Step::Put(format!("# Key Learnings\n{text}"))),
        3 => update.prop_map(|(progress, learnings, verbatim)| Step::Update([progress, learnings, verbatim])),
        2 => text_of(FRAGMENTS).prop_map(Step::Operations),
    ]
}

async fn take(memory: &Memory<'_>, step: &Step) -> Option<Value> {
    let answer = match step {
        Step::Put(text) => {
            let answer = memory.put(text.as_str()).await;
            assert!(matches!(answer.status, 200 | 201), "{step:?}: {}", answer.text());
            return None;
        }
        Step::Update([progress, learnings, verbatim]) => {
            let answers = json!({"progress": progress, "learnings": learnings, "verbatim": verbatim});
            memory.update(dictate(answers)).await
        }
        Step::Operations(text) if text.trim().is_empty() => return None,
        Step::Operations(text) => memory.apply(text).await,
    };
    assert_eq!(answer.status, 200, "{step:?}: {}", answer.text());
    Some(answer.json())
}

/// Every record that was active before an update is active after it, or archived by an operation with a reason.
async fn run(service: &Service, name: &str, steps: &[Step]) {
    let memory = service.memory(name);
    for step in steps {
        let before = records(service, name).await;
        let made = versions(service, name).await.len();
        let Some(answer) = take(&memory, step).await else {
            continue;
        };
        let after = records(service, name).await;
        let operations = answer["operations"].as_array().unwrap();
        for (id, record) in before.iter().filter(|(_, record)| record.status == "active") {
            let named = operations
                .iter()
                .find(|operation| operation["op"] == "archive" && operation["id"] == id.as_str());
            let now = &after[id];
            match named {
                None => assert_eq!(
                    (&now.status, &now.content, &now.label, &now.reason),
                    (&record.status, &record.content, &record.label, &record.reason),
                    "{id} by {step:?}"
                ),
                Some(operation) => {
                    assert_eq!((now.status.as_str(), &now.content), ("archived", &record.content));
                    let reason = now.archive_reason.as_deref().unwrap();
                    assert_eq!(operation["reason"], reason);
                    assert!(!reason.trim().is_empty());
                }
            }
        }
        let saved = versions(service, name).await.len() - made;
        assert_eq!(saved, usize::from(answer["status"] == "applied"), "{answer}");
    }
    is_sound(service, name).await;
}

#[test]
fn no_record_is_lost_and_no_id_reused_after_any_response_or_put() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(async { Dictated::new().service().await });
    let mut runner = TestRunner::new(Config {
        cases: 60,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    });
    let number = std::cell::Cell::new(0);
    let checked = runner.run(&vec(step(), 1..10), |steps| {
        number.set(number.get() + 1);
        let name = format!("case-{}", number.get());
        runtime.block_on(run(&service, &name, &steps));
        Ok(())
    });
    // A case in which nothing changes would prove nothing.
    let happened = |kind: &str| {
        let statement = "SELECT count(*) FROM memory_contexts, jsonb_array_elements(operations) AS done
                         WHERE done->>'op' = $1";
        let count = sqlx::query_scalar::<_, i64>(statement).bind(kind.to_owned());
        runtime.block_on(async { count.fetch_one(service.rows()).await.unwrap() })
    };
    let counts = ["rewrite_progress", "add", "archive"].map(happened);
    // Its database is dropped by a thread of its own, its connections with its runtime.
    let _guard = runtime.enter();
    drop(service);
    checked.unwrap();
    assert!(counts.iter().all(|count| *count >= 5), "{counts:?}");
}
