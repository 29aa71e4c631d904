//! `GET M/archive/history` and `GET M/archive/epics`

use super::{record, task};
use crate::harness::{Service, has};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn the_history_is_one_line_a_task_in_pages() {
    let service = Service::configured(|config| config.window.tasks = 1).await;
    let memory = service.memory("agent");
    memory.get("archive/history").await.missing();
    for number in 1..=4 {
        record(&memory, task(number)).await.is(201);
        service.clock.advance(Duration::from_secs(1));
    }
    let text = memory.get("archive/history").await.is(200);
    assert_eq!(
        text.text(),
        "- 2026-11-21T02:00:00Z T-1 task-1: Step 1: Done.\n- 2026-11-21T02:00:01Z T-2 task-2: Step 2: Done.\n- 2026-11-21T02:00:02Z \
         T-3 task-3: Step 3: Done.\n"
    );
    let first = memory.get_json("archive/history?limit=2").await.is(200).json();
    assert_eq!(first["items"][0]["task_id"], "task-1");
    assert_eq!(
        first["items"][1]["line"],
        "2026-11-21T02:00:01Z T-2 task-2: Step 2: Done."
    );
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = memory
        .get_json(&format!("archive/history?limit=2&cursor={cursor}"))
        .await
        .is(200)
        .json();
    assert_eq!(second["items"][0]["record_id"], "T-3");
    assert_eq!(second["next_cursor"], json!(null));
    let page = memory.get("archive/history?limit=2").await.is(200);
    let link = page.header("link");
    assert!(link.contains(cursor) && link.contains("rel=\"next\""), "{link}");
    memory.get("archive/history?cursor=zz").await.malformed("cursor");
}

#[tokio::test]
async fn the_history_is_rolled_up_by_epic_and_by_week() {
    let service = Service::configured(|config| config.window.tasks = 1).await;
    let memory = service.memory("agent");
    for (number, epic) in [
        (1, Some("parser")),
        (2, None),
        (3, Some("parser")),
        (4, Some("Bench")),
        (5, None),
    ] {
        let mut sent = task(number);
        sent["epic"] = json!(epic);
        record(&memory, sent).await.is(201);
        service.clock.advance(Duration::from_secs(86_400));
    }
    let epics = memory.read("archive/epics").await;
    let shown: Vec<_> = epics["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|epic| (&epic["name"], &epic["tasks"]))
        .collect();
    assert_eq!(
        shown,
        [
            (&json!(null), &json!(1)),
            (&json!("Bench"), &json!(1)),
            (&json!("parser"), &json!(2))
        ]
    );
    assert_eq!(epics["items"][2]["first"], "2026-11-21T02:00:00Z");
    assert_eq!(epics["items"][2]["latest"][1]["record_id"], "T-3");
    // The 21st of November 2026 is a Saturday: two days to the week's end.
    let weeks = memory.read("archive/epics?by=week&limit=1").await;
    has(&weeks["items"][0], json!({"name": "2026-W47", "tasks": 2}));
    let cursor = weeks["next_cursor"].as_str().unwrap();
    let next = memory
        .read(&format!("archive/epics?by=week&limit=1&cursor={cursor}"))
        .await;
    assert_eq!(next["items"][0]["name"], "2026-W48");
    let text = memory
        .get_with("archive/epics?by=week", "Accept", "text/plain")
        .await
        .is(200);
    assert!(
        text.text()
            .starts_with("# 2026-W47\n2 tasks, 2026-11-21T02:00:00Z to "),
        "{}",
        text.text()
    );
    memory.get("archive/epics?by=month").await.invalid("by");
}
