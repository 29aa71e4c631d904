//! `GET …/raw`: the bytes of a document as text, of any version.

use super::document::start;
use crate::dashboard::excerpt::end_of_page;
use crate::dashboard::failure::Failure;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::http::responses::ContextBody;
use askama::Template;
use axum::extract::Path;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

#[derive(Template)]
#[template(path = "pages/raw.html")]
struct View {
    page: Page,
    version: i64,
    text: String,
    download: String,
    next: Option<String>,
    starts_at: usize,
}

/// Shows the text, or with `?download=1` sends it unchanged.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let reference = visit.param("ref");
    let ask = match reference {
        Some(reference) => visit.api.of_memory(&vault, &memory, &["contexts", reference]),
        None => visit.api.of_memory(&vault, &memory, &["context"]),
    };
    let ContextBody { version, context, .. } = ask.read().await?;
    let text = context.unwrap_or_default();
    if visit.param("download").is_some() {
        let headers = [
            (CONTENT_TYPE, "text/plain; charset=utf-8"),
            (CONTENT_DISPOSITION, "attachment; filename=\"document.md\""),
        ];
        return Ok((headers, text).into_response());
    }
    let from = start(&visit, &text)?;
    let end = from + end_of_page(&text[from..]);
    let tab = reference.map_or("Document", |_| "Timeline");
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, raw"))
            .in_memory(&vault, &memory, tab)
            .here(format!("raw version {version}")),
        version,
        next: (end < text.len()).then(|| visit.with(&[("from", Some(&end.to_string()))])),
        text: text[from..end].to_owned(),
        download: visit.with(&[("from", None), ("download", Some("1"))]),
        starts_at: from,
    })
}
