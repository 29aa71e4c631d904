//! `GET M/blame`

use crate::harness::{Answer, Memory, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

async fn put(memory: &Memory<'_>, actor: &str, text: &str) {
    let put = memory.putting(text).header("X-Actor-Id", actor);
    Answer::to(put).await.is(201);
}

/// The versions of the lines in a response.
fn versions(answer: &Value) -> Vec<i64> {
    let lines = answer["lines"].as_array().unwrap().iter();
    lines.map(|line| line["version"].as_i64().unwrap()).collect()
}

/// As in rows from before origins were stored, or of an import.
async fn forget_origins(service: &Service, from: i64) {
    sqlx::query("UPDATE memory_contexts SET line_origins = NULL WHERE vault_id = 'acme' AND version >= $1")
        .bind(from)
        .execute(service.rows())
        .await
        .unwrap();
}

#[tokio::test]
async fn each_line_has_the_version_actor_and_time_that_introduced_it() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    put(&memory, "ann", "# Facts\none\r\ntwo").await;
    service.clock.advance(Duration::from_secs(60));
    put(&memory, "bob", "# Facts\nthree\none\r\ntwo\n").await;

    let blame = memory.get("blame").await.is(200);

    assert_eq!(blame.header("x-context-version"), "2");
    let body = blame.json();
    let second = memory.get_json("context").await.is(200).json()["context_id"].clone();
    assert_eq!(
        (&body["vault_id"], &body["memory_id"]),
        (&json!("acme"), &json!("agent"))
    );
    assert_eq!((&body["version"], &body["context_id"]), (&json!(2), &second));
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
    assert_eq!(
        (&body["lines"][2]["actor_id"], &body["lines"][2]["text"]),
        (&json!("ann"), &json!("one"))
    );

    let first = memory.get("blame?ref=1").await.is(200).json();
    assert_eq!((versions(&first), &first["version"]), (vec![1, 1, 1], &json!(1)));
}

#[tokio::test]
async fn blame_as_text_has_columns() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    put(&memory, "ann", "# Facts\none\n").await;
    put(&memory, "charlie", "# Facts\none\n\ntwo\n").await;

    let request = memory
        .request(Method::GET, "blame")
        .header("Accept", "text/plain");
    let blame = Answer::to(request).await.is(200);

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
    let service = Service::start().await;
    let memory = service.memory("agent");
    put(&memory, "ann", "# Facts\none\n\n# Key Learnings\n- by hand\n").await;
    memory
        .apply("KEY_LEARNINGS:\n  ADD:\n    - because a: b\n")
        .await
        .is(200);
    memory
        .apply("CURRENT_PROGRESS:\n  In Progress:\n    - x\n")
        .await
        .is(200);

    let body = memory.get("blame").await.is(200).json();

    // Facts, one, blank, Key Learnings, the bullet that got its id, the new one, and the progress after it.
    assert_eq!(versions(&body), [1, 1, 1, 1, 2, 2, 3, 3, 3, 3]);
}

#[tokio::test]
async fn origins_that_are_not_stored_are_computed() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    for text in ["a\nb\nc\n", "a\nx\nc\n", "c\na\nx\n", "c\na\nx\nb\n", "b\nc\n"] {
        put(&memory, "ann", text).await;
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
    let unknown: Vec<i64> = sqlx::query_scalar(
        "SELECT version FROM memory_contexts WHERE vault_id = 'acme' AND line_origins IS NULL ORDER BY version",
    )
    .fetch_all(service.rows())
    .await
    .unwrap();
    assert_eq!(unknown, [1, 2, 3], "computed origins are stored");
    put(&memory, "ann", "b\nc\nd\n").await;
    assert_eq!(versions(&memory.get("blame").await.json()), [4, 1, 6]);
}

#[tokio::test]
async fn blame_has_an_etag_and_missing_versions_are_named() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    put(&memory, "ann", "one\n").await;
    let tag = memory.get("blame").await.is(200).header("etag").to_owned();

    let again = memory.request(Method::GET, "blame").header("If-None-Match", &tag);
    Answer::to(again).await.is(304);
    let text = memory
        .request(Method::GET, "blame")
        .header("Accept", "text/plain")
        .header("If-None-Match", &tag);
    Answer::to(text).await.is(200);
    for missing in ["2", "none"] {
        memory
            .get(&format!("blame?ref={missing}"))
            .await
            .problem(404, "not-found", Some("ref"));
    }
    memory
        .get("blame?ref=")
        .await
        .problem(422, "invalid", Some("ref"));
    service
        .memory("nobody")
        .get("blame")
        .await
        .problem(404, "not-found", None);
}

/// Run it in release: `cargo nextest run --release --run-ignored only -E 'test(a_thousand_versions)'`.
#[tokio::test]
#[ignore = "it measures, and takes a while"]
#[expect(clippy::print_stderr, reason = "what it measures is for whoever runs it")]
async fn a_thousand_versions_of_a_hundred_kilobytes_are_blamed_in_time() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    let mut lines: Vec<_> = (0..1_850)
        .map(|number| format!("- line {number} {}", fastrand::u128(..)))
        .collect();
    let mut writing = Duration::ZERO;
    for version in 1..=1_000 {
        let place = fastrand::usize(..lines.len());
        lines[place] = format!("- version {version} {}", fastrand::u128(..));
        if version % 10 == 0 {
            let moved = lines.remove(place);
            lines.insert(fastrand::usize(..lines.len()), moved);
        }
        let text = format!("{}\n", lines.join("\n"));
        let begin = Instant::now();
        put(&memory, &format!("actor-{}", version % 7), &text).await;
        writing += begin.elapsed();
    }
    eprintln!("a put: {:?}", writing / 1_000);
    let mut stored = Value::Null;
    for forgotten in [1_001, 900, 1] {
        forget_origins(&service, forgotten).await;
        for below in [
            "blame",
            "contexts/1000/diff",
            "contexts/1000/diff?base=1",
            "log?limit=500",
        ] {
            let begin = Instant::now();
            let answer = memory.get_json(below).await.is(200);
            let time = begin.elapsed();
            eprintln!(
                "{below}: {time:?} for {} KB, origins stored up to {}",
                answer.body.len() / 1_024,
                forgotten - 1
            );
            if forgotten == 1_001 {
                assert!(time < Duration::from_millis(200), "{below}: {time:?}");
            }
            if below == "blame" {
                let body = answer.json();
                if stored.is_null() {
                    stored = body;
                } else {
                    assert!(body == stored, "computed origins differ from stored ones");
                }
            }
        }
    }
}
