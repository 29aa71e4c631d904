//! `POST M/update` with `Accept: text/event-stream`.

use super::watch::Watch;
use crate::harness::{Answer, Memory, has};
use crate::pipeline::dictated::{Dictated, Gate, dictate, learning};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use working_memory::domain::operation::Role;

fn streaming(memory: &Memory, body: &Value) -> RequestBuilder {
    let request = memory.request(Method::POST, "update").json(body);
    request.header("Accept", "text/event-stream")
}

#[tokio::test]
async fn the_steps_are_streamed_one_by_one_and_the_response_last() {
    let (_, memory) = Dictated::new().service().await.agent();
    let faulty = "KEY_LEARNINGS:\n  ADD:\n    - no reason\n";
    let body = dictate(json!({"learnings": [faulty, learning("one")]}));

    let received = Watch::of(streaming(&memory, &body)).await.rest().await;

    let names: Vec<&str> = received.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names[..2], ["started", "captured"]);
    assert_eq!(names.iter().filter(|name| **name == "asked").count(), 3);
    assert_eq!(names.iter().filter(|name| **name == "asked_again").count(), 1);
    assert_eq!(names.iter().filter(|name| **name == "answered").count(), 4);
    assert_eq!(names[names.len() - 3..], ["merged", "saved", "done"]);
    let again = received.iter().find(|event| event.name == "asked_again").unwrap();
    has(&again.data, json!({"role": "learnings", "round": 1}));
    let answer = &received.last().unwrap().data;
    has(answer, json!({"status": "applied", "version": 1}));
    assert_eq!(received[0].data["update_id"], answer["update_id"]);
}

#[tokio::test]
async fn each_step_is_streamed_once_whatever_comes_of_the_update() {
    let (_, memory) = Dictated::new().service().await.agent();
    let mut body = dictate(json!({"learnings": learning("one")}));
    for (dry_run, mode) in [(true, "apply"), (false, "propose"), (false, "apply")] {
        body["dry_run"] = json!(dry_run);
        body["mode"] = json!(mode);
        for key in [None, Some(format!("k-{mode}-{dry_run}"))] {
            let mut request = streaming(&memory, &body);
            if let Some(key) = &key {
                request = request.header("Idempotency-Key", key);
            }
            let received = Watch::of(request).await.rest().await;
            let merged = received.iter().filter(|event| event.name == "merged").count();
            // With a key a stream has its last event only.
            assert_eq!(merged, usize::from(key.is_none()), "{body} {key:?}");
            assert_eq!(received.last().unwrap().name, "done");
        }
    }
}

#[tokio::test]
async fn a_failure_is_a_problem_before_the_stream_or_its_last_event() {
    let (_, memory) = Dictated::new().service().await.agent();
    let fails = dictate(json!({"fails": "learnings"}));

    let received = Watch::of(streaming(&memory, &fails)).await.rest().await;
    let last = received.last().unwrap();
    assert_eq!(last.name, "problem");
    has(&last.data, json!({"status": 502, "role": "learnings"}));

    let stale = streaming(&memory, &fails).header("If-Match", "\"other\"");
    Answer::to(stale).await.stale();
}

#[tokio::test]
async fn an_update_finishes_after_its_client_disconnects() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    let body = dictate(json!({"learnings": learning("one")}));
    let mut watch = Watch::of(streaming(&memory, &body)).await;
    assert_eq!(watch.next().await.unwrap().name, "started");
    gate.asked().await;

    drop(watch);
    gate.open();

    let mut events = Watch::vault(&service, "?kinds=version", Some("0")).await;
    assert_eq!(events.next().await.unwrap().data["version"], 1);
}
