//! `GET M/prompt`

use crate::harness::{Answer, Memory, Service, each, has};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use working_memory::tokens::Tokens;

const NOW: &str = "Current date and time: Saturday, 2026-11-21 02:00 (UTC)";

async fn put(memory: &Memory<'_>, category: &str, content: &str) {
    let request = memory.request(Method::PUT, &format!("items/{category}"));
    Answer::to(request.json(&json!([{"content": content}])))
        .await
        .is(200);
}

async fn put_of_vault(service: &Service, category: &str, content: &str) {
    let request = service.request(Method::PUT, &format!("/v1/vaults/acme/items/{category}"));
    Answer::to(request.json(&json!([{"content": content}])))
        .await
        .is(200);
}

fn names(receipt: &Value) -> Vec<&str> {
    each(&receipt["parts"], "name")
}

#[tokio::test]
async fn a_prompt_is_assembled_from_items_of_the_vault_and_the_memory_and_the_document() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    put(&memory, "rules", "Mine.").await;
    put_of_vault(&service, "rules", "Ours.\n").await;
    put(&memory, "workflow", "1. Test first").await;
    memory.write("# Facts\nA fact.\n\n# Current Progress\n## In Progress\n- It\n\n# Key Learnings\n- KL-1 because a: one\n").await;

    let text = memory.get("prompt").await.is(200);
    assert_eq!(
        text.text(),
        format!(
            "Ours.\n\nMine.\n\n# Facts\nA fact.\n\n# Key Learnings\n- KL-1 because a: one\n\n1. Test first\n\n\
             # Current Progress\n## In Progress\n- It\n\n{NOW}"
        )
    );
    assert_eq!(text.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(text.header("x-context-version"), "1");

    let json = memory.get_json("prompt").await.is(200);
    let receipt = json.json();
    assert_eq!(receipt["text"], text.text());
    assert_eq!(
        names(&receipt),
        [
            "rules",
            "free",
            "key_learnings",
            "workflow",
            "current_progress",
            "datetime"
        ]
    );
    let tokens = Tokens::default().count(text.text());
    assert_eq!(receipt["tokens"], tokens);
    let parts = receipt["parts"].as_array().unwrap();
    let sum: u64 = parts.iter().map(|part| part["tokens"].as_u64().unwrap()).sum();
    assert_eq!(sum, tokens as u64);
    assert_eq!(parts[0]["source"], "items");
    assert_eq!(parts[0]["items"].as_array().unwrap().len(), 2);
    has(&parts[2], json!({"source": "document", "records": ["KL-1"]}));
    assert_eq!(parts[5]["source"], "clock");
    let context = memory.get_json("context").await.json();
    has(
        &receipt,
        json!({"version": 1, "context_id": context["context_id"]}),
    );
    has(&receipt, json!({"dropped": [], "max_tokens": null}));
    assert_eq!(receipt["prefix_hash"], text.header("x-prefix-hash"));
    assert_ne!(text.header("etag"), json.header("etag"));
}

#[tokio::test]
async fn a_memory_with_items_alone_its_own_or_the_vaults_has_a_prompt() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    let empty = memory.get("prompt").await.is(200);
    assert_eq!(
        (empty.text(), empty.header("content-type")),
        ("", "text/plain; charset=utf-8")
    );
    let receipt = memory.get_json("prompt").await.is(200).json();
    has(&receipt, json!({"text": "", "parts": []}));
    memory.get("context").await.missing();
    put(&memory, "style", "Short.").await;
    let receipt = memory.get_json("prompt").await.is(200).json();
    has(&receipt, json!({"version": null, "context_id": null}));
    assert_eq!(names(&receipt), ["style", "datetime"]);
    assert_eq!(service.memory("other").get("prompt").await.is(200).text(), "");
    put_of_vault(&service, "style", "Kind.").await;
    let other = service
        .memory("other")
        .get("prompt?exclude=datetime")
        .await
        .is(200);
    assert_eq!(other.text(), "Kind.");
    assert!(!other.headers.contains_key("x-context-version"));
    assert_eq!(
        memory.get("prompt?exclude=datetime").await.text(),
        "Kind.\n\nShort."
    );
}

