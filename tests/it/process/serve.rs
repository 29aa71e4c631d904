//! A service from its first start to its graceful shutdown.

use super::program::{Program, command, folder};
use crate::harness::{Answer, eventually, has, holds};
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn a_new_service_is_ready_in_seconds_and_keeps_its_data_after_a_restart() {
    let folder = folder();
    let mut program = Program::start(folder.path()).await;
    writeln!(std::io::stderr(), "ready after {:?}", program.ready_after).unwrap();
    assert!(program.ready_after < Duration::from_secs(30));

    program.put("agent", "# Notes\nmine\n").await.is(201);
    let update = program
        .request(Method::POST, "agent", "update")
        .json(&json!({"task": "Wrote the parser. Next: wire it to the route."}));
    let answer = Answer::to(update).await.is(200).json();
    has(&answer, json!({"status": "applied", "version": 2}));
    let text = program
        .get("/v1/vaults/v/memories/agent/context")
        .await
        .is(200)
        .text()
        .to_owned();
    assert!(text.starts_with("# Notes\nmine\n"), "{text}");

    // There is no certificate to reload.
    program.signal(Signal::HUP);
    eventually("the signal is logged", async || {
        program.log().await.contains("nothing is reloaded")
    })
    .await;
    program.signal(Signal::TERM);
    assert!(program.ended().await.success());
    let again = Program::start(folder.path()).await;
    assert!(again.ready_after < Duration::from_secs(15));
    assert_eq!(
        again
            .get("/v1/vaults/v/memories/agent/context")
            .await
            .is(200)
            .text(),
        text
    );
}

#[tokio::test]
async fn a_shutdown_finishes_the_request_in_progress() {
    let folder = folder();
    let mut program = Program::start(folder.path()).await;
    let address = program.address.trim_start_matches("http://").to_owned();
    let mut running = TcpStream::connect(&address).await.unwrap();
    let head = "PUT /v1/vaults/v/memories/agent/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n\
                Content-Length: 11\r\nExpect: 100-continue\r\n\r\n";
    running.write_all(head.as_bytes()).await.unwrap();
    // The service has requested the body, so the request is in progress.
    let mut buffer = [0; 12];
    running.read_exact(&mut buffer).await.unwrap();
    assert_eq!(&buffer, b"HTTP/1.1 100");

    program.signal(Signal::TERM);
    eventually("nobody new is let in", async || {
        TcpStream::connect(&address).await.is_err()
    })
    .await;
    running.write_all(b"to the last").await.unwrap();
    let mut answer = String::new();
    running.read_to_string(&mut answer).await.unwrap();

    assert!(answer.contains("HTTP/1.1 201"), "{answer}");
    assert!(program.ended().await.success());
    let again = Program::start(folder.path()).await;
    let stored = again.get("/v1/vaults/v/memories/agent/context").await.is(200);
    assert_eq!(stored.text(), "to the last");
}

#[tokio::test]
async fn a_second_service_on_one_folder_is_rejected_and_the_first_continues() {
    let folder = folder();
    let program = Program::start(folder.path()).await;

    let second = command(folder.path(), &[])
        .stderr(Stdio::piped())
        .output()
        .unwrap();

    assert_eq!(second.status.code(), Some(1));
    let error_output = String::from_utf8_lossy(&second.stderr);
    holds(&error_output, &["is in use by another working-memory service"]);
    program.put("agent", "still here").await.is(201);
}

#[tokio::test]
async fn items_are_logged_by_id_and_not_by_category_or_content() {
    let folder = folder();
    let program = Program::start(folder.path()).await;
    let send = async |method: Method, below: &str, body: &str| {
        let request = program.request(method, "m", below);
        Answer::to(
            request
                .header("Content-Type", "application/json")
                .body(body.to_owned()),
        )
        .await
    };
    let item = r#"{"category": "User notes", "content": "sekret"}"#;
    let added = send(Method::POST, "items", item).await.is(201).json();
    let id = added["item_id"].as_str().unwrap();
    send(
        Method::POST,
        "items",
        r#"{"category": "free", "content": "sekret"}"#,
    )
    .await
    .invalid("category");
    send(Method::DELETE, &format!("items/{id}"), "").await.is(204);
    send(Method::DELETE, "items?category=style", "").await.is(200);
    let log = program.log().await;
    let details: Vec<String> = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|line| Some(line["detail"].as_str()?.to_owned()))
        .collect();
    assert_eq!(
        details,
        [
            format!("items added: {id}"),
            "items refused".to_owned(),
            format!("items removed: {id}"),
            "items removed: 0".to_owned(),
        ]
    );
    assert!(!log.contains("sekret") && !log.contains("User notes"), "{log}");
}
