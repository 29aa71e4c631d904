//! Property test: changes that are saved in one write batch have the same results as each one alone.

use crate::harness::{Answer, Service};
use crate::pipeline::dictated::{Dictated, dictate, progress};
use futures::future::join_all;
use proptest::prelude::{Just, Strategy, prop, prop_oneof};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use reqwest::Method;
use serde_json::json;
use working_memory::config::limits::Guard;

/// One change of a chain, depending on the previous one.
#[derive(Debug, Clone)]
enum Link {
    Text(String),
    Same,
    WithTag(String),
    WithOldTag(String),
    Confirmed(String),
    Deletion,
    Operations(String),
    Update(String),
}

fn document() -> impl Strategy<Value = String> {
    let record = (1..6, "[a-z]{1,8}").prop_map(|(number, text)| {
        format!("- KL-{number} [2026-11-21T02:00:00Z] because it is so: {text}\n")
    });
    let snippet = (1..4, "[a-z]{1,8}").prop_map(|(number, text)| {
        format!("- VC-{number} [2026-11-21T02:00:00Z] because it is so: {text} =>\n  {text}\n")
    });
    let records = prop::collection::vec(record, 0..5);
    let snippets = prop::collection::vec(snippet, 0..3);
    ("[a-z ]{0,60}", records, snippets).prop_map(|(words, records, snippets)| {
        let (records, snippets) = (records.concat(), snippets.concat());
        format!("# Notes\n{words}\n\n# Key Learnings\n{records}\n# Verbatim Context\n{snippets}")
    })
}

/// Operations on learnings, in the DSL.
fn learnings() -> impl Strategy<Value = String> {
    let added = prop::collection::vec("[a-z]{1,8}", 0..3);
    let archived = prop::collection::btree_set(1..9, 0..3);
    (added, archived).prop_map(|(added, archived)| {
        let added = added
            .iter()
            .map(|word| format!("  ADD:\n    - because it is so: {word}\n"));
        let archived = archived
            .iter()
            .map(|number| format!("  ARCHIVE:\n    - KL-{number} because it is over\n"));
        match added.chain(archived).collect::<String>() {
            items if items.is_empty() => "KEY_LEARNINGS: NO CHANGE\n".to_owned(),
            items => format!("KEY_LEARNINGS:\n{items}"),
        }
    })
}

fn chain() -> impl Strategy<Value = Vec<Link>> {
    let link = prop_oneof![
        6 => document().prop_map(Link::Text),
        1 => Just(Link::Same),
        2 => document().prop_map(Link::WithTag),
        1 => document().prop_map(Link::WithOldTag),
        2 => document().prop_map(Link::Confirmed),
        1 => Just(Link::Deletion),
        4 => learnings().prop_map(Link::Operations),
        2 => learnings().prop_map(Link::Update),
    ];
    prop::collection::vec(link, 12)
}

/// Applies a chain to a memory and returns the result of each change, without ids and times.
async fn run(service: &Service, memory: String, chain: Vec<Link>) -> Vec<String> {
    let memory = service.memory(&memory);
    let mut said = Vec::new();
    let (mut text, mut tag) = ("nothing yet".to_owned(), "\"none\"".to_owned());
    for link in chain {
        let request = match &link {
            Link::Deletion => {
                said.push(format!("deleted: {}", memory.delete().await.status));
                continue;
            }
            Link::Operations(text) => {
                said.push(result_of(&memory.apply(text).await));
                continue;
            }
            Link::Update(learnings) => {
                let body = dictate(json!({ "learnings": learnings, "progress": progress("on and on") }));
                said.push(result_of(&memory.update(body).await));
                continue;
            }
            Link::Same => memory.putting(text.clone()),
            Link::Text(new) => memory.putting(new.clone()),
            Link::WithTag(new) => memory.putting(new.clone()).header("If-Match", &tag),
            Link::WithOldTag(new) => memory.putting(new.clone()).header("If-Match", "\"old\""),
            Link::Confirmed(new) => memory
                .request(Method::PUT, "context?confirm=collapse")
                .header("Content-Type", "text/plain")
                .body(new.clone()),
        };
        let answer = Answer::to(request).await;
        if let (Some(new), Link::Text(put) | Link::WithTag(put) | Link::Confirmed(put)) =
            (answer.headers.get("etag"), &link)
        {
            tag = new.to_str().unwrap().to_owned();
            text.clone_from(put);
        }
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        let [version, bytes, unchanged, warnings] =
            ["version", "bytes", "unchanged", "warnings"].map(|name| body[name].to_string());
        said.push(format!(
            "{} {version} {bytes} {unchanged} {warnings}",
            answer.status
        ));
    }
    said
}

