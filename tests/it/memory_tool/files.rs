//! `/v1/vaults/{vault_id}/memory-tool/files`: the same files for programs, with versions and preconditions.

use super::Files;
use crate::harness::{Answer, Service, each, has};
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
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    let made = put(&service, "/memories/n/a.md", "one\n", NEW).await.is(201);
    let first = made.header("ETag").to_owned();
    let body = made.json();
    has(
        &body,
        json!({"path": "/memories/n/a.md", "version": 1, "bytes": 4, "unchanged": false}),
    );
    let id = body["memory_id"].as_str().unwrap().to_owned();
    assert_eq!(first, format!("\"{}\"", body["context_id"].as_str().unwrap()));
    assert!(files.view("/memories/n/a.md").await.contains("one"));
    put(&service, "/memories/n/a.md", "two", NEW).await.stale();

    let changed = put(&service, "/memories/n/a.md", "", ("If-Match", &first))
        .await
        .is(201);
    let second = changed.header("ETag").to_owned();
    assert_eq!(
        (
            service.memory(&id).text().await.as_str(),
            &changed.json()["version"]
        ),
        ("", &json!(2))
    );
    put(&service, "/memories/n/a.md", "x", ("If-Match", &first))
        .await
        .stale();
    let same = put(&service, "/memories/n/a.md", "", ("If-Match", &second))
        .await
        .is(200)
        .json();
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
    Answer::to(delete(&second))
        .await
        .problem(404, "not-found", Some("path"));
    // Its memory stays, and a new file at its path is another memory.
    service.memory(&id).get("context").await.is(200);
    let again = put(&service, "/memories/n/a.md", "new", NEW).await.is(201).json();
    assert!(
        again["memory_id"] != id.as_str() && again["version"] == 1,
        "{again}"
    );
}

#[tokio::test]
async fn an_invalid_file_is_rejected_and_nothing_is_created() {
    let service = Service::start().await;
    put(&service, "/memories/n/a.md", "one", NEW).await.is(201);
    put(&service, "/memories/n", "x", NEW)
        .await
        .problem(409, "conflict", Some("path"));
    put(&service, "/memories/n/a.md/b.md", "x", NEW)
        .await
        .problem(409, "conflict", Some("path"));
    Answer::to(at(&service, Method::DELETE, "/memories/n"))
        .await
        .problem(404, "not-found", Some("path"));
    for bad in [
        "/memories",
        "/etc/passwd",
        "/memories/../x",
        "",
        "/memories/a//b",
        "/memories/a%2fb",
    ] {
        put(&service, bad, "x", NEW).await.invalid("path");
        Answer::to(at(&service, Method::DELETE, bad))
            .await
            .invalid("path");
    }
    put(&service, "/memories/a.md", "x\0", NEW).await.invalid("body");
    put(&service, "/memories/a.md", "x", ("If-Match", "\"none\""))
        .await
        .stale();
    let large = "x".repeat(102_401);
    put(&service, "/memories/a.md", &large, NEW)
        .await
        .problem(413, "too-large", None);
    let no_root = service.get("/v1/vaults/acme/memory-tool/files").await;
    no_root.invalid("root");
    let typed = async |media_type: &str, body: &'static str| {
        let request = service.request(Method::PUT, &format!("{FILES}&path=/memories/j.md"));
        Answer::to(request.header("Content-Type", media_type).body(body)).await
    };
    typed("text/html", "x")
        .await
        .problem(415, "unsupported-media-type", None);
    typed("application/json", "{}").await.invalid("body");
    typed("application/json", "{").await.malformed("body");
    assert_eq!(service.count("memory_contexts").await, 1);
    typed("application/json", r#""a\nb""#).await.is(201);
    assert!(
        Files::of(&service, "agent")
            .view("/memories/j.md")
            .await
            .contains("b")
    );
}
