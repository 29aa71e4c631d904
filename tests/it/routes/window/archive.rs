//! `GET M/archive/history` and `GET M/archive/epics`

use super::{record, task};
use crate::harness::Service;
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
    let table = r#"
        GET archive/history → 200 =- 2026-11-21T02:00:00Z T-1 task-1: Step 1: Done.\n- 2026-11-21T02:00:01Z T-2 task-2: Step 2: Done.\n- 2026-11-21T02:00:02Z T-3 task-3: Step 3: Done.\n
        GET archive/history?limit=2 | Accept: application/json → 200 {"/items/0/task_id": "task-1", "/items/1/line": "2026-11-21T02:00:01Z T-2 task-2: Step 2: Done."} ⇒ cursor=/next_cursor
        GET archive/history?limit=2&cursor=$cursor | Accept: application/json → 200 {"/items/0/record_id": "T-3", "next_cursor": null}
        GET archive/history?cursor=zz → 400 malformed cursor
        GET archive/history?limit=2 | Accept: application/json → 200"#;
    let cursor = memory.requests(table).await.part("/next_cursor");
    let page = memory.get("archive/history?limit=2").await.is(200);
    let link = page.header("link");
    assert!(link.contains(&cursor) && link.contains("rel=\"next\""), "{link}");
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
    // The 21st of November 2026 is a Saturday: two days to the week's end.
    let table = r##"
        GET archive/epics → 200 {"/items/*/name": [null, "Bench", "parser"], "/items/*/tasks": [1, 1, 2], "/items/2/first": "2026-11-21T02:00:00Z", "/items/2/latest/1/record_id": "T-3"}
        GET archive/epics?by=week&limit=1 → 200 {"/items/0/name": "2026-W47", "/items/0/tasks": 2} ⇒ cursor=/next_cursor
        GET archive/epics?by=week&limit=1&cursor=$cursor → 200 {"/items/0/name": "2026-W48"}
        GET archive/epics?by=week | Accept: text/plain → 200 ^# 2026-W47\n2 tasks, 2026-11-21T02:00:00Z to 
        GET archive/epics?by=month → 422 invalid by"##;
    memory.requests(table).await;
}
