//! `GET …/handoff`: the newest handoff with the freshness of each line, and `POST …/handoff` to refresh it.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::{Escaped, Markup, When};
use super::super::visit::Visit;
use super::data::{Handoff, MemoryEntry, StaleLine};
use crate::domain::handoff::Window;
use askama::Template;
use axum::extract::Path;
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Bytes of HTML after which the lines are cut; all of them can be read as text.
const PAGE_BYTES: usize = 80_000;

#[derive(Template)]
#[template(path = "pages/handoff.html")]
struct View {
    page: Page,
    here: String,
    base: String,
    handoff: Option<Handoff>,
    made: Option<When>,
    /// How far back it looks, in words.
    looks_back: String,
    tone: &'static str,
    rows: Markup,
    is_cut: bool,
    can_write: bool,
}

/// Shows the handoff.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let place = ["vaults", &vault, "memories", &memory];
    // A memory that does not exist, or has no document, has no handoff either, and has its own failure.
    let entry: MemoryEntry = visit.api.get(&place).read().await?;
    entry.with_document()?;
    let handoff: Option<Handoff> = visit.api.get(&[&place[..], &["handoff"]].concat()).find().await?;
    let base = link::memory(&vault, &memory, &[]);
    let (rows, is_cut) = handoff
        .as_ref()
        .map(|handoff| rows(&handoff.markdown, &handoff.freshness.stale_lines, &base))
        .unwrap_or_default();
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, handoff"))
            .in_memory(&vault, &memory, "Handoff")
            .live(&vault, Some(&memory)),
        here: link::memory(&vault, &memory, &["handoff"]),
        made: handoff
            .as_ref()
            .map(|handoff| When::new(handoff.generated_at, visit.now)),
        looks_back: handoff
            .as_ref()
            .and_then(|handoff| handoff.window.parse().ok())
            .map(Window::in_words)
            .unwrap_or_default(),
        tone: match handoff.as_ref().map(|handoff| handoff.freshness.status.as_str()) {
            Some("fresh") => "good",
            _ => "warn",
        },
        rows: Markup(rows),
        is_cut,
        can_write: visit.may_write(),
        handoff,
        base,
    })
}

/// Each line, and whether its citations are still valid. Writing to a string cannot fail, so the result is
/// ignored.
fn rows(markdown: &str, stale: &[StaleLine], base: &str) -> (String, bool) {
    let stale: HashMap<usize, &StaleLine> = stale.iter().map(|line| (line.line, line)).collect();
    let mut html = String::new();
    for (number, line) in (1..).zip(markdown.lines()) {
        if html.len() > PAGE_BYTES {
            return (html, true);
        }
        if line.trim().is_empty() {
            continue;
        }
        let state = match stale.get(&number) {
            Some(found) => format!(
                r#"<span class="tag bad">✗ {}</span> <span class="small muted">{}</span>"#,
                Escaped(&found.reason.replace('_', " ")),
                Escaped(&found.citation)
            ),
            None if line.contains('@') && line.trim_end().ends_with([']', ')']) => {
                r#"<span class="tag good">✓ valid</span>"#.to_owned()
            }
            None => String::new(),
        };
        let (open, close) = if line.starts_with('#') {
            ("<strong>", "</strong>")
        } else {
            ("", "")
        };
        let text = with_links(line.trim_start_matches('#').trim_start(), base);
        let _ = write!(
            html,
            r#"<tr><td class="num muted">{number}</td><td class="free">{open}{text}{close}</td><td>{state}</td></tr>"#
        );
    }
    (html, false)
}

/// A line with its citations of records as links: `[KL-3@12]`.
fn with_links(line: &str, base: &str) -> String {
    let mut html = String::new();
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        let (before, tail) = rest.split_at(open);
        html.push_str(&Escaped(before).to_string());
        let cited = tail[1..].split_once(']').and_then(|(inside, after)| {
            let (id, version) = inside.split_once('@')?;
            let is_id = id.parse::<crate::domain::ids::RecordId>().is_ok();
            (is_id && !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()))
                .then_some((id, inside, after))
        });
        match cited {
            Some((id, inside, after)) => {
                let _ = write!(
                    html,
                    r#"[<a href="{}/records/{id}">{}</a>]"#,
                    Escaped(base),
                    Escaped(inside)
                );
                rest = after;
            }
            None => {
                html.push('[');
                rest = &tail[1..];
            }
        }
    }
    html.push_str(&Escaped(rest).to_string());
    html
}

/// Refreshes the handoff.
pub(in crate::dashboard) async fn refresh(
    Path(path): Path<(String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let (vault, memory) = &path;
    let route = ["vaults", vault, "memories", memory, "handoff", "refresh"];
    let ask = form.ask(Method::POST, &route).query("force", "true");
    match ask.json(&json!({})).done().await {
        Ok(_) => Ok(layout::done(&link::memory(vault, memory, &["handoff"]), "refreshed").into_response()),
        Err(failure) => form.again(failure, |visit| show(visit, Path(path))).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_links_and_all_else_is_text() {
        let shown = with_links("<b> [KL-3@12] [x](y) [KL-1@] [D-2@4", "/ui/v");
        assert_eq!(
            shown,
            "&lt;b&gt; [<a href=\"/ui/v/records/KL-3\">KL-3@12</a>] [x](y) [KL-1@] [D-2@4"
        );
    }
}
