//! `GET …/updates/{update_id}`: one run: the prompts and answers of each role, the outcome, and its review.

use crate::dashboard::difference::Difference;
use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::form::Form;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::domain::document::records;
use crate::domain::dsl;
use crate::domain::ids::RecordId;
use crate::domain::memory::{AppliedOperation, OperationName};
use crate::domain::operation::{Fault, Role};
use crate::http::responses::ContextBody;
use crate::pipeline::report::{Rejection, Warning};
use crate::storage::memories::MemorySummary;
use crate::storage::updates::{Run, RunKind, RunStatus};
use askama::Template;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
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
    run: Run,
    outcome: Outcome,
    changes: Vec<Change>,
    inputs: Vec<Input>,
    roles: Vec<(String, Vec<Shown>)>,
    difference: Difference,
    head_id: String,
}

/// A change of the run.
struct Change {
    operation: AppliedOperation,
    /// An earlier change has the same number, so both are taken or left together.
    belongs_to: Option<usize>,
    /// What the record that takes the place of an archived one says, as it stands now or as this run writes it.
    kept: Option<String>,
}

/// The outcome of a run, as the pipeline stores it; an unfinished run has only some members.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Outcome {
    problem: Option<String>,
    operations: Vec<AppliedOperation>,
    rejected: Vec<Rejection>,
    warnings: Vec<Warning>,
    diff: String,
    log: String,
    rebased: bool,
    review: Option<Review>,
}

#[derive(Debug, Deserialize)]
struct Review {
    decision: String,
    by: String,
    at: DateTime<Utc>,
    comment: Option<String>,
    reason: Option<String>,
}

/// A prompt and answer of a model, as the pipeline stores it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Exchange {
    section: Option<String>,
    model: String,
    system: String,
    messages: Vec<Turn>,
    answer: Option<String>,
    stopped_at_limit: bool,
    error: Option<String>,
    attempts: u32,
    input_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    output_tokens: Option<u64>,
    millis: u64,
}

#[derive(Debug, Deserialize)]
struct Turn {
    role: String,
    content: String,
}

/// The task or a message that the run was given, with the passages that its operations quote.
struct Input {
    id: String,
    label: String,
    text: Vec<Piece>,
}

/// A part of a text: shown as it is, marked, or left out.
enum Piece {
    Text(String),
    /// With the place at which it begins.
    Mark(usize, String),
    LeftOut(usize),
}

/// An exchange, with the faults of its answer.
struct Shown {
    place: usize,
    exchange: Exchange,
    answer: Vec<Piece>,
    faults: Vec<Fault>,
    /// Of JSON the places of faults are those of items in its lists, and mark no text.
    is_text: bool,
}

/// Shows the run; with `?exchange=` a whole exchange as text.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    let id = visit.named("update_id");
    let (run, head) = futures::join!(
        visit.of_memory(&["updates", id]).read::<Run>(),
        visit.of_memory(&[]).find::<MemorySummary>(),
    );
    let (mut run, head) = (run?, head?);
    let exchanges: Vec<Exchange> = stored(run.exchanges.take());
    if let Some(wanted) = visit.param("exchange") {
        let exchange = wanted.parse().ok().and_then(|place: usize| exchanges.get(place));
        let exchange = exchange
            .ok_or_else(|| Failure::with_status(StatusCode::NOT_FOUND, "The run has no such exchange."))?;
        return Ok(whole(exchange).into_response());
    }
    let mut outcome: Outcome = stored(run.outcome.take());
    let compares = run.status == RunStatus::Proposed
        && outcome
            .operations
            .iter()
            .any(|operation| operation.superseded_by.is_some());
    let document = match compares {
        true => visit.of_memory(&["context"]).find::<ContextBody>().await?,
        false => None,
    };
    let inputs = inputs(&run.request, &outcome.operations);
    let operations = std::mem::take(&mut outcome.operations);
    layout::render(&View {
        changes: changes(
            operations,
            document.as_ref().and_then(|document| document.context.as_deref()),
        ),
        page: Page::of_memory(&visit, format!("Run of {}", visit.memory()), "Updates").here(id),
        inputs,
        roles: roles(exchanges),
        difference: Difference::of(&outcome.diff),
        head_id: head
            .and_then(|head| head.context_id)
            .map_or_else(String::new, |id| id.to_string()),
        outcome,
        run,
    })
}

/// What a run stores as JSON; nothing if that has another form, as in a run that was imported.
fn stored<T: Default + serde::de::DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).unwrap_or_default()
}

