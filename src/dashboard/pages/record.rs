//! `GET …/records/{record_id}`: one record with its reasons and its evidence; and the forms that correct and archive it.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::parts::{Id, When};
use super::super::visit::Visit;
use super::data::{Context, Operation, Record};
use askama::Template;
use axum::extract::Path;
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Template)]
#[template(path = "pages/record.html")]
struct View {
    page: Page,
    base: String,
    kind: &'static str,
    record: Record,
    /// The run that made it.
    run: Option<String>,
    can_correct: bool,
    made: When,
    ended: Option<When>,
    outcome: Option<String>,
}

/// Shows the record.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory, id)): Path<(String, String, String)>,
) -> Result<Response, Failure> {
    let place = ["vaults", &vault, "memories", &memory];
    let record: Record = visit
        .api
        .get(&[&place[..], &["records", &id]].concat())
        .read()
        .await?;
    let made_by = record.created_version.to_string();
    let made_by: Option<Context> = visit
        .api
        .get(&[&place[..], &["contexts", &made_by]].concat())
        .find()
        .await?;
    let kind = super::records::KINDS
        .iter()
        .find(|(kind, _)| *kind == record.kind);
    layout::render(&View {
        page: Page::of(&visit, format!("{id} of {memory}"))
            .in_memory(&vault, &memory, "Records")
            .crumb(Crumb::here(id)),
        run: made_by.and_then(|context| context.update_id),
        can_correct: record.status == "active"
            && match record.kind.as_str() {
                "KL" | "VC" => visit.may_propose(),
                "D" => visit.may_write(),
                _ => false,
            },
        base: link::memory(&vault, &memory, &[]),
        kind: kind.map_or("Record", |(_, name)| name),
        made: When::new(record.created_at, visit.now),
        ended: record.ended_at.map(|time| When::new(time, visit.now)),
        outcome: record
            .outcome
            .as_ref()
            .filter(|outcome| !outcome.is_null())
            .and_then(|outcome| serde_json::to_string_pretty(outcome).ok()),
        record,
    })
}

impl View {
    fn id(&self) -> Id<'_> {
        Id(&self.record.record_id)
    }

    /// What a field of the form shows: what was entered, or else what the record says.
    fn field<'v>(&'v self, name: &str, said: &'v str) -> &'v str {
        match self.page.refused_in("correct") {
            Some(refused) => refused.entered(name),
            None => said,
        }
    }

    fn because(&self) -> &str {
        self.field("because", self.record.reason.as_deref().unwrap_or_default())
    }
}

/// `POST …/records/{record_id}/correct`
pub(in crate::dashboard) async fn correct(
    Path(path): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let (vault, memory, id) = &path;
    let (content, because) = (form.text("content").trim(), form.text("because").trim());
    let answer = if id.starts_with("D-") {
        let mut body = json!({ "decision": content, "supersedes": id });
        if !because.is_empty() {
            body["reason"] = json!(because);
        }
        let route = ["vaults", vault, "memories", memory, "decisions"];
        form.ask(Method::POST, &route).json(&body).read().await
    } else {
        let mut add = json!({
            "op": "add", "section": "learnings", "content": content, "reason": because, "replaces": id,
        });
        if id.starts_with("VC-") {
            add["section"] = json!("verbatim");
            add["label"] = json!(form.text("label").trim());
            // As a browser sends it, every line ends in CRLF.
            add["content"] = json!(form.text("content").replace("\r\n", "\n"));
        }
        let archive = json!({ "op": "archive", "id": id, "reason": form.text("reason").trim() });
        operations(&form, vault, memory, json!([archive, add])).await
    };
    changed(form, (vault, memory), answer, "corrected", |visit| {
        show(visit, Path(path.clone()))
    })
    .await
}

/// `POST …/records/{record_id}/archive`
pub(in crate::dashboard) async fn archive(
    Path(path): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let (vault, memory, id) = &path;
    let list = json!([{ "op": "archive", "id": id, "reason": form.text("reason").trim() }]);
    let answer = operations(&form, vault, memory, list).await;
    changed(form, (vault, memory), answer, "archived", |visit| {
        show(visit, Path(path.clone()))
    })
    .await
}

/// `POST …/records`: adds a learning.
pub(in crate::dashboard) async fn add(
    Path(path): Path<(String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let (vault, memory) = &path;
    let list = json!([{
        "op": "add", "section": "learnings", "reason": form.text("because").trim(), "content": form.text("content").trim(),
    }]);
    let answer = operations(&form, vault, memory, list).await;
    changed(form, (vault, memory), answer, "added", |visit| {
        super::records::show(visit, Path(path.clone()))
    })
    .await
}

/// What a change of a record did.
#[derive(Deserialize)]
struct Changed {
    /// Of a decision.
    record_id: Option<String>,
    /// Of operations, like what follows.
    status: Option<String>,
    #[serde(default)]
    update_id: String,
    #[serde(default)]
    operations: Vec<Operation>,
}

async fn operations(form: &Form, vault: &str, memory: &str, list: Value) -> Result<Changed, Failure> {
    let ask = form.ask(Method::POST, &["vaults", vault, "memories", memory, "operations"]);
    ask.query("on_invalid", "fail")
        .json(&json!({ "operations": list }))
        .read()
        .await
}

/// Shows the record that was made or archived, the proposal of it, or the form again.
async fn changed<F: Future<Output = Result<Response, Failure>>>(
    form: Form,
    (vault, memory): (&str, &str),
    answer: Result<Changed, Failure>,
    done: &str,
    page: impl FnOnce(Visit) -> F,
) -> Result<Response, Failure> {
    let changed = match answer {
        Ok(changed) => changed,
        Err(failure) => return form.again(failure, page).await,
    };
    let made = changed
        .operations
        .iter()
        .rev()
        .find_map(|operation| operation.id.as_deref());
    let (below, done) = match (changed.status.as_deref(), changed.record_id.as_deref().or(made)) {
        (Some("proposed"), _) => (vec!["updates", &changed.update_id], "proposed"),
        (_, Some(id)) => (vec!["records", id], done),
        (_, None) => (Vec::new(), "unchanged"),
    };
    Ok(layout::done(&link::memory(vault, memory, &below), done).into_response())
}
