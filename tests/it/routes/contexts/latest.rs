//! `GET M/context`

use crate::harness::{Answer, Service};
use crate::routes::sections::DOCUMENT as HEADINGS;
use reqwest::Method;
use std::time::Duration;

const DOCUMENT: &str = "# Description\nfree\n\n# Key Learnings\n- KL-1 because a: insight\n\n# Facts\nx\n";

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
async fn the_text_is_returned_with_etag_and_last_modified() {
    let (_, memory) = Service::start().await.agent();
    let put = memory.put(DOCUMENT).await.is(201);

    let got = memory.get("context").await.is(200);

    assert_eq!(got.text(), DOCUMENT);
    assert_eq!(got.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(got.header("etag"), put.header("etag"));
    assert_eq!(got.header("last-modified"), "Sat, 21 Nov 2026 02:00:00 GMT");
    assert_eq!(got.header("x-context-version"), "1");
    assert_eq!(got.header("vary"), "Accept");
    let head = Answer::to(memory.request(Method::HEAD, "context")).await.is(200);
    assert_eq!(head.header("etag"), put.header("etag"));
    assert_eq!(head.header("content-length"), DOCUMENT.len().to_string());
    assert!(head.body.is_empty());
}

#[tokio::test]
async fn the_client_chooses_the_representation_and_each_has_its_own_etag() {
    let (_, memory) = Service::start().await.agent();
    let text_tag = memory.put(DOCUMENT).await.is(201).header("etag").to_owned();

    let json = memory.get_json("context").await.is(200);
    let body = json.json();
    assert_eq!(body["context"], DOCUMENT);
    assert_eq!(body["version"], 1);
    assert_ne!(json.header("etag"), text_tag);
    let markdown = memory
        .get_with("context", "Accept", "text/markdown, */*;q=0.1")
        .await
        .is(200);
    assert_eq!(markdown.header("content-type"), "text/markdown; charset=utf-8");
    let json_tag = json.header("etag");
    memory
        .requests(&format!(
            r#"
            GET context | Accept: image/png → 406 not-acceptable Accept
            GET context | Accept: */* | If-None-Match: {text_tag} → 304
            GET context | Accept: */* | If-None-Match: {json_tag} → 200
            GET context | Accept: application/json | If-None-Match: {json_tag} → 304
            GET context | Accept: application/json | If-None-Match: {text_tag} → 200
            GET context | If-None-Match: * → 304
            GET context | If-Match: "x" → 412 precondition-failed"#
        ))
        .await;
    let weak = format!("\"x\", W/{text_tag}");
    let unmodified = memory.get_with("context", "If-None-Match", &weak).await.is(304);
    assert!(unmodified.body.is_empty());
    assert_eq!(unmodified.header("etag"), text_tag);
}

#[tokio::test]
async fn a_section_is_selected_by_its_short_name_or_its_title() {
    let (_, memory) = Service::start().await.agent();
    let whole = memory.put(DOCUMENT).await.is(201).header("etag").to_owned();

    for name in ["learnings", "Key%20Learnings", "key+learnings"] {
        let section = memory.get(&format!("context?section={name}")).await.is(200);
        assert_eq!(
            section.text(),
            "# Key Learnings\n- KL-1 because a: insight\n\n",
            "{name}"
        );
        assert_ne!(section.header("etag"), whole);
    }
    assert_eq!(
        memory.get("context?section=facts").await.is(200).text(),
        "# Facts\nx\n"
    );
    let problem = memory
        .refuses("context?section=progress", 404, "not-found", Some("section"))
        .await;
    assert_eq!(
        problem["sections"],
        serde_json::json!(["Description", "Key Learnings", "Facts"])
    );
    memory.get("context?section=").await.invalid("section");
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
    let json = memory
        .get_json("context?section=facts&as_of=2026-11-21T02:00:00Z")
        .await;
    assert_eq!(json.is(200).json()["context"], "# Facts\n");
    let problem = memory
        .refuses("contexts/1?section=Facts/DNS", 404, "not-found", Some("section"))
        .await;
    assert_eq!(problem["sections"].as_array().unwrap().len(), 10, "{problem}");
    assert_eq!(problem["sections"][2], "Facts:/Network/DNS");
    memory.get("contexts/1?section=%20").await.invalid("section");
}

#[tokio::test]
async fn the_version_at_a_past_time_is_returned() {
    let (service, memory) = Service::start().await.agent();
    memory.write("one").await;
    service.clock.advance(Duration::from_secs(60));
    memory.write("two").await;

    memory
        .requests(
            "
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
            GET context?as_of= → 400 malformed as_of",
        )
        .await;
}
