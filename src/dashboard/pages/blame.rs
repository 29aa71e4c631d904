//! `GET …/blame`: the origin of each line of a version.

use super::super::failure::Failure;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::parts::{Escaped, Markup, When};
use super::super::visit::Visit;
use super::data::{Blame, BlameLine};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use std::fmt::Write as _;

/// Bytes of HTML per page, and the maximum of one line.
const PAGE_BYTES: usize = 70_000;
const LINE_BYTES: usize = 4_000;

#[derive(Template)]
#[template(path = "pages/blame.html")]
struct View {
    page: Page,
    version: i64,
    rows: Markup,
    next: Option<String>,
    is_empty: bool,
}

/// Shows the newest version, or with `?ref=` another one.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let reference = visit.param("ref");
    let blame: Blame = visit
        .api
        .get(&["vaults", &vault, "memories", &memory, "blame"])
        .maybe("ref", reference)
        .read()
        .await?;
    let base = link::memory(&vault, &memory, &[]);
    let from: i64 = visit
        .param("line")
        .and_then(|line| line.parse().ok())
        .unwrap_or(1);
    let (rows, next) = rows(&blame.lines, from, &base, &visit);
    let path = format!("{base}/blame");
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, blame"))
            .in_memory(&vault, &memory, "Blame")
            .crumb(Crumb::here(format!("version {}", blame.version))),
        version: blame.version,
        is_empty: blame.lines.is_empty(),
        rows: Markup(rows),
        next: next
            .map(|line| link::with_query(&path, &[("ref", reference), ("line", Some(&line.to_string()))])),
    })
}

/// The lines from `from` on, and the first one that is not shown. Adjacent lines of the same version show their origin once.
/// Writing to a string cannot fail, so the result is ignored.
fn rows(lines: &[BlameLine], from: i64, base: &str, visit: &Visit) -> (String, Option<i64>) {
    let mut html = String::new();
    let mut before = None;
    for line in lines.iter().filter(|line| line.line >= from) {
        if html.len() > PAGE_BYTES {
            return (html, Some(line.line));
        }
        let number = line.line;
        let shown = line.text.floor_char_boundary(LINE_BYTES.min(line.text.len()));
        let text = Escaped(&line.text[..shown]);
        let cut = if shown < line.text.len() { "…" } else { "" };
        if before == Some(line.version) {
            let _ = write!(
                html,
                r#"<tr><td></td><td></td><td></td><td class="num muted">{number}</td><td class="l">{text}{cut}</td></tr>"#
            );
            continue;
        }
        before = Some(line.version);
        let version = line.version;
        let actor = Escaped(line.actor_id.as_deref().unwrap_or("no longer stored"));
        let when = line
            .creation_time
            .map(|time| When::new(time, visit.now).to_string())
            .unwrap_or_default();
        let _ = write!(
            html,
            r#"<tr class="begin"><td class="num"><a href="{base}/versions/{version}">{version}</a></td><td><bdi>{actor}</bdi></td><td class="small">{when}</td><td class="num muted">{number}</td><td class="l">{text}{cut}</td></tr>"#,
            base = Escaped(base),
        );
    }
    (html, None)
}