/// The changes of a run, archived records beside what takes their place in the document.
fn changes(operations: Vec<AppliedOperation>, document: Option<&str>) -> Vec<Change> {
    let mut texts: HashMap<RecordId, String> = document
        .map(records)
        .into_iter()
        .flatten()
        .map(|record| (record.id, record.content))
        .collect();
    let added = |operation: &&AppliedOperation| operation.op == OperationName::Add;
    for operation in operations.iter().filter(added) {
        texts.extend(operation.id.zip(operation.content.clone()));
    }
    let mut seen = HashSet::new();
    let change = |operation: AppliedOperation| Change {
        belongs_to: operation.number.filter(|number| !seen.insert(*number)),
        kept: operation.superseded_by.and_then(|id| texts.get(&id).cloned()),
        operation,
    };
    operations.into_iter().map(change).collect()
}

/// What the run was given.
fn inputs(request: &Value, operations: &[AppliedOperation]) -> Vec<Input> {
    let quoted: Vec<_> = operations
        .iter()
        .flat_map(|operation| &operation.evidence)
        // That of a merged record stands in the runs of its parts.
        .filter(|passage| passage.record.is_none())
        .collect();
    let input = |index: Option<usize>, id: String, label: String, text: &Value| {
        let of_text = quoted.iter().filter(|passage| passage.index == index);
        let mut ranges: Vec<_> = of_text.map(|passage| passage.start..passage.end).collect();
        ranges.sort_by_key(|range| range.start);
        let most = if ranges.is_empty() {
            MESSAGE_BYTES
        } else {
            TEXT_BYTES
        };
        let text = marked(text.as_str().unwrap_or_default(), &ranges, most);
        Input { id, label, text }
    };
    let task = &request["task"];
    let task = (!task.is_null()).then(|| input(None, "task".to_owned(), "Task".to_owned(), task));
    let messages = request["messages"].as_array().into_iter().flatten().enumerate();
    let messages = messages.map(|(place, message)| {
        let number = place + 1;
        let role = message["role"].as_str().unwrap_or_default();
        let (id, label) = (format!("message-{number}"), format!("Message {number}, {role}"));
        input(Some(place), id, label, &message["content"])
    });
    task.into_iter().chain(messages).collect()
}

/// The exchanges by role, in the order in which the roles were first asked.
fn roles(exchanges: Vec<Exchange>) -> Vec<(String, Vec<Shown>)> {
    let mut roles: Vec<(String, Vec<Shown>)> = Vec::new();
    for (place, exchange) in exchanges.into_iter().enumerate() {
        let name = exchange.section.clone().unwrap_or_else(|| "model".to_owned());
        let shown = Shown::of(place, exchange);
        match roles.iter_mut().find(|(other, _)| *other == name) {
            Some((_, list)) => list.push(shown),
            None => roles.push((name, vec![shown])),
        }
    }
    roles
}

impl Shown {
    fn of(place: usize, exchange: Exchange) -> Self {
        let answer = exchange.answer.as_deref().unwrap_or_default();
        let role: Option<Role> = exchange.section.as_deref().and_then(|name| name.parse().ok());
        let of_schema = role.and_then(|role| dsl::structured::read(role, answer, false));
        let (faults, is_text) = match of_schema {
            Some((parsed, _)) => (parsed.faults, false),
            None => (dsl::parse_answer(role, answer, false).faults, true),
        };
        let ranges = faults.iter().filter(|_| is_text);
        let ranges: Vec<_> = ranges.map(|fault| fault.range.clone()).collect();
        Self {
            place,
            answer: marked(answer, &ranges, TEXT_BYTES),
            faults,
            is_text,
            exchange,
        }
    }
}

/// A text with these ranges marked; what is longer than `most` before, between and behind them is left out.
fn marked(text: &str, ranges: &[Range<usize>], most: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for range in ranges {
        let from = range.start.max(at);
        let Some(marked) = text.get(from..range.end).filter(|marked| !marked.is_empty()) else {
            continue;
        };
        cut(&mut pieces, &text[at..from], most, BYTES_BEFORE);
        pieces.push(Piece::Mark(range.start, marked.to_owned()));
        at = range.end;
    }
    cut(&mut pieces, &text[at..], most, 0);
    pieces
}

/// The first `most` and the last `least` bytes of a text.
fn cut(pieces: &mut Vec<Piece>, text: &str, most: usize, least: usize) {
    let head = text.floor_char_boundary(most.min(text.len()));
    let tail = text.ceil_char_boundary(text.len().saturating_sub(least));
    if tail <= head {
        pieces.push(Piece::Text(text.to_owned()));
        return;
    }
    pieces.push(Piece::Text(text[..head].to_owned()));
    pieces.push(Piece::LeftOut(tail - head));
    pieces.push(Piece::Text(text[tail..].to_owned()));
}

