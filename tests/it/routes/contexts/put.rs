//! `PUT M/context`

use crate::harness::{Answer, Memory, Service, has, holds};
use futures::future::join_all;
use reqwest::{Body, Method, RequestBuilder};
use serde_json::json;
use std::collections::HashMap;
use working_memory::config::Config;
use working_memory::config::limits::Guard;

fn as_json(memory: &Memory, body: impl Into<Body>) -> RequestBuilder {
    let request = memory.request(Method::PUT, "context");
    request.header("Content-Type", "application/json").body(body)
}

#[tokio::test]
async fn a_first_put_creates_version_one_byte_for_byte() {
    let (service, memory) = Service::start().await.agent();
    let text = "# Notes\r\n\ttab, \u{e4}, trailing blanks  \n\n";
    let put = memory.put_as("ann@example:1", text).await.is(201);
    let body = put.json();
    has(
        &body,
        json!({"vault_id": "acme", "memory_id": "agent", "version": 1, "unchanged": false, "actor_id": "ann@example:1",
               "creation_time": "2026-11-21T02:00:00Z", "source": "put", "bytes": text.len(),
               "estimated_tokens": text.len().div_ceil(4)}),
    );
    assert!(body["percent_of_cap"].is_number() && body.get("context").is_none());
    let context_id = body["context_id"].as_str().unwrap();
    assert_eq!(put.header("etag"), format!("\"{context_id}\""));
    assert_eq!(put.header("x-context-version"), "1");
    let location = put.header("location");
    assert_eq!(location, memory.path("contexts/1"));
    let select = "SELECT context, actor_id FROM memory_contexts WHERE vault_id = 'acme' AND context_id = $1";
    let stored: (String, String) = sqlx::query_as(select)
        .bind(context_id)
        .fetch_one(service.rows())
        .await
        .unwrap();
    assert_eq!(stored, (text.to_owned(), "ann@example:1".to_owned()));
    assert_eq!(service.get(location).await.is(200).text(), text);
}

#[tokio::test]
async fn putting_the_same_text_again_creates_no_version() {
    let (service, memory) = Service::start().await.agent();
    let first = memory.put("# A\n").await.is(201);
    let again = memory.put("# A\n").await.is(200);
    has(&again.json(), json!({"unchanged": true, "version": 1}));
    assert_eq!(again.header("etag"), first.header("etag"));
    assert!(!again.headers.contains_key("location"));
    assert_eq!(service.count("memory_contexts").await, 1);
    assert_eq!(memory.write("# A").await["version"], 2);
}

#[tokio::test]
async fn a_json_string_is_stored_as_its_text_and_other_json_as_it_was_sent() {
    let (service, memory) = Service::start().await.agent();
    let deep = "[".repeat(50_000) + &"]".repeat(50_000);
    for (body, stored) in [
        (r##" "# A\n\u00e4" "##, "# A\n\u{e4}"),
        (
            "{ \"b\": 1.0,\n \"a\" : [], \"b\":2 }",
            "{ \"b\": 1.0,\n \"a\" : [], \"b\":2 }",
        ),
        ("[1 ,2]\n", "[1 ,2]\n"),
        (&deep, &deep),
    ] {
        Answer::to(as_json(&memory, body.to_owned())).await.is(201);
        assert_eq!(memory.text().await, stored);
    }
    for body in ["1", "true", " null ", "\" \"", "\"a\\u0000\""] {
        Answer::to(as_json(&memory, body))
            .await
            .problem(422, "invalid", None);
    }
    for body in [
        "",
        "{",
        "\"a",
        "\"a\" x",
        "[1,]",
        "nul",
        "\u{feff}{}",
        r#""\ud800""#,
    ] {
        Answer::to(as_json(&memory, body))
            .await
            .problem(400, "malformed", None);
    }
    assert_eq!(service.count("memory_contexts").await, 4);
}

#[tokio::test]
async fn preconditions_prevent_overwriting_unseen_changes() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        PUT context | If-Match: * < x → 412 precondition-failed
        PUT context | If-Match: "none" < x → 412 precondition-failed
        ROWS memories 0
        PUT context | If-None-Match: * < one → 201 ⇒ tag=etag current=/context_id
        PUT context | If-None-Match: * < x → 412 precondition-failed {"current": "$current", "version": 1}
        PUT context | If-Match: W/$tag < x → 412 precondition-failed
        PUT context | If-Match: "other", $tag < two → 201
        PUT context | If-Match: $tag < x → 412 precondition-failed
        GET context | Accept: application/json → 200 ⇒ json=etag
        PUT context | If-Match: $json < three → 201
        PUT context | If-Match: unquoted < x → 400 malformed If-Match
        GET context → 200 =three
        ROWS memory_contexts 3"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn the_limit_is_in_bytes_and_the_error_names_it() {
    let service = Service::configured(|config| config.limits.context_bytes = 1_000).await;
    let memory = service.memory("agent");

    memory.write("\u{e4}".repeat(500)).await;
    let problem = memory
        .put("x".repeat(1_001))
        .await
        .problem(413, "too-large", Some("body"));

    has(&problem, json!({"limit": 1_000, "actual": 1_001}));
    holds(problem["detail"].as_str().unwrap(), &["limits.context_bytes"]);
    let quoted = serde_json::to_string(&"\u{1}".repeat(1_001)).unwrap();
    let put = as_json(&memory, quoted);
    Answer::to(put).await.problem(413, "too-large", Some("context"));
    let stream = futures::stream::iter((0..4).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 300])));
    let chunked = memory
        .request(Method::PUT, "context")
        .header("Content-Type", "text/plain")
        .body(Body::wrap_stream(stream));
    Answer::to(chunked).await.problem(413, "too-large", Some("body"));
    assert_eq!(service.count("memory_contexts").await, 1);
}

