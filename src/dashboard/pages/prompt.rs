//! `GET …/prompt`: the assembled prompt, with the tokens of each part and what a budget drops.

use super::super::failure::{Failure, Refusal};
use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::{Escaped, Markup, grouped};
use super::super::visit::Visit;
use super::data::{Dropped, Prompt};
use askama::Template;
use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use std::fmt::Write as _;

/// Parts at the beginning that rarely change: while they are equal, a provider's cache is valid.
const STABLE: [&str; 3] = ["rules", "user_information", "tool_guidance"];

/// The number of colours; further parts reuse them.
const COLOURS: usize = 8;

/// Bytes of the prompt that are shown.
const TEXT_BYTES: usize = 40_000;

#[derive(Template)]
#[template(path = "pages/prompt.html")]
struct View {
    page: Page,
    here: String,
    asked: Asked,
    refusal: Option<Refusal>,
    tokens: String,
    version: Option<i64>,
    prefix_hash: String,
    prefix_tokens: String,
    bar: Markup,
    parts: Vec<Part>,
    dropped: Vec<Dropped>,
    text: String,
    more: usize,
    download: String,
}

/// The requested parameters.
struct Asked {
    max_tokens: String,
    include: String,
    exclude: String,
    query: String,
    timezone: String,
}

struct Part {
    name: String,
    source: String,
    tokens: String,
    share: String,
    colour: usize,
    items: usize,
    records: usize,
    is_stable: bool,
}

/// Shows the prompt; with `?download=1` as text.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let mut ask = visit.api.get(&["vaults", &vault, "memories", &memory, "prompt"]);
    for name in ["max_tokens", "include", "exclude", "query", "timezone"] {
        ask = ask.maybe(name, visit.param(name));
    }
    let (prompt, refusal) = match ask.read::<Prompt>().await {
        Ok(prompt) => (prompt, None),
        // The entered values are shown again, so that they can be corrected.
        Err(Failure::Refused(status, refusal)) if status.as_u16() == 422 => {
            (Prompt::default(), Some(*refusal))
        }
        Err(failure) => return Err(failure),
    };
    if visit.param("download").is_some() {
        return Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], prompt.text).into_response());
    }
    let all = prompt.tokens.max(1) as f64;
    let parts: Vec<Part> = prompt
        .parts
        .iter()
        .enumerate()
        .map(|(place, part)| Part {
            name: part.name.clone(),
            source: part.source.clone(),
            tokens: grouped(part.tokens),
            share: format!("{:.1} %", part.tokens as f64 / all * 100.0),
            colour: place % COLOURS,
            items: part.items.len(),
            records: part.records.len(),
            is_stable: STABLE.contains(&part.name.as_str()),
        })
        .collect();
    let stable = prompt
        .parts
        .iter()
        .filter(|part| STABLE.contains(&part.name.as_str()));
    let asked = |name| visit.param(name).unwrap_or_default().to_owned();
    let end = prompt.text.floor_char_boundary(TEXT_BYTES.min(prompt.text.len()));
    let here = link::memory(&vault, &memory, &["prompt"]);
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, prompt")).in_memory(&vault, &memory, "Prompt"),
        asked: Asked {
            max_tokens: asked("max_tokens"),
            include: asked("include"),
            exclude: asked("exclude"),
            query: asked("query"),
            timezone: asked("timezone"),
        },
        refusal,
        bar: bar(&prompt),
        tokens: grouped(prompt.tokens),
        version: prompt.version,
        prefix_tokens: grouped(stable.map(|part| part.tokens).sum()),
        prefix_hash: prompt.prefix_hash,
        parts,
        dropped: prompt.dropped,
        text: prompt.text[..end].to_owned(),
        more: prompt.text.len() - end,
        download: link::with_query(
            &here,
            &[("max_tokens", visit.param("max_tokens")), ("download", Some("1"))],
        ),
        here,
    })
}

/// The parts in a row, with widths proportional to their tokens. Writing to a string cannot fail, so the result is
/// ignored.
fn bar(prompt: &Prompt) -> Markup {
    let all = prompt.tokens.max(1) as f64;
    let mut svg = format!(
        r#"<svg class="stack-bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{} tokens in {} parts; the table below tells them">"#,
        grouped(prompt.tokens),
        prompt.parts.len()
    );
    let mut at = 0.0;
    for (place, part) in prompt.parts.iter().enumerate() {
        let width = part.tokens as f64 / all * 100.0;
        let _ = write!(
            svg,
            r#"<rect class="f{}" x="{at:.3}" y="0" width="{width:.3}" height="10"><title>{}: {} tokens</title></rect>"#,
            place % COLOURS,
            Escaped(&part.name),
            grouped(part.tokens),
        );
        at += width;
    }
    svg.push_str("</svg>");
    Markup(svg)
}
