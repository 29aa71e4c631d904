//! `GET …/updates/{update_id}`: one run: the prompts and answers of each role, the outcome, and its review.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::parts::{Escaped, Id, Markup, When, grouped, took};
use super::super::visit::Visit;
use super::data::{Evidence, Exchange, MemoryEntry, Outcome, Run};
use super::diff::unified;
use crate::domain::dsl;
use askama::Template;
use axum::extract::Path;
use axum::http::{Method, StatusCode, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ops::Range;

/// Bytes of a text that are shown before and between its marks.
const TEXT_BYTES: usize = 5_000;

/// The same of a message that nothing quotes.
const MESSAGE_BYTES: usize = 500;

/// Bytes before a mark that are always shown.
const BYTES_BEFORE: usize = 300;

#[derive(Template)]
#[template(path = "pages/run.html")]
struct View {
    page: Page,
    base: String,
    here: String,
    run: Run,
    outcome: Outcome,
    task: String,
    inputs: Vec<Input>,
    began: When,
    took: String,
    roles: Vec<Role>,
    diff: Markup,
    reviewed: Option<When>,
    head_id: String,
    decides: bool,
    cancels: bool,
}

/// The exchanges of one role.
struct Role {
    name: String,
    model: String,
    exchanges: Vec<Shown>,
}

/// The task or a message that the run was given, with the passages that its operations quote.
struct Input {
    id: String,
    label: String,
    text: Markup,
}

struct Shown {
    place: usize,
    system: Markup,
    turns: Vec<(String, Markup)>,
    answer: Option<Markup>,
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
        inputs: inputs(&run.request, &outcome),
        began: When::new(run.created_at, visit.now),
        took: run.millis().map(took).unwrap_or_else(|| "goes on".to_owned()),
        roles: roles(exchanges),
        diff: Markup(unified(&outcome.diff).0),
        reviewed: outcome
            .review
            .as_ref()
            .map(|review| When::new(review.at, visit.now)),
        head_id: head.and_then(|head| head.context_id).unwrap_or_default(),
        decides: is_proposed && visit.may_write(),
        cancels: matches!(run.status.as_str(), "queued" | "running") && visit.may_write(),
        outcome,
        run,
    })
}

