//! `GET …/blame`: the origin of each line of the newest version, or with `?ref=` of another one.

use crate::dashboard::excerpt::{fitting, weight};
use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::http::responses::{BlameBody, BlameLine};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;

#[derive(Template)]
#[template(path = "pages/blame.html")]
struct View {
    page: Page,
    version: i64,
    /// Lines of the same version that follow each other.
    blocks: Vec<Vec<BlameLine<'static>>>,
    next: Option<String>,
}

/// Shows the lines, or with `?line=` those from this one on.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let ask = visit.api.of_memory(&vault, &memory, &["blame"]);
    let BlameBody { version, lines, .. } = ask.maybe("ref", visit.param("ref")).read().await?;
    let first = visit.number("line").unwrap_or(1);
    let lines = lines.into_iter().filter(|line| line.line >= first);
    let (lines, next) = fitting(lines, |line| weight(&line.text));
    let mut blocks: Vec<Vec<BlameLine<'_>>> = Vec::new();
    for line in lines {
        match blocks.last_mut() {
            Some(block) if block[0].version == line.version => block.push(line),
            _ => blocks.push(vec![line]),
        }
    }
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, blame"))
            .in_memory(&vault, &memory, "Blame")
            .here(format!("version {version}")),
        version,
        blocks,
        next: next.map(|next| visit.with(&[("line", Some(&next.line.to_string()))])),
    })
}
