//! `GET M/log`

use crate::harness::Service;

#[tokio::test]
async fn changes_are_described_newest_first_also_as_text() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        PUT context | X-Actor-Id: ann < # Facts\nx\n → 201
        +60
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n → 200 ⇒ id=/context_id log=/log
        GET log → 200 {"/items/*/version": [2, 1], "/items/*/actor_id": ["anonymous", "ann"], "/items/*/source": ["operations", "put"], "next_cursor": null}
        GET log → 200 {"/items/0/context_id": "$id", "/items/0/creation_time": "2026-11-21T02:01:00Z", "/items/0/log": "$log", "/items/0/log~": "KL-1"}
        PUT context < text 3 → 201
        PUT context < text 4 → 201
        GET log?limit=2 | Accept: text/plain → 200 | content-type: text/plain; charset=utf-8 | vary: Accept | =version 4 2026-11-21T02:01:00Z anonymous put\n  document put: 6 bytes, before 6\n\nversion 3 2026-11-21T02:01:00Z anonymous put\n  document put: 6 bytes, before 107\n  - KL-1 left out: commit the query data\n\n"##;
    let page = memory.requests(table).await;
    let (next, _) = page.header("link").split_once(">; rel=\"next\"").unwrap();
    let next = next.strip_prefix(&format!("<{}", memory.path(""))).unwrap();
    let last = memory.get_with(next, "Accept", "text/plain").await.is(200);
    assert!(last.text().starts_with("version 2 "), "{}", last.text());
    assert!(!last.headers.contains_key("link"));
}
