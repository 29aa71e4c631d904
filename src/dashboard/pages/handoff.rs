//! `GET …/handoff`: the newest handoff with the freshness of each line, and `POST …/handoff` to refresh it.

use super::with_document;
use crate::dashboard::excerpt::{fitting, weight};
use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::form::Form;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::domain::handoff::{StaleLine, Window};
use crate::domain::ids::RecordId;
use crate::http::responses::HandoffBody;
use askama::Template;
use axum::http::Method;
use axum::response::Response;
use serde_json::{Value, json};

#[derive(Template)]
#[template(path = "pages/handoff.html")]
struct View {
    page: Page,
    handoff: Option<HandoffBody>,
    lines: Vec<Line>,
    is_cut: bool,
}

/// A line, and whether its citations are still valid.
struct Line {
    number: usize,
    is_heading: bool,
    /// Its text, and with it the record that it cites, if it is a citation.
    parts: Vec<(String, Option<String>)>,
    has_citations: bool,
    stale: Option<StaleLine>,
}

/// Shows the handoff.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    // A memory that does not exist, or has no document, has no handoff either, and has its own failure.
    with_document(&visit).await?;
    let handoff: Option<HandoffBody> = visit.of_memory(&["handoff"]).find().await?;
    let lines = handoff.iter().flat_map(|handoff| {
        let lines = (1..).zip(handoff.markdown.lines());
        let lines = lines.filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(number, line)| Line::of(number, line, &handoff.freshness.stale_lines))
    });
    let (lines, next) = fitting(lines, |line| {
        line.parts.iter().map(|(text, _)| weight(text)).sum()
    });
    layout::render(&View {
        page: Page::of_memory(&visit, format!("{}, handoff", visit.memory()), "Handoff"),
        is_cut: next.is_some(),
        lines,
        handoff,
    })
}

impl Line {
    fn of(number: usize, line: &str, stale: &[StaleLine]) -> Self {
        Self {
            number,
            is_heading: line.starts_with('#'),
            parts: parts(line.trim_start_matches('#').trim_start()),
            has_citations: line.contains('@') && line.trim_end().ends_with([']', ')']),
            stale: stale.iter().find(|stale| stale.line == number).cloned(),
        }
    }
}

/// The text of a line, cut at its citations of records: `[KL-3@12]`.
fn parts(line: &str) -> Vec<(String, Option<String>)> {
    let mut parts: Vec<(String, Option<String>)> = Vec::new();
    for piece in line.split_inclusive(['[', ']']) {
        let cited = piece.strip_suffix(']').and_then(|inside| {
            let (id, version) = inside.split_once('@')?;
            let is_version = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
            (id.parse::<RecordId>().is_ok() && is_version).then_some((inside, id))
        });
        match (cited, parts.last_mut()) {
            (Some((inside, id)), Some((before, None))) if before.ends_with('[') => {
                parts.push((inside.to_owned(), Some(id.to_owned())));
                parts.push(("]".to_owned(), None));
            }
            (_, Some((before, None))) => before.push_str(piece),
            _ => parts.push((piece.to_owned(), None)),
        }
    }
    parts
}

impl View {
    /// How far back the handoff looks, in words.
    fn looks_back(&self, handoff: &HandoffBody) -> String {
        let window: Option<Window> = handoff.head.window.parse().ok();
        window.map(Window::in_words).unwrap_or_default()
    }
}

/// Refreshes the handoff.
pub(in crate::dashboard) async fn refresh(form: Form) -> Result<Response, Failure> {
    let ask = form
        .of_memory(Method::POST, &["handoff", "refresh"])?
        .query("force", "true")
        .json(&json!({}));
    form.send(Ok(ask), show, |visit, _: Value| {
        Ok(layout::done(&visit.link(&["handoff"]), "refreshed"))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_links_and_all_else_is_text() {
        let parts = parts("<b> [KL-3@12] [x](y) [KL-1@] [D-2@4");
        let (links, texts): (Vec<_>, Vec<_>) = parts.iter().partition(|(_, id)| id.is_some());
        assert_eq!(links, [&("KL-3@12".to_owned(), Some("KL-3".to_owned()))]);
        let texts: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts, ["<b> [", "] [x](y) [KL-1@] [D-2@4"]);
    }
}
