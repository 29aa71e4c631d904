//! `GET …/updates/{update_id}`: one run: the prompts and answers of each role, the outcome, and its review.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::parts::{Escaped, Id, Markup, When, grouped, took};
use super::super::visit::Visit;
use super::data::{Exchange, MemoryEntry, Outcome, Run};
use super::diff::unified;
use crate::dashboard::pages::edit::explain;
use crate::domain::dsl;
use askama::Template;
use axum::extract::Path;
use axum::http::{Method, StatusCode, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Bytes of each text that are shown; the whole text can be downloaded.
const TEXT_BYTES: usize = 5_000;

#[derive(Template)]
#[template(path = "pages/run.html")]
struct View {
    page: Page,
    base: String,
    here: String,
    run: Run,
    outcome: Outcome,
    task: String,
    messages: usize,
    began: When,
    took: String,
    roles: Vec<Role>,
    diff: Markup,
    reviewed: Option<When>,
    head_id: String,
    once: String,
    decides: bool,
    cancels: bool,
}

/// The exchanges of one role.
struct Role {
    name: String,
    model: String,
    exchanges: Vec<Shown>,
}

struct Shown {
    place: usize,
    system: Text,
    turns: Vec<(String, Text)>,
    answer: Option<Text>,
    marked: Markup,
    faults: Vec<FaultShown>,
    stopped_at_limit: bool,
    error: Option<String>,
    numbers: String,
}

struct FaultShown {
    kind: &'static str,
    place: String,
    detail: String,
}

/// The beginning of a text.
struct Text {
    shown: String,
    more: usize,
}

impl Text {
    fn of(text: &str) -> Self {
        let end = text.floor_char_boundary(TEXT_BYTES.min(text.len()));
        Self {
            shown: text[..end].to_owned(),
            more: text.len() - end,
        }
    }
}

/// Shows the run; with `?exchange=` a whole exchange as text.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory, id)): Path<(String, String, String)>,
) -> Result<Response, Failure> {
    let place = ["vaults", &vault, "memories", &memory];
    let route = [&place[..], &["updates", &id]].concat();
    let (run, head) = futures::join!(
        visit.api.get(&route).read::<Run>(),
        visit.api.get(&place).find::<MemoryEntry>(),
    );
    let (mut run, head) = (run?, head?);
    let exchanges = run.exchanges.take().unwrap_or_default();
    if let Some(wanted) = visit.param("exchange") {
        let exchange = wanted.parse().ok().and_then(|place: usize| exchanges.get(place));
        let exchange = exchange
            .ok_or_else(|| Failure::with_status(StatusCode::NOT_FOUND, "The run has no such exchange."))?;
        return Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], whole(exchange)).into_response());
    }
    let outcome = run.outcome.take().unwrap_or_default();
    let is_proposed = run.status == "proposed";
    layout::render(&View {
        page: Page::of(&visit, format!("Run of {memory}"))
            .in_memory(&vault, &memory, "Updates")
            .crumb(Crumb::here(id.clone())),
        base: link::memory(&vault, &memory, &[]),
        here: link::memory(&vault, &memory, &["updates", &id]),
        task: run.task(),
        messages: run.request["messages"].as_array().map_or(0, Vec::len),
        began: When::new(run.created_at, visit.now),
        took: run.millis().map(took).unwrap_or_else(|| "goes on".to_owned()),
        roles: roles(exchanges),
        diff: Markup(unified(&outcome.diff).0),
        reviewed: outcome
            .review
            .as_ref()
            .map(|review| When::new(review.at, visit.now)),
        head_id: head.and_then(|head| head.context_id).unwrap_or_default(),
        once: visit.once(),
        decides: is_proposed && visit.may_write(),
        cancels: matches!(run.status.as_str(), "queued" | "running") && visit.may_write(),
        outcome,
        run,
    })
}

/// The exchanges by role, in the order in which the roles were first asked.
fn roles(exchanges: Vec<Exchange>) -> Vec<Role> {
    let mut roles: Vec<Role> = Vec::new();
    for (place, exchange) in exchanges.into_iter().enumerate() {
        let name = exchange.section.clone().unwrap_or_else(|| "model".to_owned());
        let model = exchange.model.clone().unwrap_or_default();
        let shown = Shown::of(place, &exchange);
        match roles.iter_mut().find(|role| role.name == name) {
            Some(role) => role.exchanges.push(shown),
            None => roles.push(Role {
                name,
                model,
                exchanges: vec![shown],
            }),
        }
    }
    roles
}

