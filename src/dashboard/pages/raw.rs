//! `GET …/raw`: the bytes of a document as text, of any version.

use super::super::failure::Failure;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::visit::Visit;
use super::data::Context;
use super::document::start;
use askama::Template;
use axum::extract::Path;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// Bytes of a document per page; each may become several bytes of HTML.
const PAGE_BYTES: usize = 60_000;

#[derive(Template)]
#[template(path = "pages/raw.html")]
struct View {
    page: Page,
    version: i64,
    text: String,
    download: String,
    rendered: String,
    next: Option<String>,
    starts_at: usize,
}

/// Shows the text, or with `?download=1` sends it unchanged.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let mut route = vec!["vaults", &vault, "memories", &memory];
    let reference = visit.param("ref");
    match reference {
        Some(reference) => route.extend(["contexts", reference]),
        None => route.push("context"),
    }
    let context: Context = visit.api.get(&route).read().await?;
    if visit.param("download").is_some() {
        let headers = [
            (CONTENT_TYPE, "text/plain; charset=utf-8"),
            (CONTENT_DISPOSITION, "attachment; filename=\"document.md\""),
        ];
        return Ok((headers, context.context).into_response());
    }
    let from = start(&visit, &context.context)?;
    let rest = &context.context[from..];
    let shown = &rest[..end_of_page(rest)];
    let here = link::memory(&vault, &memory, &["raw"]);
    let with = |name, value: &str| link::with_query(&here, &[("ref", reference), (name, Some(value))]);
    let end = from + shown.len();
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, raw"))
            .in_memory(
                &vault,
                &memory,
                if reference.is_some() {
                    "Timeline"
                } else {
                    "Document"
                },
            )
            .crumb(Crumb::here(format!("raw version {}", context.version))),
        version: context.version,
        next: (end < context.context.len()).then(|| with("from", &end.to_string())),
        text: shown.to_owned(),
        download: with("download", "1"),
        rendered: link::memory(&vault, &memory, &["versions", &context.version.to_string()]),
        starts_at: from,
    })
}

/// The end of a page: whole lines if they are short enough, counted in bytes of HTML.
fn end_of_page(text: &str) -> usize {
    let mut weight = 0;
    let mut end_of_line = None;
    for (at, character) in text.char_indices() {
        weight += match character {
            '<' | '>' | '&' | '"' | '\'' => 5,
            other => other.len_utf8(),
        };
        if weight > PAGE_BYTES {
            return end_of_line.unwrap_or(at);
        }
        if character == '\n' {
            end_of_line = Some(at + 1);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_with_a_line_or_within_a_long_one() {
        assert_eq!(end_of_page("a\nb"), 3);
        let lines = "0123456789\n".repeat(10_000);
        assert_eq!(end_of_page(&lines) % 11, 0);
        assert!(end_of_page(&lines) > PAGE_BYTES / 2);
        let line = "ä".repeat(100_000);
        assert!(line.is_char_boundary(end_of_page(&line)) && end_of_page(&line) <= PAGE_BYTES);
        assert!(end_of_page(&"<".repeat(100_000)) <= PAGE_BYTES / 5);
    }
}
