//! `GET …/prompt`: the assembled prompt, with the tokens of each part and what a budget drops.

use crate::dashboard::failure::{Failure, Refusal};
use crate::dashboard::filters;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::http::responses::{PartBody, Receipt};
use askama::Template;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};

/// The parameters of the page.
const PARAMETERS: [&str; 5] = ["max_tokens", "include", "exclude", "query", "timezone"];

/// Parts at the beginning that rarely change: while they are equal, a provider's cache is valid.
const STABLE: [&str; 3] = ["rules", "user_information", "tool_guidance"];

#[derive(Template)]
#[template(path = "pages/prompt.html")]
struct View {
    page: Page,
    /// The requested parameters.
    asked: [String; 5],
    prompt: Result<Receipt, Refusal>,
    download: String,
}

/// Shows the prompt; with `?download=1` as text.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let mut ask = visit.api.of_memory(&vault, &memory, &["prompt"]);
    for name in PARAMETERS {
        ask = ask.maybe(name, visit.param(name));
    }
    let prompt = match ask.read::<Receipt>().await {
        Ok(prompt) if visit.param("download").is_some() => return Ok(prompt.text.into_response()),
        Ok(prompt) => Ok(prompt),
        // The entered values are shown again, so that they can be corrected.
        Err(Failure::Refused(status, refusal)) if status.as_u16() == 422 => Err(*refusal),
        Err(failure) => return Err(failure),
    };
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, prompt")).in_memory(&vault, &memory, "Prompt"),
        asked: PARAMETERS.map(|name| visit.param(name).unwrap_or_default().to_owned()),
        prompt,
        download: visit.with(&[("download", Some("1"))]),
    })
}

fn is_stable(part: &PartBody) -> bool {
    STABLE.contains(&part.name.as_str())
}

/// The tokens of the parts that rarely change.
fn stable_tokens(prompt: &Receipt) -> usize {
    let stable = prompt.parts.iter().filter(|part| is_stable(part));
    stable.map(|part| part.tokens).sum()
}

/// The tokens before a part, and in it, in percent of all.
fn shares(prompt: &Receipt) -> Vec<(f64, f64)> {
    let percent = |tokens: usize| tokens as f64 / prompt.tokens.max(1) as f64 * 100.0;
    let mut before = 0;
    let share = |part: &PartBody| {
        let share = (percent(before), percent(part.tokens));
        before += part.tokens;
        share
    };
    prompt.parts.iter().map(share).collect()
}
