//! `PUT M/status`

use super::{record, set, task};
use crate::harness::{Service, has};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_status_is_written_and_the_same_again_changes_nothing() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    set(&memory, json!({})).await.invalid("goal");

    let made = set(&memory, json!({"goal": "ship the\nparser"}))
        .await
        .is(201)
        .json();

    has(&made, json!({"goal": "ship the parser", "blocker": null}));
    has(&made, json!({"version": 1, "unchanged": false}));
    assert_eq!(
        memory.text().await,
        "# Active Context\nGoal: ship the parser\nBlocker: none\nUpdated: 2026-11-21T02:00:00Z\n"
    );
    service.clock.advance(Duration::from_secs(60));
    let same = set(&memory, json!({"goal": "ship the parser", "blocker": null}))
        .await
        .is(200)
        .json();
    has(&same, json!({"unchanged": true, "version": 1}));
    let blocked = set(&memory, json!({"blocker": "review"})).await.is(201).json();
    has(&blocked, json!({"goal": "ship the parser", "blocker": "review"}));
    let log = memory.read("log").await;
    assert_eq!(log["items"][0]["source"], "status");
    for (field, sent) in [
        ("goal", json!({"goal": " "})),
        ("goal", json!({"goal": "x".repeat(1_001)})),
        ("blocker", json!({"goal": "x", "blocker": "a\u{0}"})),
        ("body", json!([])),
    ] {
        set(&memory, sent).await.invalid(field);
    }
}

#[tokio::test]
async fn an_absent_member_is_unchanged_and_null_clears_it() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    for (sent, goal, blocker) in [
        (json!({"blocker": "the net"}), json!(null), json!("the net")),
        (json!({"goal": "ship"}), json!("ship"), json!("the net")),
        (json!({"blocker": null}), json!("ship"), json!(null)),
        (json!({"blocker": "review"}), json!("ship"), json!("review")),
        (json!({"goal": null}), json!(null), json!("review")),
        (
            json!({"goal": "rest", "blocker": "none"}),
            json!("rest"),
            json!(null),
        ),
    ] {
        let made = set(&memory, sent.clone()).await.is(201).json();
        assert_eq!((&made["goal"], &made["blocker"]), (&goal, &blocker), "{sent}");
    }
}

#[tokio::test]
async fn updated_is_set_by_every_change_and_free_text_stays() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    let text = "# Active Context\nGoal: ship\n* a note\n\n# Facts\n\ttab  \r\n```\n# no heading\n```\n";
    memory.write(text).await;
    service.clock.advance(Duration::from_secs(61));
    record(&memory, task(1)).await.is(201);
    assert_eq!(
        memory.text().await,
        "# Active Context\nGoal: ship\nBlocker: none\nUpdated: 2026-11-21T02:01:01Z\n* a note\n\n# Facts\n\ttab  \
         \r\n```\n# no heading\n```\n\n# Recent Tasks\n- T-1 [2026-11-21T02:01:01Z] task-1: Step 1: Done. All of it.\n"
    );
}
