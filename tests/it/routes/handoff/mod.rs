//! `M/handoff` and `M/handoffs`.

mod concurrent;
mod hostile;
mod laws;
mod life;
mod model;
mod requests;

use crate::harness::{Answer, Memory, Service};
use reqwest::Method;
use serde_json::Value;

/// POST a refresh with a query and perhaps a body.
async fn refresh(memory: &Memory, query: &str, body: Option<Value>) -> Answer {
    let request = memory.request(Method::POST, &format!("handoff/refresh{query}"));
    Answer::to(match body {
        Some(body) => request.json(&body),
        None => request,
    })
    .await
}

/// The lines of a section.
fn section<'m>(markdown: &'m str, title: &str) -> Vec<&'m str> {
    let (_, behind) = markdown.split_once(&format!("\n## {title}\n")).unwrap();
    behind
        .split("\n## ")
        .next()
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("- "))
        .collect()
}

/// Marks a decision as replaced, as `RecordDecision` with `supersedes` does.
async fn supersede(service: &Service, old: i64, by: &str) {
    let replaced = "kind = 'D' AND status = 'archived'";
    service
        .execute(format!(
            "UPDATE records SET superseded_by = '{by}' WHERE {replaced} AND number = {old}"
        ))
        .await;
}
