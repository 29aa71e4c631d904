//! `GET M/context`

use crate::harness::Service;
use crate::routes::sections::DOCUMENT as HEADINGS;

const PUT: &str = r"
    PUT context < # Description\nfree\n\n# Key Learnings\n- KL-1 because a: insight\n\n# Facts\nx\n → 201 ⇒ tag=etag";

#[tokio::test]
async fn a_missing_memory_is_not_returned_as_an_empty_document() {
    let (service, memory) = Service::start().await.with_memory("nobody");
    for below in "context contexts contexts/1 contexts/1/diff log blame sections records records/KL-1 updates updates/x"
        .split(' ')
    {
        memory.get(below).await.missing();
    }
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn the_client_chooses_the_representation_and_each_has_its_own_etag() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        GET context → 200 | content-type: text/plain; charset=utf-8 | etag: $tag | last-modified: Sat, 21 Nov 2026 02:00:00 GMT | x-context-version: 1 | vary: Accept | =# Description\nfree\n\n# Key Learnings\n- KL-1 because a: insight\n\n# Facts\nx\n
        HEAD context → 200 | etag: $tag | content-length: 73 | =
        GET context | Accept: application/json → 200 {"context": "# Description\nfree\n\n# Key Learnings\n- KL-1 because a: insight\n\n# Facts\nx\n", "version": 1} ⇒ json=etag
        GET context | Accept: text/markdown, */*;q=0.1 → 200 | content-type: text/markdown; charset=utf-8
        GET context | Accept: image/png → 406 not-acceptable Accept
        GET context | Accept: */* | If-None-Match: $tag → 304
        GET context | Accept: */* | If-None-Match: $json → 200
        GET context | Accept: application/json | If-None-Match: $json → 304
        GET context | Accept: application/json | If-None-Match: $tag → 200
        GET context | If-None-Match: * → 304
        GET context | If-None-Match: "x", W/$tag → 304 | etag: $tag | =
        GET context | If-Match: "x" → 412 precondition-failed
        HEAD context | If-None-Match: $tag → 304 | etag: $tag | ="##;
    let unchanged = memory.requests(&(PUT.to_owned() + table)).await;
    // It would be that of the 200 answer (RFC 9110, 8.6).
    assert_eq!(unchanged.headers.get("content-length"), None);
}

#[tokio::test]
async fn a_section_is_selected_by_its_short_name_or_its_title() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        GET context?section=learnings | If-None-Match: $tag → 200 =# Key Learnings\n- KL-1 because a: insight\n\n
        GET context?section=Key%20Learnings | If-None-Match: $tag → 200 =# Key Learnings\n- KL-1 because a: insight\n\n
        GET context?section=key+learnings | If-None-Match: $tag → 200 =# Key Learnings\n- KL-1 because a: insight\n\n
        GET context?section=facts → 200 =# Facts\nx\n
        GET context?section=progress → 404 not-found section {"sections": ["Description", "Key Learnings", "Facts"]}
        GET context?section= → 422 invalid section"#;
    memory.requests(&(PUT.to_owned() + table)).await;
}

#[tokio::test]
async fn a_section_of_any_level_is_selected_by_its_path() {
    let (_, memory) = Service::start().await.agent();
    memory.write(HEADINGS).await;
    memory.write("# Facts\n").await;

    memory
        .requests(
            r"
            GET contexts/1?section=Facts/Network → 200 =## Network ##\n### DNS\n10.0.0.1\n
            GET contexts/1?section=facts%2Fnetwork → 200 =## Network ##\n### DNS\n10.0.0.1\n
            GET contexts/1?section=facts%20/%20network: → 200 =## Network ##\n### DNS\n10.0.0.1\n
            GET contexts/1?section=FACTS/Network/dns → 200 =### DNS\n10.0.0.1\n
            GET contexts/1?section=facts/ci/cd → 200 =## CI/CD\nx\n
            GET contexts/1?section=key%20learnings/deep → 200 =###### deep\n####### seven\n##none\n
            GET contexts/1?section=learnings/deep → 200 =###### deep\n####### seven\n##none\n
            GET contexts/1?section=progress/completed → 200 =## Completed\n- parser\n  ## not a heading\n```\n## neither\n```\n",
        )
        .await;
    for missing in "Network DNS Facts/DNS Facts/ /Facts / Facts/Network/DNS/x cd".split(' ') {
        let path = format!("contexts/1?section={missing}");
        memory.refuses(&path, 404, "not-found", Some("section")).await;
    }
    let table = r##"
        GET context?section=facts&as_of=2026-11-21T02:00:00Z | Accept: application/json → 200 {"context": "# Facts\n"}
        GET contexts/1?section=Facts/DNS → 404 not-found section {"sections#": 10, "/sections/2": "Facts:/Network/DNS"}
        GET contexts/1?section=%20 → 422 invalid section"##;
    memory.requests(table).await;
}

#[tokio::test]
async fn the_version_at_a_past_time_is_returned() {
    let (_, memory) = Service::start().await.agent();
    let table = "
        PUT context < one → 201
        +60
        PUT context < two → 201
        GET context?as_of=2026-11-21T02:00:00Z → 200 =one
        GET context?as_of=2026-11-21T02:00:59.999999Z → 200 =one
        GET context?as_of=2026-11-21T03:01:00%2B01:00 → 200 =two
        GET context?as_of=2026-11-21T03:01:00+01:00 → 200 =two
        GET context?as_of=2026-11-21T01:59:59Z → 404 not-found as_of
        GET context?as_of=2026-11-21T02:01:01Z → 422 invalid as_of
        GET context?as_of=yesterday → 400 malformed as_of
        GET context?as_of=2026-11-21 → 400 malformed as_of
        GET context?as_of=2026-13-01T00:00:00Z → 400 malformed as_of
        GET context?as_of=1763690400 → 400 malformed as_of
        GET context?as_of= → 400 malformed as_of";
    memory.requests(table).await;
}