/// The result of an update or of operations.
fn result_of(answer: &Answer) -> String {
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let parts = "status version base_version operations rejected log diff".split(' ');
    let parts: Vec<String> = parts.map(|part| body[part].to_string()).collect();
    format!("{} {}", answer.status, parts.join(" "))
}

/// What is stored, table by table, without ids that are random and how long it took.
pub(crate) async fn rows(service: &Service) -> Vec<Vec<String>> {
    let statements = [
        "SELECT concat_ws('|', memory_id, head_version, counters) FROM memories ORDER BY 1",
        "SELECT concat_ws('|', memory_id, version, actor_id, context, source, bytes, log, line_origins, operations)
         FROM memory_contexts ORDER BY memory_id, version",
        "SELECT concat_ws('|', memory_id, kind, number, status, label, reason, content, created_version, ended_version,
                          archive_reason)
         FROM records ORDER BY memory_id, kind, number",
        "SELECT concat_ws('|', memory_id, kind, number, version, change) FROM record_changes
         ORDER BY memory_id, kind, number, version, change",
        "SELECT concat_ws('|', memory_id, kind, version, actor_id, source) FROM events WHERE kind <> 'update'
         ORDER BY memory_id, created_at, event_id, version",
        "SELECT concat_ws('|', memory_id, kind, details - 'millis' - 'context_id' - 'update_id') FROM events
         WHERE kind = 'update' ORDER BY 1",
        "SELECT concat_ws('|', memory_id, kind, status, actor_id, base_version, version, request, outcome ->> 'in_version',
                          outcome -> 'rejected', outcome -> 'warnings', jsonb_array_length(exchanges -> 'packed'))
         FROM updates ORDER BY memory_id, base_version, 1",
        "SELECT concat_ws('|', day, model, role, runs, calls, failures, input_tokens) FROM model_usage ORDER BY 1",
        "SELECT concat_ws('|', hash, text) FROM run_instructions ORDER BY 1",
    ];
    let mut all = Vec::new();
    for statement in statements {
        all.push(service.values(statement).await);
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn batched_and_single_changes_have_the_same_results() {
    let mut runner = TestRunner::deterministic();
    let with = |gather_puts, prepared_statements| {
        move |config: &mut working_memory::config::Config| {
            config.database.gather_puts = gather_puts;
            config.database.prepared_statements = Some(prepared_statements);
            config.guard.collapse = Guard::Reject;
        }
    };
    let models = Dictated::new();
    let keeping = Service::start_with(with(true, true), Some(models.models())).await;
    keeping.listen().await;
    let gathering = Service::start_with(with(true, true), Some(models.models())).await;
    let as_behind_a_pooler = Service::start_with(with(true, false), Some(models.models())).await;
    let alone = Service::start_with(with(false, true), Some(models.models())).await;
    let chains: Vec<Vec<Link>> = (0..24)
        .map(|_| chain().new_tree(&mut runner).unwrap().current())
        .collect();
    let all = |service| {
        let chains = chains.clone().into_iter().enumerate();
        join_all(chains.map(move |(number, chain)| run(service, format!("m{number:02}"), chain)))
    };
    let (said, left) = (all(&alone).await, rows(&alone).await);
    for service in [&gathering, &keeping, &as_behind_a_pooler] {
        assert_eq!(all(service).await, said);
        assert_eq!(rows(service).await, left);
    }
}
