//! `GET /v1/guidance`

use crate::harness::{Answer, Service};
use reqwest::Method;

const SECTIONS: [&str; 8] = [
    "Description",
    "Active Context",
    "Progress",
    "Patterns",
    "Preferences",
    "Facts",
    "Timeline",
    "Decisions",
];

#[tokio::test]
async fn the_guidance_is_short_and_names_the_eight_sections_in_order() {
    let service = Service::start().await;
    let answer = service.get("/v1/guidance").await.is(200);
    assert_eq!(answer.header("content-type"), "text/markdown; charset=utf-8");
    let words = answer.text().split_whitespace().count();
    assert!(words <= 200, "{words} words with the example");
    let named: Vec<&str> = answer
        .text()
        .lines()
        .filter_map(|line| line.strip_prefix("- `# ")?.split_once("`:"))
        .map(|(section, _)| section)
        .collect();
    assert_eq!(named, SECTIONS);
    let again = service
        .request(Method::GET, "/v1/guidance")
        .header("If-None-Match", answer.header("etag"));
    Answer::to(again).await.is(304);
}

#[tokio::test]
async fn a_further_page_has_the_rules_for_ids_and_managed_sections() {
    let service = Service::start().await;
    let page = service.get("/v1/guidance?page=managed").await.is(200);
    for rule in [
        "`# Current Progress`",
        "make up an id",
        "is archived",
        "memory_edit",
    ] {
        assert!(page.text().contains(rule), "{rule}");
    }
    let first = service.get("/v1/guidance?page=document").await.is(200);
    assert_ne!(first.header("etag"), page.header("etag"));
    service.get("/v1/guidance?page=other").await.invalid("page");
}
