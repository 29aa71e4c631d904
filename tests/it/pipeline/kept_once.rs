//! The prompts of a run are stored without duplicates, and returned, exported and imported as they were.

use crate::harness::{Service, Step, holds, lacks, scripted};
use crate::transfer::program::export;
use serde_json::{Value, json};
use working_memory::domain::operation::Role;
use working_memory::llm::Models;

/// A marker in one message, between other lines.
const QUOTED: &str = "the key of the staging server is Quagga7351 and nobody else may know it";

fn models() -> Models {
    scripted(|role| match role {
        Role::Learnings => Step::answer(&format!(
            "KEY_LEARNINGS:\n  ADD:\n    - because it was said: {QUOTED}\n"
        )),
        _ => Step::answer(&format!("{}: NO CHANGE", role.header())),
    })
}

fn said() -> Value {
    let line = |n| format!("line {n} of the output: zwölf parsers were read and none was found");
    let lines: Vec<String> = (0..200).map(line).collect();
    json!({
        "task": "Remember the key of the staging server.",
        "messages": [
            {"role": "user", "content": format!("first\n{QUOTED}\nlast")},
            {"role": "tool", "content": lines.join("\n")},
        ],
    })
}

/// A run as it is stored: its exchanges, and how many bytes it takes.
async fn stored(service: &Service) -> Vec<(Value, i64)> {
    sqlx::query_as("SELECT exchanges, length(exchanges::text)::bigint FROM updates ORDER BY update_id")
        .fetch_all(service.rows())
        .await
        .unwrap()
}

/// The first run of an exported vault.
fn exported_run(file: &str) -> Value {
    let mut lines = file
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.find_map(|line| line.get("run").cloned()).unwrap()
}

#[tokio::test]
async fn messages_are_kept_once_a_run_and_instructions_once_a_vault() {
    let (service, memory) = Service::with_models(models()).await.agent();
    let first = memory.updated(said()).await;
    memory.updated(said()).await;
    let instructions: i64 = service.value("SELECT count(*) FROM run_instructions").await;
    assert_eq!(instructions, 3);
    let (kept, bytes) = stored(&service).await.remove(0);
    assert!(bytes < 6_000, "{bytes}: {kept}");

    let run = memory.run_of(&first).await;

    let exchanges = run["exchanges"].as_array().unwrap();
    assert_eq!(exchanges.len(), 3);
    for exchange in exchanges {
        let input = exchange["messages"][0]["content"].as_str().unwrap();
        let messages = said();
        for message in messages["messages"].as_array().unwrap() {
            assert!(input.contains(message["content"].as_str().unwrap()), "{input}");
        }
        assert!(exchange["system"].as_str().unwrap().len() > 1_000, "{exchange}");
    }
}

#[tokio::test]
async fn what_the_captured_version_says_is_not_kept_with_the_run() {
    let (service, memory) = Service::with_models(models()).await.agent();
    let line = |n| format!("- KL-{n} because it was seen: the lexer keeps the spaces at the end of line {n}");
    let section = (1..=30).map(line).collect::<Vec<_>>().join("\n");
    memory.write(&format!("# Key Learnings\n{section}\n")).await;
    let answer = memory.updated(said()).await;
    let run = memory.run_of(&answer).await;

    let (kept, _) = stored(&service).await.remove(0);
    assert_eq!(kept["base"], 1);
    assert!(!kept.to_string().contains("the lexer keeps"), "{kept}");
    let exchanges_of = |run: &Value| run["exchanges"].to_string();
    holds(exchanges_of(&run), &[&section.replace('\n', "\\n")]);
    let file = export(&service.database_url(), &["--vault", "acme"]);
    let exported = exported_run(&file);
    assert_eq!(exported["exchanges"], run["exchanges"]);

    // Pruning a version removes its text from the runs whose prompts contained it.
    let answer = memory.updated(said()).await;
    sqlx::query("DELETE FROM memory_contexts WHERE version = $1")
        .bind(answer["base_version"].as_i64())
        .execute(service.rows())
        .await
        .unwrap();
    let run = memory.run_of(&answer).await;
    holds(exchanges_of(&run), &["not kept any more"]);
    lacks(exchanges_of(&run), &["the lexer keeps"]);
}

#[tokio::test]
async fn a_redaction_covers_texts_that_are_stored_in_parts() {
    let (service, memory) = Service::with_models(models()).await.agent();
    memory.write("# Notes\nold\n").await;
    let answer = memory.updated(said()).await;
    memory.write("# Notes\nnew\n").await;
    memory.write("# Notes\nnewer\n").await;
    let holding = service.tables_that_hold("Quagga7351").await;
    assert!(holding.contains(&"updates".to_owned()), "{holding:?}");

    memory.redact("2").await.is(200);

    assert_eq!(service.tables_that_hold("Quagga7351").await, [""; 0]);
    assert_eq!(memory.run_of(&answer).await["exchanges"], json!([]));
}
