//! `GET …/diff?base=&to=`: the difference of two versions, unified or side by side; without parameters that of the newest version.

use super::with_document;
use crate::dashboard::difference::{Difference, Row};
use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::http::responses::DiffBody;
use askama::Template;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};

#[derive(Template)]
#[template(path = "pages/diff.html")]
struct View {
    page: Page,
    from: String,
    to: String,
    diff: DiffBody,
    difference: Difference,
    /// The same in two columns.
    sides: Option<Vec<Row>>,
    /// The path of the other form, and that of the text.
    other: String,
    download: String,
}

/// Shows the diff; with `?download=1` as text.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let head = with_document(&visit, &vault, &memory).await?;
    let version = |name, default: i64| {
        visit
            .param(name)
            .map_or_else(|| default.to_string(), str::to_owned)
    };
    let to = version("to", head.version);
    let from = version("base", (head.version - 1).max(1));
    let ask = visit.api.of_memory(&vault, &memory, &["contexts", &to, "diff"]);
    let diff: DiffBody = ask.query("base", &from).read().await?;
    if visit.param("download").is_some() {
        return Ok(diff.diff.into_response());
    }
    let difference = Difference::of(&diff.diff);
    let is_sides = visit.param("view") == Some("sides");
    let link = |name, value| visit.with(&[("base", Some(&from)), ("to", Some(&to)), (name, Some(value))]);
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, diff"))
            .in_memory(&vault, &memory, "Diff")
            .here(format!("version {from} to {to}")),
        other: link("view", if is_sides { "unified" } else { "sides" }),
        download: link("download", "1"),
        from,
        to,
        sides: is_sides.then(|| difference.beside()),
        difference,
        diff,
    })
}