/// What the run was given.
fn inputs(request: &Value, outcome: &Outcome) -> Vec<Input> {
    let quoted: Vec<&Evidence> = outcome
        .operations
        .iter()
        .flat_map(|operation| &operation.evidence)
        .collect();
    let input = |id: String, label: String, text: &str| {
        let mut ranges: Vec<_> = quoted
            .iter()
            .filter(|passage| passage.text_id() == id)
            .map(|passage| passage.start..passage.end)
            .collect();
        ranges.sort_by_key(|range| range.start);
        let most = if ranges.is_empty() {
            MESSAGE_BYTES
        } else {
            TEXT_BYTES
        };
        Input {
            text: marked(text, &ranges, most, &id),
            id,
            label,
        }
    };
    let task = request["task"]
        .as_str()
        .map(|task| input("task".to_owned(), "Task".to_owned(), task));
    let messages = request["messages"].as_array().into_iter().flatten().zip(1..);
    let messages = messages.map(|(message, number)| {
        let role = message["role"].as_str().unwrap_or_default();
        let text = message["content"].as_str().unwrap_or_default();
        input(
            format!("message-{number}"),
            format!("Message {number}, {role}"),
            text,
        )
    });
    task.into_iter().chain(messages).collect()
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
            system: marked(&exchange.system, &[], TEXT_BYTES, ""),
            turns: exchange
                .messages
                .iter()
                .map(|turn| (turn.role.clone(), marked(&turn.content, &[], TEXT_BYTES, "")))
                .collect(),
            answer: exchange
                .answer
                .as_deref()
                .map(|answer| marked(answer, &ranges, TEXT_BYTES, "")),
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

/// A text with these ranges marked; what is longer than `most` before, between and behind them is cut. The marks have ids if
/// `id` is not empty.
fn marked(text: &str, ranges: &[Range<usize>], most: usize, id: &str) -> Markup {
    let mut html = String::new();
    let mut at = 0;
    for range in ranges {
        let (from, to) = (range.start.max(at), range.end);
        let Some(marked) = text.get(from..to).filter(|marked| !marked.is_empty()) else {
            continue;
        };
        cut(&mut html, &text[at..from], most, BYTES_BEFORE);
        let mark_id = match id {
            "" => String::new(),
            id => format!(r#" id="{id}-at-{}""#, range.start),
        };
        html.push_str(&format!("<mark{mark_id}>{}</mark>", Escaped(marked)));
        at = to;
    }
    cut(&mut html, &text[at..], most, 0);
    Markup(html)
}

/// The first `most` and the last `least` bytes of a text.
fn cut(html: &mut String, text: &str, most: usize, least: usize) {
    let head = text.floor_char_boundary(most.min(text.len()));
    let tail = text.ceil_char_boundary(text.len().saturating_sub(least));
    if tail <= head {
        html.push_str(&Escaped(text).to_string());
        return;
    }
    let omitted = grouped((tail - head) as i64);
    let (head, tail) = (Escaped(&text[..head]), Escaped(&text[tail..]));
    html.push_str(&format!(
        r#"{head}<span class="muted">[{omitted} bytes are not shown]</span>{tail}"#
    ));
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
    Path(path): Path<(String, String, String)>,
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
    decide(path, form, "approve", &body).await
}

/// `POST …/updates/{update_id}/reject`
pub(in crate::dashboard) async fn reject(
    Path(path): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let body = json!({ "reason": form.text("reason") });
    decide(path, form, "reject", &body).await
}

#[derive(Deserialize)]
struct Decided {
    status: String,
}

async fn decide(
    path: (String, String, String),
    form: Form,
    what: &str,
    body: &Value,
) -> Result<Response, Failure> {
    let (vault, memory, id) = &path;
    let route = ["vaults", vault, "memories", memory, "updates", id, what];
    match form.ask(Method::POST, &route).json(body).read::<Decided>().await {
        Ok(Decided { status }) => {
            let done = match (what, status.as_str()) {
                ("approve", "unchanged") => "approved-unchanged",
                ("approve", _) => "approved",
                _ => "rejected",
            };
            Ok(layout::done(&link::memory(vault, memory, &["updates", id]), done).into_response())
        }
        Err(failure) => form.again(failure, |visit| show(visit, Path(path))).await,
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

    /// Whether an operation is selected: all of them, until somebody chose others.
    fn is_chosen(&self, number: &u64) -> bool {
        let refused = self.page.refused_in("approve");
        refused.is_none_or(|refused| {
            refused
                .all("operation")
                .any(|chosen| chosen == number.to_string())
        })
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
    fn passages_are_marked_and_nothing_of_a_text_is_markup() {
        let shown = marked("a <b> c & d", &[2..5, 3..6, 20..30], TEXT_BYTES, "").0;
        assert_eq!(shown, "a <mark>&lt;b&gt;</mark><mark> </mark>c &amp; d");
        assert_eq!(
            marked("äöü", std::slice::from_ref(&(1..3)), TEXT_BYTES, "").0,
            "äöü"
        );
        assert_eq!(
            marked("ab", std::slice::from_ref(&(1..2)), TEXT_BYTES, "task").0,
            r#"a<mark id="task-at-1">b</mark>"#
        );
    }

    #[test]
    fn a_passage_far_behind_the_beginning_is_shown_with_what_stands_before_it() {
        let text = format!("begin {} before here {}", "ñ".repeat(9_000), "x".repeat(9_000));
        let at = text.find("here").unwrap();
        let shown = marked(&text, std::slice::from_ref(&(at..at + 4)), 100, "message-1").0;
        assert!(shown.starts_with("begin ñ") && shown.len() < 2_000, "{shown}");
        assert!(shown.contains(r#"before <mark id="message-1-at-"#), "{shown}");
        assert!(shown.ends_with("bytes are not shown]</span>"), "{shown}");
    }
}
