//! `GET M/sections`

use crate::harness::{Service, each};
use serde_json::{Value, json};

const DOCUMENT: &str = "\
# Facts
## Network ##
ä
# Key Learnings
- KL-1 because a: b
  ## no heading
";

fn paths(page: &Value) -> Vec<&str> {
    each(&page["items"], "path")
}

#[tokio::test]
async fn headings_of_all_levels_are_listed_with_their_positions() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.write(DOCUMENT).await;

    let answer = memory.get("sections").await.is(200);

    assert_eq!(answer.header("x-context-version"), "1");
    let learnings = DOCUMENT.find("# Key").unwrap();
    let free = |title: &str, level: u8, path: &str, start: usize| {
        json!({"title": title, "level": level, "path": path, "start": start, "end": learnings,
               "managed": false, "section": null})
    };
    assert_eq!(
        answer.json(),
        json!({
            "items": [
                free("Facts", 1, "Facts", 0),
                free("Network", 2, "Facts/Network", 8),
                {"title": "Key Learnings", "level": 1, "path": "Key Learnings", "start": learnings,
                 "end": DOCUMENT.len(), "managed": true, "section": "learnings"},
            ],
            "next_cursor": null,
        })
    );
}

#[tokio::test]
async fn all_pages_are_of_one_version() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.write("# A\n## B\n# C\n").await;
    let first = memory.read("sections?limit=2").await;
    assert_eq!(paths(&first), ["A", "A/B"]);
    memory.write("# New\n").await;

    let cursor = first["next_cursor"].as_str().unwrap();
    let second = memory.get(&format!("sections?cursor={cursor}")).await.is(200);

    assert_eq!(second.header("x-context-version"), "1");
    assert_eq!(paths(&second.json()), ["C"]);
    assert_eq!(second.json()["next_cursor"], Value::Null);
    assert_eq!(paths(&memory.read("sections").await), ["New"]);
    let bare = service.memory("bare");
    bare.write("no headings").await;
    let body = bare.read("sections").await;
    assert_eq!(body, json!({"items": [], "next_cursor": null}));
    assert_eq!(paths(&memory.read("sections?ref=1").await), ["A", "A/B", "C"]);
    memory
        .get(&format!("sections?ref=1&cursor={cursor}"))
        .await
        .malformed("cursor");
}
