//! Requests with slow bodies do not block others.

use crate::harness::{Answer, Service};
use crate::pipeline::dictated::{Gate, dictate, learning};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use working_memory::config::Config;
use working_memory::domain::operation::Role;

const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";

fn one_at_once(config: &mut Config) {
    config.http.max_requests = 1;
}

/// A put whose body is incomplete.
async fn half_a_put(service: &Service, memory: &str) -> TcpStream {
    let mut stream = TcpStream::connect(service.socket_address()).await.unwrap();
    let head = format!(
        "PUT /v1/vaults/acme/memories/{memory}/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n\
         Content-Length: 11\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut interim = [0; CONTINUE.len()];
    stream.read_exact(&mut interim).await.unwrap();
    assert_eq!(interim, CONTINUE.as_bytes());
    stream.write_all(b"to the").await.unwrap();
    stream
}

async fn answer_to_the_rest(mut stream: TcpStream) -> String {
    stream.write_all(b" last").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_request_with_a_slow_body_holds_no_concurrency_permit() {
    let service = Service::configured(one_at_once).await;
    let mut slow = Vec::new();
    for memory in ["one", "two", "three"] {
        slow.push(half_a_put(&service, memory).await);
    }

    service.get("/v1/vaults").await.is(200);
    service.memory("agent").put("quick").await.is(201);

    for stream in slow {
        let answer = answer_to_the_rest(stream).await;
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }
    assert_eq!(service.count("memory_contexts").await, 4);
}

#[tokio::test]
async fn a_request_whose_body_arrives_while_an_update_waits_for_its_model_is_answered() {
    let gate = Gate::new();
    let service = Service::start_with(one_at_once, Some(gate.before(Role::Learnings))).await;
    let slow = half_a_put(&service, "slow").await;
    let task = dictate(json!({ "learnings": learning("insight") }));
    let running = service.memory("agent").updating(&task);
    let running = tokio::spawn(Answer::to(running));
    gate.asked().await;

    let answer = answer_to_the_rest(slow).await;

    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    gate.open();
    running.await.unwrap().is(200);
    assert_eq!(service.count("memory_contexts").await, 2);
}
