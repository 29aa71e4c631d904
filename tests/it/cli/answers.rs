//! Error responses, and no response.

use super::program::User;
use super::stub::{Stub, fixed};
use crate::harness::{has, holds, lacks};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

#[tokio::test]
async fn an_unreachable_address_is_an_error_that_says_how_to_start_a_service() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let output = User::of(&url).ends(3, "get").await;
    holds(&output.err, &[&url, "working-memory serve"]);
    assert_eq!(output.err.lines().count(), 1, "{output:?}");
}

#[tokio::test]
async fn every_kind_of_error_has_its_exit_code() {
    for (status, code) in [
        (302, 1),
        (400, 5),
        (401, 6),
        (403, 6),
        (404, 4),
        (409, 5),
        (410, 5),
        (412, 5),
        (422, 5),
        (429, 7),
        (503, 7),
        (500, 1),
        (502, 1),
    ] {
        let detail = "so\u{1b}[2J it is\u{9b}2J\u{202e}";
        let body = json!({"type": "urn:x", "title": "T", "status": status, "detail": detail});
        let stub = Stub::by(move |_| (status, "application/problem+json", body.to_string())).await;
        let output = User::of(&stub.url).run(&["get"]).await.is(code);
        let is_told = output.err.starts_with("working-memory: so\\u001b[2J it is");
        assert!(is_told && output.out.is_empty(), "{output:?}");
        // JSON escapes less by itself than a terminal obeys.
        let output = User::of(&stub.url).run(&["get", "--json"]).await.is(code);
        lacks(&output.err, &["\u{1b}", "\u{9b}", "\u{202e}"]);
        let told = json!({"error^": "so", "exit_code": code, "/problem/detail": detail});
        has(&output.error(), told);
    }
}

#[tokio::test]
async fn a_server_that_is_not_the_service_is_an_error() {
    let stub = Stub::by(|_| (404, "text/html", "<h1>Not here</h1>".to_owned())).await;
    User::of(&stub.url)
        .session("1 log ⇒ not a working-memory service")
        .await;
    let stub = Stub::by(|_| (200, "text/html", "<h1>Hello</h1>".to_owned())).await;
    let table = "
        1 log ⇒ cannot be read
        1 get → !Hello ⇒ cannot be read
        1 get --json → !Hello ⇒ cannot be read
        1 blame → !Hello ⇒ cannot be read
        1 export --format markdown --output own.md ⇒ cannot be read
        2 operations < {\"operations\": [] ⇒ damaged JSON: EOF";
    let user = User::of(&stub.url);
    user.session(table).await;
    assert!(!user.path().join("own.md").exists());
}

#[tokio::test]
async fn a_write_whose_connection_is_lost_is_retried_with_the_same_key() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = AtomicUsize::new(0);
    let user = User::of(&url);
    let answers = async {
        let mut keys = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 4096];
            let read = stream.read(&mut request).await.unwrap();
            let request = String::from_utf8(request[..read].to_vec()).unwrap();
            let key = request.lines().find(|line| line.starts_with("idempotency-key: "));
            keys.push(key.unwrap().to_owned());
            if served.fetch_add(1, Ordering::Relaxed) == 0 {
                // Received, perhaps executed, and never answered.
                continue;
            }
            let body = r#"{"version":1,"context_id":"c","unchanged":false,"warnings":[]}"#;
            let head = format!(
                "HTTP/1.1 201 Created\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all((head + body).as_bytes()).await.unwrap();
            return keys;
        }
    };
    let (put, keys) = tokio::join!(user.run_with(&["put"], "text"), answers);
    put.is(0);
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
}

#[tokio::test]
async fn a_response_that_is_far_too_large_is_not_waited_for() {
    let (url, endless) = fixed(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n").await;
    let user = User::of(&url);
    let (get, _stream) = tokio::join!(user.run(&["get", "--timeout", "20"]), endless);
    lacks(get.is(1).err, &["--timeout"]);
}

#[tokio::test]
async fn health_and_the_commands_of_the_database_have_the_documented_exit_codes() {
    let user = User::nobody();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    user.session(&format!(
        "
        7 health --url {url} --timeout 1 ⇒ no answer within 1 s
        7 get --url {url} --vault v --memory m --timeout 1 ⇒ --timeout"
    ))
    .await;
    drop(listener);
    let dead = user.ends(3, &format!("health --url {url} --json")).await;
    assert_eq!(dead.json()["healthy"], false);
    let named = User::nobody().with("WORKING_MEMORY_URL", &format!("{url}/below"));
    // The file of a service is nothing to a command that asks another one.
    let named = named.with("WORKING_MEMORY_CONFIG", "no-such-file");
    let named = named.ends(3, "health --json").await.json();
    assert_eq!(named["url"], format!("{url}/below/readyz"));
    let (unready, ready) = (Stub::json(503, json!({})).await, Stub::json(200, json!({})).await);
    user.session(&format!(
        r#"
        1 health --url {}
        health --url {} --json → {{"answer": "HTTP 200 OK"}}"#,
        unready.url, ready.url
    ))
    .await;
    user.session(
        "
        2 put no-such-file --vault v --memory m ⇒ ^working-memory: 
        2 import no-such-file ⇒ ^working-memory: 
        2 serve --config no-such-file ⇒ ^working-memory: 
        2 export --vault v --config no-such-file ⇒ ^working-memory: 
        2 get --no-such-option ⇒ ^working-memory: 
        2 no-such-command ⇒ ^working-memory: 
        2 serve --data-dir '' ⇒ ^working-memory:  | --data-dir
        2 serve --port many ⇒ ^working-memory: ",
    )
    .await;
    let misused = user.ends(2, "get --no-such-option --json").await;
    assert_eq!(misused.error()["exit_code"], 2);
    let user = user.with("WORKING_MEMORY__LIMITS__CONTEXT_BYTES", "many");
    user.session(
        "
        2 serve ⇒ limits.context_bytes
        2 keys list ⇒ limits.context_bytes
        2 migrate ⇒ limits.context_bytes",
    )
    .await;
}