#[tokio::test]
async fn parts_are_selected_by_name() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    for category in ["rules", "style", "workflow"] {
        put(&memory, category, category).await;
    }
    memory.write("# Facts\nf\n\n# Decisions\n- D-1 d\n").await;
    for (query, text) in [
        ("include=rules,%20workflow", "rules\n\nworkflow"),
        (
            "include=workflow&include=rules,key_learnings",
            "rules\n\nworkflow",
        ),
        ("include=key_learnings", ""),
        (
            "exclude=datetime,free&exclude=style,workflow",
            "rules\n\n# Decisions\n- D-1 d",
        ),
        ("include=rules,style&exclude=rules", "style"),
        ("include=free", "# Facts\nf"),
        (
            "include=datetime&timezone=Asia/Tokyo",
            "Current date and time: Saturday, 2026-11-21 11:00 (Asia/Tokyo, UTC+09:00)",
        ),
        (
            "include=datetime&timezone=Asia/Kolkata",
            "Current date and time: Saturday, 2026-11-21 07:30 (Asia/Kolkata, UTC+05:30)",
        ),
    ] {
        assert_eq!(
            memory.get(&format!("prompt?{query}")).await.is(200).text(),
            text,
            "{query}"
        );
    }
    for (query, field) in [
        ("include=", "include"),
        ("include=,", "include"),
        ("timezone=Mars/Olympus", "timezone"),
        ("timezone=", "timezone"),
        ("max_tokens=0", "max_tokens"),
        ("max_tokens=many", "max_tokens"),
        ("exclud=rules", "exclud"),
    ] {
        memory.get(&format!("prompt?{query}")).await.invalid(field);
    }
    memory
        .get_with("prompt", "Accept", "text/html")
        .await
        .problem(406, "not-acceptable", None);
}

#[tokio::test]
async fn a_budget_drops_parts_in_order_and_never_the_rules() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    put(&memory, "rules", "Never push to main. Never delete a migration.").await;
    let tasks: String = (1..=5)
        .rev()
        .map(|n| format!("- T-{n} [2026-11-21T02:00:00Z] Task: it was task number {n}\n"))
        .collect();
    memory
        .write(format!(
            "# Facts\n{}\n# Key Learnings\n- KL-1 because a: one\n\n# Recent Tasks\n{tasks}",
            "fact ".repeat(50)
        ))
        .await;
    let complete = memory.get_json("prompt").await.is(200).json();
    let all = complete["tokens"].as_u64().unwrap();
    let tokens = Tokens::default();
    for most in (11..=all).rev().step_by(7) {
        let receipt = memory
            .get_json(&format!("prompt?max_tokens={most}"))
            .await
            .is(200)
            .json();
        let text = receipt["text"].as_str().unwrap();
        assert!(tokens.count(text) as u64 <= most, "{most}: {text}");
        assert!(text.starts_with("Never push to main."), "{text}");
        has(
            &receipt,
            json!({"max_tokens": most, "prefix_hash": complete["prefix_hash"]}),
        );
        assert_eq!(
            memory.get(&format!("prompt?max_tokens={most}")).await.text(),
            text
        );
    }
    let less = memory
        .get_json(&format!("prompt?max_tokens={}", all - 1))
        .await
        .json();
    assert_eq!(
        less["dropped"],
        json!([{"name": "recent_tasks", "source": "document", "whole": false, "items": [], "records": ["T-1"]}])
    );
    let needed = tokens.count("Never push to main. Never delete a migration.");
    let refused = memory.get("prompt?max_tokens=3").await.invalid("max_tokens");
    assert_eq!(refused["needed"], needed);
    let least = memory.get(&format!("prompt?max_tokens={needed}")).await.is(200);
    assert_eq!(least.text(), "Never push to main. Never delete a migration.");
}

#[tokio::test]
async fn the_same_state_has_the_same_etag_and_is_not_sent_twice() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.write("# Facts\nf\n").await;
    let ask = async |below: &str, tag: String| memory.get_with(below, "If-None-Match", &tag).await;
    let with_time = memory.get("prompt").await.is(200).header("etag").to_owned();
    let without = memory
        .get("prompt?exclude=datetime")
        .await
        .is(200)
        .header("etag")
        .to_owned();
    service.clock.advance(Duration::from_secs(59));
    let same = ask("prompt", with_time.clone()).await.is(304);
    assert_eq!((same.header("x-context-version"), same.body.len()), ("1", 0));
    service.clock.advance(Duration::from_secs(1));
    ask("prompt", with_time).await.is(200);
    ask("prompt?exclude=datetime", without.clone()).await.is(304);
    put(&memory, "style", "Short.").await;
    ask("prompt?exclude=datetime", without).await.is(200);
}

