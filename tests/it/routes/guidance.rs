//! `GET /v1/guidance`

use crate::harness::Service;

const SECTIONS: &str =
    "Description, Active Context, Progress, Patterns, Preferences, Facts, Timeline, Decisions";

#[tokio::test]
async fn the_guidance_is_short_names_the_eight_sections_in_order_and_has_a_page_of_managed_ones() {
    let table = r#"
        GET /v1/guidance?page=managed → 200 ~`# Current Progress` ⇒ managed=etag
        GET /v1/guidance?page=managed → 200 ~make up an id
        GET /v1/guidance?page=managed → 200 ~is archived
        GET /v1/guidance?page=managed → 200 ~memory_edit
        GET /v1/guidance?page=document | If-None-Match: $managed → 200
        GET /v1/guidance?page=other → 422 invalid page
        GET /v1/guidance → 200 ⇒ tag=etag
        GET /v1/guidance | If-None-Match: $tag → 304
        GET /v1/guidance → 200 | content-type: text/markdown; charset=utf-8"#;
    let answer = Service::start().await.requests(table).await;
    let words = answer.text().split_whitespace().count();
    assert!(words <= 200, "{words} words with the example");
    let named = answer.text().lines().filter_map(|line| {
        let (section, _) = line.strip_prefix("- `# ")?.split_once("`:")?;
        Some(section)
    });
    assert_eq!(named.collect::<Vec<_>>().join(", "), SECTIONS);
}