/// A whole exchange as text.
fn whole(exchange: &Exchange) -> String {
    let mut text = format!("=== system ===\n{}\n", exchange.system);
    for turn in &exchange.messages {
        text.push_str(&format!("\n=== {} ===\n{}\n", turn.role, turn.content));
    }
    let answer = exchange.answer.as_ref().or(exchange.error.as_ref());
    let answer = answer.map_or("", String::as_str);
    text.push_str(&format!("\n=== answer ===\n{answer}\n"));
    text
}

impl View {
    /// Whether the visitor may decide about it.
    fn decides(&self) -> bool {
        self.waits() && self.page.may_write()
    }

    /// Whether its additions have no records yet: what has their ids by now may be something else.
    fn waits(&self) -> bool {
        self.run.status == RunStatus::Proposed
    }

    fn cancels(&self) -> bool {
        !self.run.status.is_final() && self.page.may_write()
    }

    /// Whether an operation is selected: all of them, until somebody chose others.
    fn is_chosen(&self, number: &usize) -> bool {
        let refused = self.page.refused_in("approve");
        refused.is_none_or(|refused| refused.has("operation", &number.to_string()))
    }

    /// Whether operations can be selected.
    fn is_chosen_from(&self) -> bool {
        let mut changes = self.changes.iter();
        self.decides() && changes.any(|change| change.operation.number.is_some())
    }
}

/// `POST …/updates/{update_id}/approve`
pub(in crate::dashboard) async fn approve(form: Form) -> Result<Response, Failure> {
    let numbers = form.fields.all("operation");
    let numbers: Vec<u64> = numbers.filter_map(|number| number.parse().ok()).collect();
    let mut body = json!({ "operations": numbers });
    if let Some(comment) = form.fields.get("comment") {
        body["comment"] = json!(comment);
    }
    decide(form, "approve", &body).await
}

/// `POST …/updates/{update_id}/reject`
pub(in crate::dashboard) async fn reject(form: Form) -> Result<Response, Failure> {
    let body = json!({ "reason": form.fields.text("reason") });
    decide(form, "reject", &body).await
}

async fn decide(form: Form, what: &str, body: &Value) -> Result<Response, Failure> {
    let below = ["updates", form.visit.named("update_id"), what];
    let ask = form.of_memory(Method::POST, &below)?.json(body);
    form.send(Ok(ask), show, |visit, answer: Value| {
        let done = match what {
            "approve" if answer["status"] == "unchanged" => "approved-unchanged",
            "approve" => "approved",
            _ => "rejected",
        };
        Ok(decided(visit, done))
    })
    .await
}

/// The page of the run, which says what was decided.
fn decided(visit: &Visit, done: &str) -> Response {
    layout::done(&visit.link(&["updates", visit.named("update_id")]), done)
}

/// `POST …/updates/{update_id}/cancel`
pub(in crate::dashboard) async fn cancel(form: Form) -> Result<Response, Failure> {
    let below = ["updates", form.visit.named("update_id")];
    form.of_memory(Method::DELETE, &below)?.done().await?;
    Ok(decided(&form.visit, "cancelled"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Template)]
    #[template(
        source = "{% import \"macros.html\" as m %}{{ m::marked(pieces, id) }}",
        ext = "html"
    )]
    struct Marked<'t> {
        pieces: Vec<Piece>,
        id: &'t str,
    }

    fn shown(text: &str, ranges: &[Range<usize>], most: usize, id: &str) -> String {
        let pieces = marked(text, ranges, most);
        Marked { pieces, id }.render().unwrap()
    }

    #[test]
    fn passages_are_marked_and_nothing_of_a_text_is_markup() {
        assert_eq!(
            shown("a <b> c & d", &[2..5, 3..6, 20..30], TEXT_BYTES, ""),
            "a <mark>&#60;b&#62;</mark><mark> </mark>c &#38; d"
        );
        assert_eq!(shown("äöü", std::slice::from_ref(&(1..3)), TEXT_BYTES, ""), "äöü");
        assert_eq!(
            shown("ab", std::slice::from_ref(&(1..2)), TEXT_BYTES, "task"),
            r#"a<mark id="task-at-1">b</mark>"#
        );
    }

    #[test]
    fn a_passage_far_behind_the_beginning_is_shown_with_what_stands_before_it() {
        let text = format!("begin {} before here {}", "ñ".repeat(9_000), "x".repeat(9_000));
        let at = text.find("here").unwrap();
        let shown = shown(&text, std::slice::from_ref(&(at..at + 4)), 100, "message-1");
        assert!(shown.starts_with("begin ñ") && shown.len() < 2_000, "{shown}");
        assert!(shown.contains(r#"before <mark id="message-1-at-"#), "{shown}");
        assert!(shown.ends_with("bytes are not shown]</span>"), "{shown}");
    }
}
