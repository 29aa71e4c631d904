//! `GET M/blame`

use crate::harness::Service;
use serde_json::Value;

#[tokio::test]
async fn each_line_has_the_version_actor_and_time_that_introduced_it_whatever_changed_the_others() {
    // Facts, one, blank, Key Learnings, the bullet that got its id, the new one, and the progress after it.
    let table = r#"
        § each line has the version, actor and time that introduced it
        PUT context | X-Actor-Id: ann < # Facts\none\r\ntwo → 201
        +60
        PUT context | X-Actor-Id: bob < # Facts\nthree\none\r\ntwo\n → 201 ⇒ second=/context_id
        GET blame → 200 | x-context-version: 2 | {"vault_id": "acme", "memory_id": "$memory", "version": 2, "context_id": "$second"}
        GET blame → 200 {"/lines/*/version": [1, 2, 1, 1], "/lines/2/actor_id": "ann", "/lines/2/text": "one"}
        GET blame → 200 {"/lines/1": {"line": 2, "version": 2, "context_id": "$second", "actor_id": "bob", "creation_time": "2026-11-21T02:01:00Z", "text": "three", "evidence": []}}
        GET blame?ref=1 → 200 {"version": 1, "/lines/*/version": [1, 1, 1]}
        § as text it has columns, and each representation has an etag
        PUT context | X-Actor-Id: ann < # Facts\none\n → 201
        PUT context | X-Actor-Id: charlie < # Facts\none\n\ntwo\n → 201
        GET blame | Accept: text/plain → 200 | content-type: text/plain; charset=utf-8 | =1 ann     2026-11-21T02:00:00Z | # Facts\n1 ann     2026-11-21T02:00:00Z | one\n2 charlie 2026-11-21T02:00:00Z | \n2 charlie 2026-11-21T02:00:00Z | two\n
        GET blame → 200 ⇒ tag=etag
        GET blame | If-None-Match: $tag → 304
        GET blame | Accept: text/plain | If-None-Match: $tag → 200
        § every kind of change preserves the origins of unchanged lines
        PUT context < # Facts\none\n\n# Key Learnings\n- by hand\n → 201
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because a: b\n → 200
        POST operations < CURRENT_PROGRESS:\n  In Progress:\n    - x\n → 200
        GET blame → 200 {"/lines/*/version": [1, 1, 1, 1, 2, 2, 3, 3, 3, 3]}"#;
    Service::start().await.requests(table).await;
}

#[tokio::test]
async fn origins_that_are_not_stored_are_computed() {
    let (service, memory) = Service::start().await.agent();
    for text in ["a\nb\nc\n", "a\nx\nc\n", "c\na\nx\n", "c\na\nx\nb\n", "b\nc\n"] {
        memory.write(text).await;
    }
    let shown = async || -> [Value; 2] { [memory.read("blame?ref=4").await, memory.read("blame").await] };
    let stored = shown().await;
    let table = r#"
        GET blame?ref=4 → 200 {"/lines/*/version": [1, 1, 2, 4]}
        GET blame → 200 {"/lines/*/version": [4, 1]}"#;
    memory.requests(table).await;
    for from in [5, 3, 1] {
        // As in rows whose lines come from too many versions for their origins to be stored.
        let forget = format!("UPDATE memory_contexts SET line_origins = NULL WHERE version >= {from}");
        service.execute(forget).await;
        assert_eq!(shown().await, stored, "forgotten from version {from}");
    }
    let unknown: Vec<i64> = service.values("SELECT version FROM memory_contexts WHERE vault_id = 'acme' AND line_origins IS NULL ORDER BY version").await;
    assert_eq!(unknown, [1, 2, 3], "computed origins are stored");
    memory.write("b\nc\nd\n").await;
    let table = r#"GET blame → 200 {"/lines/*/version": [4, 1, 6]}"#;
    memory.requests(table).await;
}
