//! `GET M/log`

use crate::harness::Service;
use serde_json::Value;
use std::time::Duration;

const ADD: &str = "KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n";

#[tokio::test]
async fn changes_are_described_newest_first() {
    let (service, memory) = Service::start().await.agent();
    memory.put_as("ann", "# Facts\nx\n").await.is(201);
    service.clock.advance(Duration::from_secs(60));
    let second = memory.applied(ADD).await;

    let log = memory.read("log").await;

    let items = log["items"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    assert_eq!(items[0]["version"], 2);
    assert_eq!(items[0]["context_id"], second["context_id"]);
    assert_eq!(items[0]["actor_id"], "anonymous");
    assert_eq!(items[0]["creation_time"], "2026-11-21T02:01:00Z");
    assert_eq!(items[0]["source"], "operations");
    assert_eq!(items[0]["log"], second["log"]);
    assert!(items[0]["log"].as_str().unwrap().contains("KL-1"), "{log}");
    assert_eq!(
        (&items[1]["actor_id"], &items[1]["source"]),
        (&"ann".into(), &"put".into())
    );
    assert_eq!(log["next_cursor"], Value::Null);
}

#[tokio::test]
async fn the_log_as_text() {
    let (_, memory) = Service::start().await.agent();
    for number in 1..=3 {
        memory.write(format!("text {number}")).await;
    }
    let as_text = async |below: &str| memory.get_with(below, "Accept", "text/plain").await.is(200);

    let page = as_text("log?limit=2").await;

    assert_eq!(page.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(page.header("vary"), "Accept");
    assert_eq!(
        page.text(),
        "version 3 2026-11-21T02:00:00Z anonymous put\n  document put: 6 bytes, before 6\n\n\
         version 2 2026-11-21T02:00:00Z anonymous put\n  document put: 6 bytes, before 6\n\n"
    );
    let link = page.header("link");
    let next = link
        .strip_prefix('<')
        .unwrap()
        .split_once(">; rel=\"next\"")
        .unwrap()
        .0;
    let next = next.strip_prefix(&memory.path("")).unwrap();
    let last = as_text(next).await;
    assert!(last.text().starts_with("version 1 "), "{}", last.text());
    assert!(!last.headers.contains_key("link"));
}
