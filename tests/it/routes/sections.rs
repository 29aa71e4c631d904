//! `GET M/sections`

use crate::harness::{Service, each, has};
use serde_json::{Value, json};

/// Headings, and lines that look like some: in a fence, in a record, too deep, without a blank.
pub(super) const DOCUMENT: &str = "\
intro
# Facts:
## Network ##
### DNS
10.0.0.1
## CI/CD
x
# Current Progress
## Completed
- parser
  ## not a heading
```
## neither
```
# Key Learnings
- KL-1 insight
  ## part of it
###### deep
####### seven
##none
# Facts
## Network
second
";

fn paths(page: &Value) -> Vec<&str> {
    each(&page["items"], "path")
}

#[tokio::test]
async fn headings_of_all_levels_are_listed_with_their_positions() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;

    let answer = memory.get("sections").await.is(200);

    assert_eq!(answer.header("x-context-version"), "1");
    let list = answer.json();
    let end = DOCUMENT.find("# Current").unwrap();
    assert_eq!(
        list["items"][1],
        json!({"title": "Network", "level": 2, "path": "Facts:/Network", "start": DOCUMENT.find("## N"),
               "end": DOCUMENT.find("## CI"), "managed": false, "section": null})
    );
    has(&list["items"][0], json!({"title": "Facts:", "end": end}));
    has(&list["items"][4], json!({"start": end, "managed": true}));
    let items = list["items"].as_array().unwrap().iter();
    let found: Vec<_> = items
        .map(|item| json!([item["level"], item["path"], item["section"]]))
        .collect();
    assert_eq!(
        json!(found),
        json!([
            [1, "Facts:", null],
            [2, "Facts:/Network", null],
            [3, "Facts:/Network/DNS", null],
            [2, "Facts:/CI/CD", null],
            [1, "Current Progress", "progress"],
            [2, "Current Progress/Completed", "progress"],
            [1, "Key Learnings", "learnings"],
            [6, "Key Learnings/deep", "learnings"],
            [1, "Facts", null],
            [2, "Facts/Network", null],
        ])
    );
}

#[tokio::test]
async fn all_pages_are_of_one_version() {
    let (service, memory) = Service::start().await.agent();
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
