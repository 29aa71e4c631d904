//! `PUT M/context`

use crate::harness::{Answer, Service};
use futures::future::join_all;
use reqwest::{Body, Method};
use std::collections::HashMap;
use working_memory::config::Config;
use working_memory::config::limits::Guard;

#[tokio::test]
async fn a_text_is_stored_byte_for_byte_as_a_version_unless_a_precondition_fails_or_it_is_the_same() {
    let table = r##"
        § a first put creates version one
        PUT context | X-Actor-Id: ann@example:1 < # Notes\r\n\ttab, ä, trailing blanks  \n\n → 201 | etag: "$id" | x-context-version: 1 | location: /v1/vaults/acme/memories/$memory/contexts/1 | {"vault_id": "acme", "memory_id": "$memory", "version": 1, "unchanged": false, "actor_id": "ann@example:1", "creation_time": "2026-11-21T02:00:00Z", "source": "put", "bytes": 38, "estimated_tokens": 10, "percent_of_cap!": "null", "context": null} ⇒ id=/context_id
        GET contexts/1 → 200 =# Notes\r\n\ttab, ä, trailing blanks  \n\n
        § putting the same text again creates no version
        PUT context < # A\n → 201 ⇒ tag=etag
        PUT context < # A\n → 200 | etag: $tag | location: - | {"unchanged": true, "version": 1}
        ROWS memory_contexts 1
        PUT context < # A → 201 {"version": 2}
        § a JSON string is stored as its text, and other JSON as it was sent
        PUT context | Content-Type: application/json <  "# A\u000a\u00e4"  → 201
        GET context → 200 =# A\nä
        PUT context | Content-Type: application/json < { "b": 1.0,\n "a" : [], "b":2 } → 201
        GET context → 200 ={ "b": 1.0,\n "a" : [], "b":2 }
        PUT context | Content-Type: application/json < [1 ,2]\n → 201
        GET context → 200 =[1 ,2]\n
        PUT context | Content-Type: application/json < ([×50000)(]×50000) → 201
        GET context → 200 =([×50000)(]×50000)
        PUT context | Content-Type: application/json < 1 → 422 invalid
        PUT context | Content-Type: application/json < true → 422 invalid
        PUT context | Content-Type: application/json <  null  → 422 invalid
        PUT context | Content-Type: application/json < " " → 422 invalid
        PUT context | Content-Type: application/json < "a\u0000" → 422 invalid
        PUT context | Content-Type: application/json → 400 malformed
        PUT context | Content-Type: application/json < { → 400 malformed
        PUT context | Content-Type: application/json < "a → 400 malformed
        PUT context | Content-Type: application/json < "a" x → 400 malformed
        PUT context | Content-Type: application/json < [1,] → 400 malformed
        PUT context | Content-Type: application/json < nul → 400 malformed
        PUT context | Content-Type: application/json < MARK{} → 400 malformed
        PUT context | Content-Type: application/json < "\ud800" → 400 malformed
        ROWS memory_contexts 4
        § preconditions prevent overwriting unseen changes
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
        ROWS memory_contexts 3
        § a put that drops much of the document returns a warning
        PUT context < # Facts\none\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n → 201 {"warnings": []}
        PUT context < # Facts\none\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n- more\n → 201 {"warnings": []}
        PUT context < # Key Learnings\n- KL-2 because c: d\n → 201 {"/warnings/*/kind": ["bytes_dropped", "records_dropped"], "/warnings/*/records": [[], ["KL-1"]], "/warnings/0/detail~": "36 bytes"}
        PUT context < # Key Learnings\n- KL-2 because c: d\n → 200 {"warnings": []}
        GET records/KL-1 → 200 {"status": "archived", "ended_version": 3, "archive_reason": "left out by version 3"}"##;
    let service = Service::start().await;
    service.requests(&table.replace("MARK", "\u{feff}")).await;
}

#[tokio::test]
async fn the_limit_is_in_bytes_and_the_error_names_it() {
    let service = Service::configured(|config| config.limits.context_bytes = 1_000).await;
    let table = r#"
        § limited
        PUT context < (ä×500) → 201
        PUT context < (x×1001) → 413 too-large body {"limit": 1000, "actual": 1001, "detail~": "limits.context_bytes"}
        PUT context | Content-Type: application/json < "(\u0001×1001)" → 413 too-large context"#;
    service.requests(table).await;
    let stream = futures::stream::iter((0..4).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 300])));
    let chunked = service
        .memory("agent")
        .request(Method::PUT, "context")
        .header("Content-Type", "text/plain")
        .body(Body::wrap_stream(stream));
    Answer::to(chunked).await.problem(413, "too-large", Some("body"));
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_put_that_drops_much_of_the_document_can_be_rejected_or_not_be_checked() {
    let rejecting = r##"
        § agent
        PUT context < # Facts\none\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n → 201 ⇒ tag=etag
        PUT context < x → 409 collapse confirm {"/warnings/1/records": ["KL-1", "KL-2"]}
        GET context → 200 =# Facts\none\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n
        PUT context | If-Match: "stale" < x → 412 precondition-failed
        PUT context < # Facts\ntwo\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n → 201
        PUT context?confirm=yes < x → 422 invalid confirm
        PUT context?confirm=collapse | If-Match: $tag < x → 412 precondition-failed
        PUT context?confirm=collapse < x → 201 {"warnings#": 2}
        GET context → 200 =x"##;
    let unchecked = r##"
        § agent
        PUT context < # Facts\none\n\n# Key Learnings\n- KL-1 because a: b\n- KL-2 because c: d\n → 201
        PUT context < x → 201 {"warnings": []}"##;
    for (guard, table) in [(Guard::Reject, rejecting), (Guard::Off, unchecked)] {
        let service = Service::configured(|config: &mut Config| config.guard.collapse = guard).await;
        service.requests(table).await;
    }
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
        assert_eq!(versions[etag], *text, "{status} {etag}");
    }
    let unchanged = answers.iter().filter(|(_, _, status)| *status == 200).count();
    assert!(unchanged > 20 && unchanged < answers.len() - 20, "{unchanged}");
}
