//! `GET M/prompt`

use crate::harness::{Service, has};
use serde_json::json;
use working_memory::tokens::Tokens;

#[tokio::test]
async fn a_prompt_is_assembled_from_items_of_the_vault_and_the_memory_and_the_document() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        PUT items/rules < Mine. → 200
        PUT /v1/vaults/acme/items/rules < Ours.\n → 200
        PUT items/workflow < 1. Test first → 200
        PUT context < # Facts\nA fact.\n\n# Current Progress\n## In Progress\n- It\n\n# Key Learnings\n- KL-1 because a: one\n → 201 ⇒ id=/context_id
        GET prompt → 200 | content-type: text/plain; charset=utf-8 | x-context-version: 1 | =Ours.\n\nMine.\n\n# Facts\nA fact.\n\n# Key Learnings\n- KL-1 because a: one\n\n1. Test first\n\n# Current Progress\n## In Progress\n- It\n\nCurrent date and time: Saturday, 2026-11-21 02:00 (UTC) ⇒ text== tag=etag hash=x-prefix-hash
        GET prompt | Accept: application/json | If-None-Match: $tag → 200 {"text": "$text", "max_tokens": null, "prefix_hash": "$hash", "version": 1, "context_id": "$id", "dropped": []}
        GET prompt | Accept: application/json → 200 {"/parts/*/name": ["rules", "free", "key_learnings", "workflow", "current_progress", "datetime"]}
        GET prompt | Accept: application/json → 200 {"/parts/0/source": "items", "/parts/0/items#": 2, "/parts/2/source": "document", "/parts/2/records": ["KL-1"], "/parts/5/source": "clock"}"##;
    let receipt = memory.requests(table).await.json();
    let tokens = Tokens::default().count(receipt["text"].as_str().unwrap());
    assert_eq!(receipt["tokens"], tokens);
    let parts = receipt["parts"].as_array().unwrap();
    let sum: u64 = parts.iter().map(|part| part["tokens"].as_u64().unwrap()).sum();
    assert_eq!(sum, tokens as u64);
}

