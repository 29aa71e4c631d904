//! A service from its first start to its graceful shutdown.

use super::keys::fails;
use super::program::{Program, command, folder, lines};
use crate::harness::{Answer, eventually, has, lacks};
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::Write;
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
    let text = program.read("agent", "context").await.is(200).text().to_owned();
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
    assert_eq!(again.read("agent", "context").await.is(200).text(), text);
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
    let stored = again.read("agent", "context").await.is(200);
    assert_eq!(stored.text(), "to the last");
}

#[tokio::test]
async fn a_second_service_on_one_folder_is_rejected_and_the_first_continues() {
    let folder = folder();
    let program = Program::start(folder.path()).await;

    let second = command(folder.path(), &[]).output().unwrap();

    fails(&second, &["is in use by another working-memory service"]);
    program.put("agent", "still here").await.is(201);
}

#[tokio::test]
async fn items_are_logged_by_id_and_not_by_category_or_content() {
    let folder = folder();
    let program = Program::start(folder.path()).await;
    let send = async |method: Method, below: &str, body: Value| {
        Answer::to(program.request(method, "m", below).json(&body)).await
    };
    let item = |category: &str| json!({"category": category, "content": "sekret"});
    let added = send(Method::POST, "items", item("User notes")).await;
    let id = added.is(201).json()["item_id"].as_str().unwrap().to_owned();
    let refused = send(Method::POST, "items", item("free")).await;
    refused.invalid("category");
    send(Method::DELETE, &format!("items/{id}"), json!({}))
        .await
        .is(204);
    send(Method::DELETE, "items?category=style", json!({}))
        .await
        .is(200);
    let log = program.log().await;
    let lines = lines(&log);
    let details: Vec<&str> = lines.iter().filter_map(|line| line["detail"].as_str()).collect();
    let (added, removed) = (format!("items added: {id}"), format!("items removed: {id}"));
    assert_eq!(details, [&added, "items refused", &removed, "items removed: 0"]);
    lacks(&log, &["sekret", "User notes"]);
}
