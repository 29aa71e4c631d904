//! `PUT M/context`

use crate::harness::{Answer, Memory, Service, has, holds};
use futures::future::join_all;
use reqwest::{Body, Method, RequestBuilder};
use serde_json::{Value, json};
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
    assert_eq!(body["vault_id"], "acme");
    assert_eq!(body["memory_id"], "agent");
    assert_eq!(body["version"], 1);
    assert_eq!(body["unchanged"], false);
    assert_eq!(body["actor_id"], "ann@example:1");
    assert_eq!(body["creation_time"], "2026-11-21T02:00:00Z");
    assert_eq!(body["source"], "put");
    assert_eq!(body["bytes"], text.len());
    assert_eq!(body["estimated_tokens"], text.len().div_ceil(4));
    assert!(body["percent_of_cap"].is_number());
    assert!(body.get("context").is_none());
    let context_id = body["context_id"].as_str().unwrap();
    assert_eq!(put.header("etag"), format!("\"{context_id}\""));
    assert_eq!(put.header("x-context-version"), "1");
    let location = put.header("location");
    assert_eq!(location, memory.path("contexts/1"));

    let (stored, actor): (String, String) = sqlx::query_as(
        "SELECT context, actor_id FROM memory_contexts WHERE vault_id = 'acme' AND context_id = $1",
    )
    .bind(context_id)
    .fetch_one(service.rows())
    .await
    .unwrap();
    assert_eq!(stored, text);
    assert_eq!(actor, "ann@example:1");
    assert_eq!(service.get(location).await.is(200).text(), text);
}

#[tokio::test]
async fn putting_the_same_text_again_creates_no_version() {
    let (service, memory) = Service::start().await.agent();
    let first = memory.put("# A\n").await.is(201);

    let again = memory.put("# A\n").await.is(200);

    assert_eq!(again.json()["unchanged"], true);
    assert_eq!(again.json()["version"], 1);
    assert_eq!(again.header("etag"), first.header("etag"));
    assert!(!again.headers.contains_key("location"));
    assert_eq!(service.count("memory_contexts").await, 1);
    assert_eq!(memory.write("# A").await["version"], 2);
}

#[tokio::test]
async fn a_json_string_is_stored_as_its_text_and_other_json_as_it_was_sent() {
    let (service, memory) = Service::start().await.agent();
    for (body, stored) in [
        (r##""# A\n\u00e4""##, "# A\n\u{e4}"),
        ("{ \"b\": 1.0,\n \"a\" : [] }", "{ \"b\": 1.0,\n \"a\" : [] }"),
        ("[1 ,2]", "[1 ,2]"),
    ] {
        let put = as_json(&memory, body);
        Answer::to(put).await.is(201);
        assert_eq!(memory.text().await, stored);
    }
    for (body, status) in [
        ("1", 422),
        ("null", 422),
        ("\" \"", 422),
        ("\"a\\u0000\"", 422),
        ("{", 400),
        ("", 400),
    ] {
        let put = as_json(&memory, body);
        assert_eq!(Answer::to(put).await.status, status, "{body}");
    }
    assert_eq!(service.count("memory_contexts").await, 3);
}

#[tokio::test]
async fn preconditions_prevent_overwriting_unseen_changes() {
    let (service, memory) = Service::start().await.agent();
    let none = r#"
        PUT context | If-Match: * < x → 412 precondition-failed
        PUT context | If-Match: "none" < x → 412 precondition-failed"#;
    memory.requests(none).await;
    assert_eq!(service.count("memories").await, 0);
    let first = memory
        .requests("PUT context | If-None-Match: * < one → 201")
        .await;
    let etag = first.header("etag");
    let current = etag.trim_matches('"');
    memory
        .requests(&format!(
            r#"
            PUT context | If-None-Match: * < x → 412 precondition-failed {{"current": "{current}", "version": 1}}
            PUT context | If-Match: W/{etag} < x → 412 precondition-failed
            PUT context | If-Match: "other", {etag} < two → 201
            PUT context | If-Match: {etag} < x → 412 precondition-failed"#
        ))
        .await;
    let json_tag = memory.get_json("context").await.is(200).header("etag").to_owned();
    memory
        .requests(&format!(
            "PUT context | If-Match: {json_tag} < three → 201
             PUT context | If-Match: unquoted < x → 400 malformed If-Match"
        ))
        .await;

    assert_eq!(memory.text().await, "three");
    assert_eq!(service.count("memory_contexts").await, 3);
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

#[tokio::test]
async fn records_missing_from_a_put_are_archived_without_a_reason() {
    let (_, memory) = Service::start().await.agent();
    memory
        .write("# Key Learnings\n- KL-1 because a: first\n- KL-7 because b: second\n")
        .await;

    memory.write("# Key Learnings\n- KL-7 because b: second\n").await;

    let record: Value = memory.read("records/KL-1").await;
    assert_eq!(record["status"], "archived");
    assert_eq!(record["ended_version"], 2);
    assert_eq!(record["archive_reason"], "left out by version 2");
}

const WITH_RECORDS: &str = "# Facts\none\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n";

#[tokio::test]
async fn a_put_that_drops_much_of_the_document_returns_a_warning() {
    let (_, memory) = Service::start().await.agent();
    let first = memory.write(WITH_RECORDS).await;
    assert_eq!(first["warnings"], json!([]));
    let more = memory.write(format!("{WITH_RECORDS}- more\n")).await;
    assert_eq!(more["warnings"], json!([]));

    let less = memory.write("# Key Learnings\n- KL-2 because c: d\n").await;

    let warnings = less["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "{less}");
    has(&warnings[0], json!({"kind": "bytes_dropped", "records": []}));
    holds(warnings[0]["detail"].as_str().unwrap(), &["36 bytes"]);
    has(
        &warnings[1],
        json!({"kind": "records_dropped", "records": ["KL-1"]}),
    );
    let again = memory
        .put("# Key Learnings\n- KL-2 because c: d\n")
        .await
        .is(200)
        .json();
    assert_eq!(again["warnings"], json!([]));
}

#[tokio::test]
async fn a_put_that_drops_much_of_the_document_can_be_rejected() {
    let reject = |config: &mut Config| config.guard.collapse = Guard::Reject;
    let (_, memory) = Service::configured(reject).await.agent();
    let etag = memory.put(WITH_RECORDS).await.is(201).header("etag").to_owned();

    let problem = memory.put("x").await.problem(409, "collapse", Some("confirm"));
    assert_eq!(problem["warnings"][1]["records"], json!(["KL-1", "KL-2"]));
    assert_eq!(memory.text().await, WITH_RECORDS);
    let stale = memory.putting("x").header("If-Match", "\"stale\"");
    Answer::to(stale).await.stale();
    memory.write(WITH_RECORDS.replace("one", "two")).await;

    let confirmed = |value: &str| {
        memory
            .request(Method::PUT, &format!("context?confirm={value}"))
            .header("Content-Type", "text/plain")
            .body("x")
    };
    Answer::to(confirmed("yes")).await.invalid("confirm");
    Answer::to(confirmed("collapse").header("If-Match", etag))
        .await
        .stale();
    let made = Answer::to(confirmed("collapse")).await.is(201).json();
    assert_eq!(made["warnings"].as_array().unwrap().len(), 2);
    assert_eq!(memory.text().await, "x");
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