#[tokio::test]
async fn parts_of_a_prompt_are_selected_by_name_and_of_a_time_and_the_same_state_is_not_sent_twice() {
    // The vault's own items are written last.
    let table = r##"
        § parts are selected by name
        PUT items/rules < rules → 200
        PUT items/style < style → 200
        PUT items/workflow < workflow → 200
        PUT context < # Facts\nf\n\n# Decisions\n- D-1 d\n → 201
        GET prompt?include=rules,%20workflow → 200 =rules\n\nworkflow
        GET prompt?include=workflow,rules,key_learnings → 200 =rules\n\nworkflow
        GET prompt?include=key_learnings → 200 =
        GET prompt?exclude=datetime,free,style,workflow → 200 =rules\n\n# Decisions\n- D-1 d
        GET prompt?include=rules,style&exclude=rules → 200 =style
        GET prompt?include=free → 200 =# Facts\nf
        GET prompt?include=datetime&timezone=Asia/Tokyo → 200 =Current date and time: Saturday, 2026-11-21 11:00 (Asia/Tokyo, UTC+09:00)
        GET prompt?include=datetime&timezone=Asia/Kolkata → 200 =Current date and time: Saturday, 2026-11-21 07:30 (Asia/Kolkata, UTC+05:30)
        GET prompt?include= → 422 invalid include
        GET prompt?include=, → 422 invalid include
        GET prompt?timezone=Mars/Olympus → 422 invalid timezone
        GET prompt?timezone= → 422 invalid timezone
        GET prompt?max_tokens=0 → 422 invalid max_tokens
        GET prompt?max_tokens=99999999999 → 422 invalid max_tokens {"minimum": 1, "limit": 10000000}
        GET prompt?exclud=rules → 422 invalid exclud
        GET prompt | Accept: text/html → 406 not-acceptable
        § a record that no budget has room for leaves the room to others
        PUT context < # Key Learnings\n- KL-1 because x: small\n- KL-2 because x: (a b ×2000)\n → 201
        GET prompt?max_tokens=200 → 200 ~KL-1 because x: small
        GET prompt?max_tokens=200&query=b → 200 ~KL-1 because x: small
        § the same state has the same etag and is not sent twice
        PUT context < # Facts\nf\n → 201
        GET prompt → 200 ⇒ timed=etag
        GET prompt?exclude=datetime → 200 ⇒ without=etag
        +59
        GET prompt | If-None-Match: $timed → 304 | x-context-version: 1 | =
        +1
        GET prompt | If-None-Match: $timed → 200
        GET prompt?exclude=datetime | If-None-Match: $without → 304
        PUT items/style < [{"content": "Short."}] → 200
        GET prompt?exclude=datetime | If-None-Match: $without → 200
        § an item of the category datetime replaces the clock
        PUT context < # Facts\nf\n → 201
        PUT items/datetime < [{"content": "It is spring."}] → 200
        GET prompt → 200 =# Facts\nf\n\nIt is spring.
        GET prompt?include=datetime | Accept: application/json → 200 {"text": "It is spring.", "/parts/0/source": "items"}
        § unknown names in include are rejected
        PUT items/style < [{"content": "Short."}] → 200
        GET prompt?include=rules,stile → 422 invalid include {"unknown": ["stile"], "known~": "\"style\""}
        GET prompt?include=rules,style → 200 =Short.
        PUT items/workflow < First. → 200
        GET prompt?include=stile → 422 invalid include {"known": ["rules", "user_information", "tool_guidance", "free", "key_learnings", "verbatim_context", "decisions", "active_context", "recent_tasks", "workflow", "current_progress", "datetime", "style"]}
        GET prompt?include=rules → 200 =
        GET prompt?exclude=stile → 200
        § the prompt at a time has the document of that time
        PUT context < # Facts\nold\n → 201
        +3600
        PUT context < # Facts\nnew\n → 201
        PUT items/style < [{"content": "Short."}] → 200
        GET prompt?as_of=2026-11-21T02:30:00Z → 200 | x-context-version: 1 | =Short.\n\n# Facts\nold\n\nCurrent date and time: Saturday, 2026-11-21 02:30 (UTC)
        GET prompt?as_of=2026-11-21T01:00:00Z → 404 not-found as_of
        GET prompt?as_of=2026-11-22T00:00:00Z → 422 invalid as_of
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        GET prompt?as_of=2026-11-21T02:30:00Z → 410 gone as_of
        § a memory with items alone, its own or the vault's, has a prompt
        GET prompt → 200 | content-type: text/plain; charset=utf-8 | =
        GET prompt | Accept: application/json → 200 {"text": "", "parts": []}
        GET context → 404 not-found
        PUT items/style < [{"content": "Short."}] → 200
        GET prompt | Accept: application/json → 200 {"version": null, "context_id": null, "/parts/*/name": ["style", "datetime"]}
        GET /v1/vaults/acme/memories/other/prompt → 200 =
        PUT /v1/vaults/acme/items/style < [{"content": "Kind."}] → 200
        GET prompt?exclude=datetime → 200 =Kind.\n\nShort.
        GET /v1/vaults/acme/memories/other/prompt?exclude=datetime → 200 =Kind."##;
    let other = Service::start().await.requests(table).await;
    assert!(!other.headers.contains_key("x-context-version"));
}

#[tokio::test]
async fn a_budget_drops_parts_in_order_and_never_the_rules() {
    let (_, memory) = Service::start().await.agent();
    let tasks: String = (1..=5)
        .rev()
        .map(|n| format!("- T-{n} [2026-11-21T02:00:00Z] Task: it was task number {n}\\n"))
        .collect();
    let table = r"
        PUT items/rules < Never push to main. Never delete a migration. → 200
        PUT context < # Facts\n(fact ×50)\n# Key Learnings\n- KL-1 because a: one\n\n# Recent Tasks\nTASKS → 201";
    memory.requests(&table.replace("TASKS", &tasks)).await;
    let complete = memory.get_json("prompt").await.is(200).json();
    let all = complete["tokens"].as_u64().unwrap();
    let tokens = Tokens::default();
    for most in (11..=all).rev().step_by(7) {
        let path = format!("prompt?max_tokens={most}");
        let receipt = memory.get_json(&path).await.is(200).json();
        let text = receipt["text"].as_str().unwrap();
        assert!(tokens.count(text) as u64 <= most, "{most}: {text}");
        assert!(text.starts_with("Never push to main."), "{text}");
        has(
            &receipt,
            json!({"max_tokens": most, "prefix_hash": complete["prefix_hash"]}),
        );
        assert_eq!(memory.get(&path).await.text(), text);
    }
    let rules = "Never push to main. Never delete a migration.";
    let table = format!(
        r#"
        GET prompt?max_tokens={less} | Accept: application/json → 200 {{"dropped": [{{"name": "recent_tasks", "source": "document", "whole": false, "items": [], "records": ["T-1"]}}]}}
        GET prompt?max_tokens=3 → 422 invalid max_tokens {{"needed": {needed}}}
        GET prompt?max_tokens={needed} → 200 ={rules}"#,
        less = all - 1,
        needed = tokens.count(rules)
    );
    memory.requests(&table).await;
}