const WITH_RECORDS: &str = "# Facts\none\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n";

#[tokio::test]
async fn a_put_that_drops_much_of_the_document_returns_a_warning() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        PUT context < # Facts\none\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n → 201 {"warnings": []}
        PUT context < # Facts\none\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n- more\n → 201 {"warnings": []}
        PUT context < # Key Learnings\n- KL-2 because c: d\n → 201 {"/warnings/*/kind": ["bytes_dropped", "records_dropped"], "/warnings/*/records": [[], ["KL-1"]], "/warnings/0/detail~": "36 bytes"}
        PUT context < # Key Learnings\n- KL-2 because c: d\n → 200 {"warnings": []}
        GET records/KL-1 → 200 {"status": "archived", "ended_version": 3, "archive_reason": "left out by version 3"}"##;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_put_that_drops_much_of_the_document_can_be_rejected() {
    let reject = |config: &mut Config| config.guard.collapse = Guard::Reject;
    let (_, memory) = Service::configured(reject).await.agent();
    let table = r##"
        PUT context < # Facts\none\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n → 201 ⇒ tag=etag
        PUT context < x → 409 collapse confirm {"/warnings/1/records": ["KL-1", "KL-2"]}
        GET context → 200 =# Facts\none\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n
        PUT context | If-Match: "stale" < x → 412 precondition-failed
        PUT context < # Facts\ntwo\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n → 201
        PUT context?confirm=yes < x → 422 invalid confirm
        PUT context?confirm=collapse | If-Match: $tag < x → 412 precondition-failed
        PUT context?confirm=collapse < x → 201 {"warnings#": 2}
        GET context → 200 =x"##;
    memory.requests(table).await;
}

#[tokio::test]
async fn nothing_is_checked_when_the_guard_is_off() {
    let service = Service::configured(|config| config.guard.collapse = Guard::Off).await;
    let memory = service.memory("agent");
    memory.write(WITH_RECORDS).await;
    assert_eq!(memory.write("x").await["warnings"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_contention_every_response_has_the_etag_of_a_version_with_the_text_put() {
    let one = Service::start().await;
    let two = one.beside(None).await;
    let texts = ["# Facts\na\n", "# Facts\nb\n", "# Facts\nc\n"];
    one.memory("agent").write(texts[0]).await;

    let writers = (0..12).map(|writer| {
        let service = if writer % 2 == 0 { &one } else { &two };
        async move {
            let mut random = fastrand::Rng::with_seed(writer);
            let mut answers = Vec::new();
            for _ in 0..40 {
                // Often the text that another writer is putting too, so that many puts change nothing.
                let text = texts[random.usize(0..texts.len())];
                let put = service.memory("agent").put(text).await;
                assert!([200, 201].contains(&put.status), "{}", put.text());
                assert_eq!(put.json()["unchanged"], put.status == 200);
                answers.push((put.header("etag").trim_matches('"').to_owned(), text, put.status));
            }
            answers
        }
    });
    let answers: Vec<_> = join_all(writers).await.into_iter().flatten().collect();

    let rows: Vec<(String, String)> = sqlx::query_as("SELECT context_id, context FROM memory_contexts")
        .fetch_all(one.rows())
        .await
        .unwrap();
    let versions: HashMap<String, String> = rows.into_iter().collect();
    for (etag, text, status) in &answers {
        assert_eq!(
            versions.get(etag).map(String::as_str),
            Some(*text),
            "{status} {etag}"
        );
    }
    let unchanged = answers.iter().filter(|(_, _, status)| *status == 200).count();
    assert!(unchanged > 20 && unchanged < answers.len() - 20, "{unchanged}");
}
