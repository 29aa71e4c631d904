//! `GET /v1/guidance`

use crate::harness::{Answer, Service};
use reqwest::Method;

#[tokio::test]
async fn the_guidance_describes_the_document_format_to_agents() {
    let service = Service::start().await;
    let answer = service.get("/v1/guidance").await.is(200);
    assert_eq!(answer.header("content-type"), "text/markdown; charset=utf-8");
    for section in [
        "Description",
        "Active Context",
        "Current Progress",
        "Progress",
        "Patterns",
        "Preferences",
        "Facts",
        "Timeline",
        "Decisions",
    ] {
        assert!(answer.text().contains(&format!("`# {section}`")), "{section}");
    }
    let again = service
        .request(Method::GET, "/v1/guidance")
        .header("If-None-Match", answer.header("etag"));
    Answer::to(again).await.is(304);
}
