//! Which events are sent, and to whom.

use super::watch::{Sent, Watch};
use crate::harness::{Answer, Service, has};
use crate::pipeline::dictated::{Dictated, dictate, learning};
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

fn kinds(events: &[Sent]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

#[tokio::test]
async fn the_event_of_a_new_version_has_everything_but_its_text() {
    let (service, memory) = Service::start().await.agent();
    memory.write("before").await;
    let mut watch = Watch::vault(&service, "", None).await;

    let request = memory.putting("the secret text").header("X-Actor-Id", "ann");
    let put = Answer::to(request).await.is(201).json();

    let received = watch.next().await.unwrap();
    assert_eq!(received.name, "version");
    assert_eq!(
        received.data,
        json!({
            "id": received.id, "kind": "version", "time": put["creation_time"], "vault_id": "acme",
            "memory_id": "agent", "version": 2, "context_id": put["context_id"], "actor": "ann", "source": "put",
            "update_id": null, "details": null,
        })
    );
    let holding = service.tables_that_hold("the secret text").await;
    assert_eq!(holding, ["memory_contexts"]);
}

#[tokio::test]
async fn writes_of_another_instance_are_events_too() {
    let one = Service::start().await;
    let two = one.beside(None).await;
    two.listen().await;
    let mut watch = Watch::vault(&two, "", None).await;
    for number in 1..=3 {
        one.memory("agent").write(format!("text {number}")).await;
        assert_eq!(watch.next().await.unwrap().data["version"], number);
    }
}

#[tokio::test]
async fn the_steps_of_a_queued_update_are_events_in_order() {
    let (service, memory) = Dictated::new().service().await.agent();
    let mut watch = Watch::vault(&service, "?memory_id=agent", None).await;
    service.memory("other").write("not wanted").await;
    let workers = service.work(Duration::from_secs(10));
    let body = dictate(json!({"learnings": learning("one")}));
    let request = memory.updating(&body).header("Prefer", "respond-async");
    let run = Answer::to(request).await.is(202).json();

    let received = watch.take(11).await;

    let step = |event: &Sent| Some(event.data["details"]["step"].as_str()?.to_owned());
    let steps: Vec<_> = received.iter().filter_map(step).collect();
    assert_eq!(steps[..3], ["queued", "started", "captured"]);
    assert_eq!(steps.iter().filter(|step| *step == "asked").count(), 3);
    assert_eq!(steps.iter().filter(|step| *step == "answered").count(), 3);
    assert_eq!(kinds(&received)[9..], ["version", "update"]);
    let finished = json!({"step": "finished", "status": "applied"});
    assert_eq!(received[10].data["details"], finished);
    let is_of_run = |event: &Sent| event.data["update_id"] == run["update_id"];
    assert!(received.iter().all(is_of_run));
    service.stop();
    workers.stopped().await;
}

#[tokio::test]
async fn redactions_and_changes_of_items_are_events_and_a_browser_resumes_by_its_query() {
    let (service, memory) = Service::start().await.agent();
    let old = memory.write("the secret text").await;
    memory.write("text").await;
    let mut watch = Watch::vault(&service, "", Some("0")).await;
    let versions = watch.take(2).await;
    drop(watch);

    memory.redact("1").await.is(200);
    let item = json!({ "category": "notes", "content": "the secret item" });
    memory.post("items", &item).await.is(201);
    let of_vault = json!({ "category": "style", "content": "the secret item" });
    service.post("/v1/vaults/acme/items", &of_vault).await.is(201);
    memory.delete_at("items?category=notes").await.is(200);

    // An EventSource cannot send a header when it is first created.
    let last = versions[1].id.as_deref().unwrap();
    let query = format!("?last_event_id={last}&memory_id=agent");
    let sent = Watch::vault(&service, &query, None).await.take(3).await;
    assert_eq!(kinds(&sent), ["redacted", "items", "items"]);
    let redacted = json!({"version": 1, "context_id": old["context_id"]});
    has(&sent[0].data["details"], redacted);
    for event in &sent[1..] {
        assert_eq!(event.data["details"]["category"], "notes");
    }
    let is_secret = |event: &Sent| event.data.to_string().contains("secret");
    assert!(!sent.iter().any(is_secret));
    // The header, which a reconnecting EventSource sends, is newer than the query of its URL.
    let mut again = Watch::vault(&service, &query, sent[1].id.as_deref()).await;
    assert_eq!(again.take(1).await[0].id, sent[2].id);
}

#[tokio::test]
async fn invalid_requests_are_rejected() {
    let service = Service::start().await;
    let table = "
        GET EVENTS | Last-Event-ID: x → 400 malformed Last-Event-ID
        GET EVENTS | Last-Event-ID: 12 → 400 malformed Last-Event-ID
        GET EVENTS | Last-Event-ID: 12-xyz → 400 malformed Last-Event-ID
        GET EVENTS | Last-Event-ID: -1-00000000 → 400 malformed Last-Event-ID
        GET EVENTS | Last-Event-ID: 99999999999999999999-00000000 → 400 malformed Last-Event-ID
        GET EVENTS?last_event_id=x → 400 malformed last_event_id
        GET EVENTS?cursor=zzz → 400 malformed cursor
        GET EVENTS?kinds=version,nothing → 422 invalid kinds
        GET EVENTS?memory_id=- → 422 invalid memory_id
        GET EVENTS | Accept: text/html → 406 not-acceptable Accept";
    let table = table.replace("EVENTS", "/v1/vaults/acme/events");
    service.requests(&table).await;
}

#[tokio::test]
async fn streams_have_their_own_limit_and_end_when_the_service_stops() {
    let service = Service::configured(|config| config.events.max_streams = 3).await;
    let (one, two) = (
        Watch::vault(&service, "", None).await,
        Watch::vault(&service, "", None).await,
    );
    // A vault has half of the streams.
    let refused = service.get("/v1/vaults/acme/events").await;
    assert_eq!(refused.header("retry-after"), "5");
    assert_eq!(refused.problem(429, "too-many-requests", None)["limit"], 2);
    let of_another = service.request(Method::GET, "/v1/vaults/another/events");
    let _of_another = Watch::of(of_another.header("Accept", "text/event-stream")).await;
    let refused = service.get("/v1/vaults/acme/events").await;
    assert!(refused.headers.contains_key("retry-after"));
    refused.problem(503, "unavailable", None);
    service.memory("agent").write("is not kept from writing").await;

    service.stop();
    for mut watch in [one, two] {
        assert!(watch.rest().await.len() <= 1);
    }
}

#[tokio::test]
async fn a_handoff_is_an_event_when_it_is_created_and_not_when_it_is_reused() {
    let (service, memory) = Service::start().await.agent();
    memory.write("# Key Learnings\n- KL-1 because a: secret\n").await;
    let mut watch = Watch::vault(&service, "?kinds=version,handoff", None).await;
    let refresh = || {
        let request = memory.request(Method::POST, "handoff/refresh");
        Answer::to(request.header("X-Actor-Id", "ann"))
    };
    let made = refresh().await.is(201).json();
    refresh().await.is(200);
    memory.write("the end").await;
    let received = watch.next().await.unwrap();
    let expected = json!({"kind": "handoff", "memory_id": "agent", "actor": "ann", "version": null,
                          "details": {"handoff_id": made["handoff_id"]}});
    has(&received.data, expected);
    assert_eq!(watch.next().await.unwrap().name, "version");
}
