//! `PUT M/status`

use super::{record, task};
use crate::harness::Service;
use std::time::Duration;

#[tokio::test]
async fn a_status_is_written_and_the_same_again_changes_nothing() {
    let (service, memory) = Service::start().await.agent();
    memory
        .requests(
            r#"
            PUT status < {} → 422 invalid goal
            PUT status < {"goal": "ship the\nparser"} → 201 {"goal": "ship the parser", "blocker": null, "version": 1, "unchanged": false}"#,
        )
        .await;
    assert_eq!(
        memory.text().await,
        "# Active Context\nGoal: ship the parser\nBlocker: none\nUpdated: 2026-11-21T02:00:00Z\n"
    );
    service.clock.advance(Duration::from_secs(60));
    let long = "x".repeat(1_001);
    memory
        .requests(&format!(
            r#"
            PUT status < {{"goal": "ship the parser", "blocker": null}} → 200 {{"unchanged": true, "version": 1}}
            PUT status < {{"blocker": "review"}} → 201 {{"goal": "ship the parser", "blocker": "review"}}
            PUT status < {{"goal": " "}} → 422 invalid goal
            PUT status < {{"goal": "{long}"}} → 422 invalid goal
            PUT status < {{"goal": "x", "blocker": "a\u0000"}} → 422 invalid blocker
            PUT status < [] → 422 invalid body"#
        ))
        .await;
    let log = memory.read("log").await;
    assert_eq!(log["items"][0]["source"], "status");
}

#[tokio::test]
async fn an_absent_member_is_unchanged_and_null_clears_it() {
    let (_, memory) = Service::start().await.agent();
    memory
        .requests(
            r#"
            PUT status < {"blocker": "the net"} → 201 {"goal": null, "blocker": "the net"}
            PUT status < {"goal": "ship"} → 201 {"goal": "ship", "blocker": "the net"}
            PUT status < {"blocker": null} → 201 {"goal": "ship", "blocker": null}
            PUT status < {"blocker": "review"} → 201 {"goal": "ship", "blocker": "review"}
            PUT status < {"goal": null} → 201 {"goal": null, "blocker": "review"}
            PUT status < {"goal": "rest", "blocker": "none"} → 201 {"goal": "rest", "blocker": null}"#,
        )
        .await;
}

#[tokio::test]
async fn updated_is_set_by_every_change_and_free_text_stays() {
    let (service, memory) = Service::start().await.agent();
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
