//! `/v1/vaults/{vault_id}/memory-tool/files`: the same files for programs, with versions and preconditions.

use super::Files;
use crate::harness::{Answer, Service, each, has, holds};
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use url::form_urlencoded::byte_serialize;

const FILES: &str = "/v1/vaults/acme/memory-tool/files?root=agent";

fn at(service: &Service, method: Method, path: &str) -> RequestBuilder {
    let path: String = byte_serialize(path.as_bytes()).collect();
    service
        .request(method, &format!("{FILES}&path={path}"))
        .header("Content-Type", "text/plain")
}

async fn put(service: &Service, path: &str, text: &str, header: (&str, &str)) -> Answer {
    let request = at(service, Method::PUT, path).header(header.0, header.1);
    Answer::to(request.body(text.to_owned())).await
}

const NEW: (&str, &str) = ("If-None-Match", "*");

#[tokio::test]
async fn a_file_is_put_changed_listed_and_removed_with_preconditions() {
    let (service, files) = Files::start("agent").await;
    let made = put(&service, "/memories/n/a.md", "one\n", NEW).await.is(201);
    let first = made.header("ETag").to_owned();
    let body = made.json();
    let made = json!({"path": "/memories/n/a.md", "version": 1, "bytes": 4, "unchanged": false});
    has(&body, made);
    let id = body["memory_id"].as_str().unwrap().to_owned();
    assert_eq!(first, format!("\"{}\"", body["context_id"].as_str().unwrap()));
    assert!(files.view("/memories/n/a.md").await.contains("one"));
    put(&service, "/memories/n/a.md", "two", NEW).await.stale();

    let change =
        async |text: &str, tag: &str| put(&service, "/memories/n/a.md", text, ("If-Match", tag)).await;
    let changed = change("", &first).await.is(201);
    let second = changed.header("ETag").to_owned();
    assert_eq!(changed.json()["version"], 2);
    assert_eq!(service.memory(&id).text().await, "");
    change("x", &first).await.stale();
    let same = change("", &second).await.is(200).json();
    has(&same, json!({"unchanged": true, "version": 2}));

    files.create("/memories/b.md", "b").await;
    files.create("/memories/n.md", "c").await;
    let list = service.read(FILES).await;
    let listed = each(&list["items"], "path");
    assert_eq!(listed, ["/memories/b.md", "/memories/n.md", "/memories/n/a.md"]);
    assert_eq!(list["items"][2]["memory_id"], id.as_str());
    let page = service.read(&format!("{FILES}&limit=2")).await;
    let rest = format!("{FILES}&limit=2&cursor={}", page["next_cursor"].as_str().unwrap());
    let rest = service.read(&rest).await;
    assert_eq!(rest["items"][0]["path"], "/memories/n/a.md");
    let other = service.read("/v1/vaults/acme/memory-tool/files?root=other").await;
    assert_eq!(other["items"], json!([]));

    let delete =
        |tag: &str| at(&service, Method::DELETE, "/memories/n/a.md").header("If-Match", tag.to_owned());
    Answer::to(delete(&first)).await.stale();
    Answer::to(delete(&second)).await.is(204);
    let gone = Answer::to(delete(&second)).await;
    gone.problem(404, "not-found", Some("path"));
    // Its memory stays, and a new file at its path is another memory.
    service.memory(&id).get("context").await.is(200);
    let again = put(&service, "/memories/n/a.md", "new", NEW).await.is(201).json();
    has(&again, json!({"version": 1, "memory_id!": id}));
}

#[tokio::test]
async fn an_invalid_file_is_rejected_and_nothing_is_created() {
    let service = Service::start().await;
    put(&service, "/memories/n/a.md", "one", NEW).await.is(201);
    let large = "x".repeat(102_401);
    let at = format!("{FILES}&path=");
    let mut table = format!(
        r#"
        PUT {at}/memories/n | If-None-Match: * < x → 409 conflict path
        PUT {at}/memories/n/a.md/b.md | If-None-Match: * < x → 409 conflict path
        DELETE {at}/memories/n → 404 not-found path
        PUT {at}/memories/a.md < x\0 → 422 invalid body
        PUT {at}/memories/a.md | If-Match: "none" < x → 412 precondition-failed
        PUT {at}/memories/a.md < {large} → 413 too-large
        GET /v1/vaults/acme/memory-tool/files → 422 invalid root
        PUT {at}/memories/j.md | Content-Type: text/html < x → 415 unsupported-media-type
        PUT {at}/memories/j.md < {{}} → 422 invalid body
        PUT {at}/memories/j.md | Content-Type: application/json < {{ → 400 malformed body
"#
    );
    for bad in "/memories|/etc/passwd|/memories/../x||/memories/a//b|/memories/a%252fb".split('|') {
        table += &format!("PUT {at}{bad} < x → 422 invalid path\nDELETE {at}{bad} → 422 invalid path\n");
    }
    service.requests(&table).await;
    assert_eq!(service.count("memory_contexts").await, 1);
    let json = service.request(Method::PUT, &format!("{FILES}&path=/memories/j.md"));
    let json = json.header("Content-Type", "application/json").body(r#""a\nb""#);
    Answer::to(json).await.is(201);
    let view = Files::of(&service, "agent").view("/memories/j.md").await;
    holds(&view, &["b"]);
}
