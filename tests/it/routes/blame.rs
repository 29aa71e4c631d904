//! `GET M/blame`

use crate::harness::{Service, has};
use serde_json::{Value, json};
use std::time::Duration;

/// The versions of the lines in a response.
fn versions(answer: &Value) -> Vec<i64> {
    let lines = answer["lines"].as_array().unwrap().iter();
    lines.map(|line| line["version"].as_i64().unwrap()).collect()
}

/// As in rows whose lines come from too many versions for their origins to be stored.
async fn forget_origins(service: &Service, from: i64) {
    sqlx::query("UPDATE memory_contexts SET line_origins = NULL WHERE vault_id = 'acme' AND version >= $1")
        .bind(from)
        .execute(service.rows())
        .await
        .unwrap();
}

#[tokio::test]
async fn each_line_has_the_version_actor_and_time_that_introduced_it() {
    let (service, memory) = Service::start().await.agent();
    memory.put_as("ann", "# Facts\none\r\ntwo").await.is(201);
    service.clock.advance(Duration::from_secs(60));
    memory.put_as("bob", "# Facts\nthree\none\r\ntwo\n").await.is(201);

    let blame = memory.get("blame").await.is(200);

    assert_eq!(blame.header("x-context-version"), "2");
    let body = blame.json();
    let second = memory.get_json("context").await.is(200).json()["context_id"].clone();
    has(&body, json!({"vault_id": "acme", "memory_id": "agent"}));
    has(&body, json!({"version": 2, "context_id": second}));
    assert_eq!(versions(&body), [1, 2, 1, 1]);
    assert_eq!(
        body["lines"][1],
        json!({
            "line": 2,
            "version": 2,
            "context_id": second,
            "actor_id": "bob",
            "creation_time": "2026-11-21T02:01:00Z",
            "text": "three",
            "evidence": [],
        })
    );
    has(&body["lines"][2], json!({"actor_id": "ann", "text": "one"}));

    let first = memory.read("blame?ref=1").await;
    assert_eq!((versions(&first), &first["version"]), (vec![1, 1, 1], &json!(1)));
}

#[tokio::test]
async fn blame_as_text_has_columns() {
    let (_, memory) = Service::start().await.agent();
    memory.put_as("ann", "# Facts\none\n").await.is(201);
    memory.put_as("charlie", "# Facts\none\n\ntwo\n").await.is(201);

    let blame = memory.get_with("blame", "Accept", "text/plain").await.is(200);

    assert_eq!(blame.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(
        blame.text(),
        "1 ann     2026-11-21T02:00:00Z | # Facts\n\
         1 ann     2026-11-21T02:00:00Z | one\n\
         2 charlie 2026-11-21T02:00:00Z | \n\
         2 charlie 2026-11-21T02:00:00Z | two\n"
    );
}

#[tokio::test]
async fn every_kind_of_change_preserves_the_origins_of_unchanged_lines() {
    let (_, memory) = Service::start().await.agent();
    memory
        .put_as("ann", "# Facts\none\n\n# Key Learnings\n- by hand\n")
        .await
        .is(201);
    memory.learns("a: b").await;
    memory
        .applied("CURRENT_PROGRESS:\n  In Progress:\n    - x\n")
        .await;

    let body = memory.read("blame").await;

    // Facts, one, blank, Key Learnings, the bullet that got its id, the new one, and the progress after it.
    assert_eq!(versions(&body), [1, 1, 1, 1, 2, 2, 3, 3, 3, 3]);
}

#[tokio::test]
async fn origins_that_are_not_stored_are_computed() {
    let (service, memory) = Service::start().await.agent();
    for text in ["a\nb\nc\n", "a\nx\nc\n", "c\na\nx\n", "c\na\nx\nb\n", "b\nc\n"] {
        memory.put_as("ann", text).await.is(201);
    }
    let stored = [
        memory.get("blame?ref=4").await.json(),
        memory.get("blame").await.json(),
    ];
    assert_eq!(versions(&stored[0]), [1, 1, 2, 4]);
    assert_eq!(versions(&stored[1]), [4, 1]);

    for from in [5, 3, 1] {
        forget_origins(&service, from).await;
        let derived = [
            memory.get("blame?ref=4").await.json(),
            memory.get("blame").await.json(),
        ];
        assert_eq!(derived, stored, "forgotten from version {from}");
    }
    let unknown: Vec<i64> = service.values("SELECT version FROM memory_contexts WHERE vault_id = 'acme' AND line_origins IS NULL ORDER BY version").await;
    assert_eq!(unknown, [1, 2, 3], "computed origins are stored");
    memory.put_as("ann", "b\nc\nd\n").await.is(201);
    assert_eq!(versions(&memory.get("blame").await.json()), [4, 1, 6]);
}

#[tokio::test]
async fn blame_has_an_etag_for_each_representation() {
    let (_, memory) = Service::start().await.agent();
    memory.put_as("ann", "one\n").await.is(201);
    let tag = memory.get("blame").await.is(200).header("etag").to_owned();

    memory
        .requests(&format!(
            "GET blame | If-None-Match: {tag} → 304
             GET blame | Accept: text/plain | If-None-Match: {tag} → 200"
        ))
        .await;
}