#[tokio::test]
async fn an_item_of_the_category_datetime_replaces_the_clock() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.write("# Facts\nf\n").await;
    put(&memory, "datetime", "It is spring.").await;
    assert_eq!(memory.get("prompt").await.text(), "# Facts\nf\n\nIt is spring.");
    let receipt = memory.get_json("prompt?include=datetime").await.json();
    assert_eq!(
        (&receipt["text"], &receipt["parts"][0]["source"]),
        (&json!("It is spring."), &json!("items"))
    );
}

#[tokio::test]
async fn unknown_names_in_include_are_rejected() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    put(&memory, "style", "Short.").await;
    let problem = memory
        .refuses("prompt?include=rules,stile", 422, "invalid", Some("include"))
        .await;
    assert_eq!(problem["unknown"], json!(["stile"]));
    assert!(
        problem["known"].as_array().unwrap().contains(&json!("style")),
        "{problem}"
    );
    assert_eq!(
        memory.get("prompt?include=rules,style").await.is(200).text(),
        "Short."
    );
    assert_eq!(memory.get("prompt?include=rules").await.is(200).text(), "");
    memory.get("prompt?exclude=stile").await.is(200);
}

#[tokio::test]
async fn the_prompt_at_a_time_has_the_document_of_that_time() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.write("# Facts\nold\n").await;
    service.clock.advance(Duration::from_secs(3_600));
    memory.write("# Facts\nnew\n").await;
    put(&memory, "style", "Short.").await;
    let then = memory.get("prompt?as_of=2026-11-21T02:30:00Z").await.is(200);
    assert_eq!(
        then.text(),
        "Short.\n\n# Facts\nold\n\nCurrent date and time: Saturday, 2026-11-21 02:30 (UTC)"
    );
    assert_eq!(then.header("x-context-version"), "1");
    memory
        .refuses(
            "prompt?as_of=2026-11-21T01:00:00Z",
            404,
            "not-found",
            Some("as_of"),
        )
        .await;
    memory
        .get("prompt?as_of=2026-11-22T00:00:00Z")
        .await
        .invalid("as_of");
    memory.redact("1").await.is(200);
    memory
        .refuses("prompt?as_of=2026-11-21T02:30:00Z", 410, "gone", Some("as_of"))
        .await;
}

#[tokio::test]
async fn the_prefix_is_stable_over_a_hundred_changes_of_everything_else() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    for (category, content) in [("rules", "R"), ("user_information", "U"), ("tool_guidance", "T")] {
        put(&memory, category, content).await;
    }
    memory.write("# Facts\nf\n").await;
    let first = memory.get("prompt").await.is(200);
    let hash = first.header("x-prefix-hash").to_owned();
    let mut random = fastrand::Rng::with_seed(20_261_121);
    for number in 0..100 {
        match random.u8(0..4) {
            0 => {
                memory
                    .applied(&format!(
                        "KEY_LEARNINGS:\n  ADD:\n    - because {number} is new: insight {number}\n"
                    ))
                    .await;
            }
            1 => {
                memory
                    .applied(&format!(
                        "CURRENT_PROGRESS:\n  In Progress:\n    - Step {number}\n"
                    ))
                    .await;
            }
            2 => {
                let before = memory.get("context").await.is(200);
                let text = format!(
                    "{}\n# Recent Tasks\n- T-{number} done\n# Part {number}\nx",
                    before.text()
                );
                memory.write(text).await;
            }
            _ => {
                put(
                    &memory,
                    ["style", "workflow"][random.usize(0..2)],
                    &format!("Text {number}"),
                )
                .await
            }
        }
        service.clock.advance(Duration::from_secs(90));
        let prompt = memory.get("prompt").await.is(200);
        assert_eq!(prompt.header("x-prefix-hash"), hash, "after change {number}");
        assert!(prompt.text().starts_with("R\n\nU\n\nT\n\n"));
    }
    for category in ["rules", "user_information", "tool_guidance"] {
        put(&memory, category, "another").await;
        assert_ne!(
            memory.get("prompt").await.header("x-prefix-hash"),
            hash,
            "{category}"
        );
        put(&memory, category, &category[..1].to_uppercase()).await;
        assert_eq!(
            memory.get("prompt").await.header("x-prefix-hash"),
            hash,
            "{category}"
        );
    }
}
