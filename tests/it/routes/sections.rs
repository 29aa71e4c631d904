//! `GET M/sections`

use crate::harness::{Service, has};
use serde_json::json;

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

#[tokio::test]
async fn headings_of_all_levels_are_listed_with_their_positions() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let answer = memory.get("sections").await.is(200);
    assert_eq!(answer.header("x-context-version"), "1");
    let list = answer.json();
    let end = DOCUMENT.find("# Current").unwrap();
    let network = json!({"title": "Network", "level": 2, "path": "Facts:/Network", "start": DOCUMENT.find("## N"),
                         "end": DOCUMENT.find("## CI"), "managed": false, "section": null});
    has(
        &list,
        json!({"/items/1": network, "/items/0/title": "Facts:", "/items/0/end": end, "/items/4/start": end,
               "/items/4/managed": true, "/items/*/level": [1, 2, 3, 2, 1, 2, 1, 6, 1, 2],
               "/items/*/path": ["Facts:", "Facts:/Network", "Facts:/Network/DNS", "Facts:/CI/CD", "Current Progress",
                                 "Current Progress/Completed", "Key Learnings", "Key Learnings/deep", "Facts", "Facts/Network"],
               "/items/*/section": [null, null, null, null, "progress", "progress", "learnings", "learnings", null, null]}),
    );
}

#[tokio::test]
async fn all_pages_are_of_one_version() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        PUT context < # A\n## B\n# C\n → 201
        GET sections?limit=2 → 200 {"/items/*/path": ["A", "A/B"]} ⇒ cursor=/next_cursor
        PUT context < # New\n → 201
        GET sections?cursor=$cursor → 200 | x-context-version: 1 | {"/items/*/path": ["C"], "next_cursor": null}
        GET sections → 200 {"/items/*/path": ["New"]}
        GET sections?ref=1 → 200 {"/items/*/path": ["A", "A/B", "C"]}
        GET sections?ref=1&cursor=$cursor → 400 malformed cursor
        PUT /v1/vaults/acme/memories/bare/context < no headings → 201
        GET /v1/vaults/acme/memories/bare/sections → 200 ={"items":[],"next_cursor":null}"##;
    memory.requests(table).await;
}
