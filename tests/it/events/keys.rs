//! Event streams and the API keys that opened them.

use super::watch::Watch;
use crate::access::first_admin;
use crate::harness::{Answer, Service, has};
use crate::pipeline::dictated::{Gate, dictate, learning};
use reqwest::Method;
use serde_json::json;
use std::time::Duration;
use working_memory::domain::operation::Role;

const EVENTS: &str = "/v1/vaults/acme/events?kinds=version";

#[tokio::test]
async fn a_stream_ends_when_its_key_is_revoked_or_expires_and_others_continue() {
    let service = Service::start().await;
    let beside = service.beside(None).await;
    let admin = first_admin(&service).await;
    let revoked = admin.make(json!({"name": "r", "role": "reader"})).await;
    let expiring = json!({"name": "e", "role": "reader", "expires_at": "2026-11-21T02:00:10Z"});
    let expiring = admin.make(expiring).await;
    let mut of_admin = Watch::of(admin.request(Method::GET, EVENTS)).await;
    let mut of_revoked = Watch::of(revoked.at(&beside).request(Method::GET, EVENTS)).await;
    let mut of_expiring = Watch::of(expiring.request(Method::GET, EVENTS)).await;

    admin.put("acme", "one").await.is(201);
    for watch in [&mut of_admin, &mut of_revoked, &mut of_expiring] {
        assert_eq!(watch.next().await.unwrap().data["version"], 1);
    }
    // On another instance than the one that streams.
    admin
        .delete(&format!("/v1/keys/{}", revoked.key_id))
        .await
        .is(204);
    assert_eq!(of_revoked.next().await, None);
    service.clock.advance(Duration::from_secs(10));
    assert_eq!(of_expiring.next().await, None);

    admin.put("acme", "two").await.is(201);
    assert_eq!(of_admin.next().await.unwrap().data["version"], 2);
}

#[tokio::test]
async fn a_stream_opened_without_a_key_ends_when_the_first_key_is_created() {
    let service = Service::start().await;
    let mut watch = Watch::of(service.request(Method::GET, EVENTS)).await;
    first_admin(&service).await;
    assert_eq!(watch.next().await, None);
}

#[tokio::test]
async fn the_stream_of_an_update_ends_with_its_key_and_the_update_is_finished() {
    let (gate, service) = Gate::service(Role::Learnings).await;
    let admin = first_admin(&service).await;
    let writer = admin.make(json!({"name": "w", "role": "writer"})).await;
    let body = dictate(json!({"learnings": learning("one")}));
    let update = writer.request(Method::POST, "/v1/vaults/acme/memories/agent/update");
    let update = update.header("Accept", "text/event-stream").json(&body);
    let mut watch = Watch::of(update).await;
    gate.asked().await;

    admin.delete(&format!("/v1/keys/{}", writer.key_id)).await.is(204);
    let received = watch.rest().await;
    assert!(received.iter().all(|event| event.name != "done"), "{received:?}");
    gate.open();

    let events = admin.request(Method::GET, EVENTS).header("Last-Event-ID", "0");
    let made = Watch::of(events).await.next().await.unwrap();
    has(&made.data, json!({"version": 1, "actor": "w"}));
}

#[tokio::test]
async fn the_caller_of_an_async_update_is_its_actor_and_other_tenants_get_no_event() {
    let (gate, service) = Gate::service(Role::Learnings).await;
    let workers = service.work(Duration::from_secs(5));
    let admin = first_admin(&service).await;
    let writer = json!({"name": "acme-agent", "role": "writer", "vaults": ["acme"]});
    let writer = admin.make(writer).await;
    let reader = json!({"name": "r", "role": "reader", "vaults": ["acme"]});
    let reader = admin.make(reader).await;
    let other = json!({"name": "o", "role": "writer", "vaults": ["other"]});
    let other = admin.make(other).await;
    let memory = "/v1/vaults/acme/memories/agent";
    let later = async |content: &str| {
        let body = dictate(json!({"learnings": learning(content)}));
        let request = writer.request(Method::POST, &format!("{memory}/update"));
        let answer = Answer::to(request.header("Prefer", "respond-async").json(&body)).await;
        answer.is(202).json()["update_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (later("one").await, later("two").await);
    gate.asked().await;

    let run = format!("{memory}/updates/{second}");
    other.get(&run).await.missing();
    other.delete(&run).await.missing();
    let usage = other.get("/v1/vaults/acme/usage").await;
    usage.missing();
    reader.get(&run).await.is(200);
    reader.get("/v1/vaults/acme/usage").await.is(200);
    reader.get("/v1/guidance").await.is(200);
    reader.delete(&run).await.forbidden();
    assert_eq!(writer.delete(&run).await.is(200).json()["status"], "cancelled");
    gate.open();

    let events = reader.request(Method::GET, EVENTS).header("Last-Event-ID", "0");
    let made = Watch::of(events).await.next().await.unwrap();
    assert_eq!(made.data["actor"], "acme-agent");
    assert_eq!(made.data["update_id"], first.as_str());
    let head = reader.get(&format!("{memory}/contexts")).await.is(200).json();
    assert_eq!(head["items"][0]["actor_id"], "acme-agent");
    service.stop();
    workers.stopped().await;
}