impl Shown {
    fn of(place: usize, exchange: &Exchange) -> Self {
        let answer = exchange.answer.as_deref().unwrap_or_default();
        let role = exchange.section.as_deref().and_then(|name| name.parse().ok());
        // Of JSON the ranges are places in its lists, and mark no text.
        let of_schema = role.and_then(|role| dsl::structured::read(role, answer));
        let (parsed, is_text) = match of_schema {
            Some((parsed, _)) => (parsed, false),
            None => (dsl::parse(answer), true),
        };
        let ranges: Vec<_> = match is_text {
            true => parsed.faults.iter().map(|fault| fault.range.clone()).collect(),
            false => Vec::new(),
        };
        let count =
            |name: &str, number: Option<i64>| number.map(|number| format!("{} {name}", grouped(number)));
        let numbers = [
            count("tokens in", exchange.input_tokens),
            count(
                "of them cached",
                exchange.cached_tokens.filter(|number| *number > 0),
            ),
            count("tokens out", exchange.output_tokens),
            exchange.millis.map(took),
            count("attempts", exchange.attempts.filter(|number| *number > 1)),
        ];
        Self {
            place,
            system: Text::of(&exchange.system),
            turns: exchange
                .messages
                .iter()
                .map(|turn| (turn.role.clone(), Text::of(&turn.content)))
                .collect(),
            marked: marked(answer, &ranges),
            answer: exchange.answer.as_deref().map(Text::of),
            faults: parsed
                .faults
                .iter()
                .map(|fault| FaultShown {
                    kind: fault.kind.name(),
                    place: match is_text {
                        true => format!("bytes {} to {}", fault.range.start, fault.range.end),
                        false => format!("item {}", fault.range.start),
                    },
                    detail: fault.detail.clone(),
                })
                .collect(),
            stopped_at_limit: exchange.stopped_at_limit,
            error: exchange.error.clone(),
            numbers: numbers.into_iter().flatten().collect::<Vec<_>>().join(" · "),
        }
    }
}

/// The beginning of an answer with its faults marked.
fn marked(answer: &str, ranges: &[std::ops::Range<usize>]) -> Markup {
    let end = answer.floor_char_boundary(TEXT_BYTES.min(answer.len()));
    let mut html = String::new();
    let mut at = 0;
    for range in ranges {
        let (from, to) = (range.start.clamp(at, end), range.end.clamp(at, end));
        if !answer.is_char_boundary(from) || !answer.is_char_boundary(to) || from >= to {
            continue;
        }
        html.push_str(&Escaped(&answer[at..from]).to_string());
        html.push_str("<mark>");
        html.push_str(&Escaped(&answer[from..to]).to_string());
        html.push_str("</mark>");
        at = to;
    }
    html.push_str(&Escaped(&answer[at..end]).to_string());
    Markup(html)
}

/// A whole exchange as text.
fn whole(exchange: &Exchange) -> String {
    let mut text = format!("=== system ===\n{}\n", exchange.system);
    for turn in &exchange.messages {
        text.push_str(&format!("\n=== {} ===\n{}\n", turn.role, turn.content));
    }
    let answer = exchange
        .answer
        .as_deref()
        .or(exchange.error.as_deref())
        .unwrap_or_default();
    text.push_str(&format!("\n=== answer ===\n{answer}\n"));
    text
}

/// `POST …/updates/{update_id}/approve`
pub(in crate::dashboard) async fn approve(
    Path((vault, memory, id)): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let numbers: Vec<u64> = form
        .all("operation")
        .filter_map(|number| number.parse().ok())
        .collect();
    let mut body = json!({ "operations": numbers });
    if let Some(comment) = form.get("comment") {
        body["comment"] = json!(comment);
    }
    let here = link::memory(&vault, &memory, &["updates", &id]);
    let ask = decision(&form, &vault, &memory, &id, "approve").json(&body);
    match ask.read::<Approved>().await {
        Ok(Approved { status }) if status == "unchanged" => {
            Ok(layout::done(&here, "approved-unchanged").into_response())
        }
        Ok(_) => Ok(layout::done(&here, "approved").into_response()),
        Err(failure) => explain(&form, (&vault, &memory), failure, "Approving the proposal", here).await,
    }
}

#[derive(serde::Deserialize)]
struct Approved {
    status: String,
}

/// `POST …/updates/{update_id}/reject`
pub(in crate::dashboard) async fn reject(
    Path((vault, memory, id)): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let here = link::memory(&vault, &memory, &["updates", &id]);
    let ask = decision(&form, &vault, &memory, &id, "reject").json(&json!({ "reason": form.text("reason") }));
    match ask.done().await {
        Ok(_) => Ok(layout::done(&here, "rejected").into_response()),
        Err(failure) => explain(&form, (&vault, &memory), failure, "Rejecting the proposal", here).await,
    }
}

fn decision(form: &Form, vault: &str, memory: &str, id: &str, what: &str) -> super::super::api::Ask {
    let ask = form
        .visit
        .api
        .post(&["vaults", vault, "memories", memory, "updates", id, what])
        .header("idempotency-key", format!("{}-{what}", form.text("once")));
    match form.get("if_match") {
        Some(head) => ask.if_match(head),
        // The proposal creates the memory, which does not exist yet.
        None => ask.header("if-none-match", "*"),
    }
}

/// `POST …/updates/{update_id}/cancel`
pub(in crate::dashboard) async fn cancel(
    Path((vault, memory, id)): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let route = ["vaults", &vault, "memories", &memory, "updates", &id];
    form.visit.api.ask(Method::DELETE, &route).done().await?;
    Ok(layout::done(&link::memory(&vault, &memory, &["updates", &id]), "cancelled").into_response())
}

impl View {
    fn id(&self) -> Id<'_> {
        Id(&self.run.update_id)
    }

    /// Whether operations can be selected.
    fn is_chosen_from(&self) -> bool {
        self.decides
            && self
                .outcome
                .operations
                .iter()
                .any(|operation| operation.number.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faulty_places_are_marked_and_nothing_of_an_answer_is_markup() {
        let shown = marked("a <b> c & d", &[2..5, 3..6, 20..30]).0;
        assert_eq!(shown, "a <mark>&lt;b&gt;</mark><mark> </mark>c &amp; d");
        assert_eq!(marked("äöü", std::slice::from_ref(&(1..3))).0, "äöü");
    }
}
