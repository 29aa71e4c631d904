//! `GET M/sections`, and the sections that `GET M/context` selects.

use crate::harness::{Service, has};
use serde_json::json;

/// Headings, and lines that look like some: in a fence, in a record, too deep, without a blank.
const DOCUMENT: &str = "\
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
async fn headings_of_all_levels_are_listed_with_their_positions_and_selected_by_their_paths() {
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
    for missing in "Network DNS Facts/DNS Facts/ /Facts / Facts/Network/DNS/x cd".split(' ') {
        let path = format!("contexts/1?section={missing}");
        memory.refuses(&path, 404, "not-found", Some("section")).await;
    }
    let table = r##"
        PUT context < # Facts\n → 201
        GET contexts/1?section=Facts/Network → 200 =## Network ##\n### DNS\n10.0.0.1\n
        GET contexts/1?section=facts%2Fnetwork → 200 =## Network ##\n### DNS\n10.0.0.1\n
        GET contexts/1?section=facts%20/%20network: → 200 =## Network ##\n### DNS\n10.0.0.1\n
        GET contexts/1?section=FACTS/Network/dns → 200 =### DNS\n10.0.0.1\n
        GET contexts/1?section=facts/ci/cd → 200 =## CI/CD\nx\n
        GET contexts/1?section=key%20learnings/deep → 200 =###### deep\n####### seven\n##none\n
        GET contexts/1?section=learnings/deep → 200 =###### deep\n####### seven\n##none\n
        GET contexts/1?section=progress/completed → 200 =## Completed\n- parser\n  ## not a heading\n```\n## neither\n```\n
        GET context?section=facts&as_of=2026-11-21T02:00:00Z | Accept: application/json → 200 {"context": "# Facts\n"}
        GET contexts/1?section=Facts/DNS → 404 not-found section {"sections#": 10, "/sections/2": "Facts:/Network/DNS"}
        GET contexts/1?section=%20 → 422 invalid section"##;
    memory.requests(table).await;
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
