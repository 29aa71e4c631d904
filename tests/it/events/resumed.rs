//! A client that reconnects gets every event exactly once, or a reset.

use super::watch::{Sent, Watch};
use crate::harness::{Answer, Service};
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use working_memory::storage::events::EventKind;

async fn page(service: &Service, query: &str, position: Option<&str>) -> Value {
    let path = format!("/v1/vaults/acme/events{query}");
    let request = service.request(Method::GET, &path);
    let mut request = request.header("Accept", "application/json");
    if let Some(id) = position {
        request = request.header("Last-Event-ID", id);
    }
    Answer::to(request).await.is(200).json()
}

fn versions(events: &Value) -> Vec<i64> {
    let items = events["items"].as_array().unwrap().iter();
    items.map(|event| event["version"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_page_continues_after_the_previous_one() {
    let (service, memory) = Service::start().await.agent();
    for number in 1..=5 {
        memory.write(format!("text {number}")).await;
    }

    let first = page(&service, "?limit=3&last_event_id=", None).await;
    assert_eq!(
        (versions(&first), &first["reset"]),
        (vec![1, 2, 3], &json!(false))
    );
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = page(&service, &format!("?limit=3&cursor={cursor}"), None).await;
    assert_eq!(
        (versions(&second), &second["next_cursor"]),
        (vec![4, 5], &json!(null))
    );
    // A stream does so, too, until the header of a client that comes back says more.
    let query = format!("?cursor={cursor}");
    let sent = Watch::vault(&service, &query, None).await.take(2).await;
    assert_eq!(sent[0].data["version"], 4);
    let mut again = Watch::vault(&service, &query, sent[0].id.as_deref()).await;
    assert_eq!(again.next().await.unwrap().data["version"], 5);

    let end = second["last_event_id"].as_str().unwrap();
    assert_eq!(versions(&page(&service, "", Some(end)).await), [0; 0]);
    memory.write("text 6").await;
    assert_eq!(versions(&page(&service, "", Some(end)).await), [6]);
    let other = page(&service, "?memory_id=other", None).await;
    assert_eq!(versions(&other), [0; 0]);
    // It continues behind everything that was passed over, so it is not lost when that expires.
    let end = other["last_event_id"].as_str().unwrap();
    assert_eq!(versions(&page(&service, "", Some(end)).await), [0; 0]);
}

/// The position that a stream sends before anything else.
async fn start(service: &Service, behind: Option<&str>) -> String {
    let mut request = service.request(Method::GET, "/v1/vaults/acme/events");
    if let Some(id) = behind {
        request = request.header("Last-Event-ID", id);
    }
    let mut stream = request.send().await.unwrap();
    let greeting = stream.chunk().await.unwrap().unwrap();
    let greeting = std::str::from_utf8(&greeting).unwrap();
    let place = greeting.strip_prefix("retry: 2000\nid: ").unwrap();
    place.split_once("\n\n").unwrap().0.to_owned()
}

#[tokio::test]
async fn a_stream_sends_its_start_position_so_that_resuming_it_misses_nothing() {
    let (service, memory) = Service::start().await.agent();
    memory.write("text 1").await;
    let place = start(&service, None).await;
    memory.write("text 2").await;

    let mut watch = Watch::vault(&service, "", Some(&place)).await;

    assert_eq!(watch.next().await.unwrap().data["version"], 2);
}

#[tokio::test]
async fn concurrent_writers_and_reconnecting_clients() {
    const MEMORIES: usize = 4;
    const WRITERS: usize = 3;
    const TEXTS: usize = 12;
    let one = Service::start().await;
    let two = one.beside(None).await;
    let names: Vec<String> = (0..MEMORIES).map(|number| format!("m{number}")).collect();
    let write = |name: usize, writer: usize| {
        let service = if writer.is_multiple_of(2) { &one } else { &two };
        let memory = service.memory(&names[name]);
        async move {
            for number in 0..TEXTS {
                memory.write(format!("{writer} {number}")).await;
            }
        }
    };
    let writers = (0..MEMORIES).flat_map(|name| (0..WRITERS).map(move |writer| (name, writer)));
    let writing = join_all(writers.map(|(name, writer)| write(name, writer)));
    let watching = async {
        let mut seen: Vec<Sent> = Vec::new();
        let mut position = "0".to_owned();
        while seen.len() < MEMORIES * WRITERS * TEXTS {
            // Each time on the other instance.
            let service = if seen.len().is_multiple_of(2) { &one } else { &two };
            let mut watch = Watch::vault(service, "", Some(&position)).await;
            let some = 5.min(MEMORIES * WRITERS * TEXTS - seen.len());
            seen.extend(watch.take(some).await);
            position = seen.last().unwrap().id.clone().unwrap();
        }
        seen
    };

    let (seen, _) = tokio::join!(watching, writing);

    let ids: BTreeSet<_> = seen.iter().map(|event| event.id.clone()).collect();
    assert_eq!(ids.len(), seen.len());
    let mut received: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for event in &seen {
        let memory = event.data["memory_id"].as_str().unwrap();
        let versions = received.entry(memory).or_default();
        versions.push(event.data["version"].as_i64().unwrap());
    }
    let complete: Vec<i64> = (1..=i64::try_from(WRITERS * TEXTS).unwrap()).collect();
    for name in &names {
        assert_eq!(received[name.as_str()], complete, "{name}");
    }
}

#[tokio::test]
async fn an_expired_position_is_answered_with_a_reset() {
    let (service, memory) = Service::start().await.agent();
    memory.write("text 1").await;
    memory.write("text 2").await;
    let old = Watch::vault(&service, "", Some("0")).await.take(2).await;
    service.clock.advance(Duration::from_secs(3600));
    let vault = "acme".parse().unwrap();
    let before = working_memory::clock::Clock::now(&*service.clock);
    assert_eq!(service.storage().purge_events(&vault, before).await.unwrap(), 2);

    // A client at the last event has missed nothing.
    let mut last = Watch::vault(&service, "", old[1].id.as_deref()).await;
    // One that is cut off before the reset is still told when it comes back.
    let place = start(&service, old[0].id.as_deref()).await;
    let mut first = Watch::vault(&service, "", Some(&place)).await;
    let mut strange = Watch::vault(&service, "", Some("1-ffffffff")).await;
    let mut future = Watch::vault(&service, "", Some("77-00000001")).await;
    memory.write("text 3").await;

    assert_eq!(last.next().await.unwrap().data["version"], 3);
    for watch in [&mut first, &mut strange, &mut future] {
        let reset = watch.next().await.unwrap();
        assert_eq!((reset.name.as_str(), &reset.id), ("reset", &old[1].id));
        assert_eq!(watch.next().await.unwrap().data["version"], 3);
    }
    let page = page(&service, "", old[0].id.as_deref()).await;
    assert_eq!((&page["reset"], versions(&page)), (&json!(true), vec![3]));
}

#[tokio::test]
async fn a_stream_is_reset_when_a_failover_loses_its_last_event() {
    let (service, memory) = Service::start().await.agent();
    let mut watches = [
        Watch::vault(&service, "", None).await,
        Watch::vault(&service, "?kinds=version", Some("0")).await,
    ];
    memory.write("text 1").await;
    memory.write("text 2").await;
    for watch in &mut watches {
        watch.take(2).await;
    }

    // As on a new primary that never had it: its number is given again.
    let lost = "DELETE FROM events WHERE vault_id = 'acme' AND sequence = 2;
        UPDATE event_streams SET last_sequence = 1,
            last_event_id = (SELECT event_id FROM events WHERE vault_id = 'acme' AND sequence = 1)
        WHERE vault_id = 'acme'";
    sqlx::raw_sql(lost).execute(service.rows()).await.unwrap();
    memory.write("text 3").await;
    for watch in &mut watches {
        assert_eq!(watch.next().await.unwrap().name, "reset");
    }
    memory.write("text 4").await;
    for watch in &mut watches {
        while watch.next().await.unwrap().data["version"] != 4 {}
    }
}

#[tokio::test]
async fn a_client_far_behind_reads_from_the_database() {
    let service = Service::start().await;
    let vault = "acme".parse().unwrap();
    let memory = "agent".parse().unwrap();
    let mut slow = Watch::vault(&service, "", None).await;
    for _ in 0..6 {
        let event = |_| service.storage().event(&memory, EventKind::Handoff);
        let events: Vec<_> = (0..500).map(event).collect();
        service.storage().append_events(&vault, &events).await.unwrap();
    }
    let number = |event: &Sent| {
        let (number, _) = event.id.as_ref().unwrap().split_once('-').unwrap();
        number.parse().unwrap()
    };
    let numbers: Vec<i64> = slow.take(3_000).await.iter().map(number).collect();
    assert_eq!(numbers, (1..=3_000).collect::<Vec<_>>());
}
