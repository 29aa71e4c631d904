//! `GET …/records/{record_id}`: one record with its reasons and its evidence; and the forms that correct and archive it.

use super::views;
use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::form::{Form, has_crlf};
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::domain::ids::RecordKind;
use crate::http::responses::{ContextBody, RecordBody};
use crate::storage::records::RecordStatus;
use askama::Template;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value, json};

#[derive(Template)]
#[template(path = "pages/record.html")]
struct View {
    page: Page,
    record: RecordBody,
    /// The run that made it.
    run: Option<String>,
    /// The newest version, which the forms are about.
    head_id: String,
}

/// Shows the record.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    let id = visit.named("record_id");
    let record: RecordBody = visit.of_memory(&["records", id]).read().await?;
    let version = record.created_version.to_string();
    let head: Option<Value> = visit.of_memory(&[]).find().await?;
    let head_id = head.unwrap_or_default()["context_id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let made_by: Option<ContextBody> = visit.of_memory(&["contexts", &version]).find().await?;
    layout::render(&View {
        page: Page::of_memory(&visit, format!("{id} of {}", visit.memory()), "Records").here(id),
        run: made_by.and_then(|context| context.update_id),
        head_id,
        record,
    })
}

impl View {
    fn is_active(&self) -> bool {
        self.record.status == RecordStatus::Active
    }

    fn can_correct(&self) -> bool {
        // What was entered stays if another change archived the record meanwhile.
        let is_refused = ["correct", "archive"]
            .iter()
            .any(|form| self.page.refused_in(form).is_some());
        (self.is_active() || is_refused)
            && match self.record.kind {
                RecordKind::Learning | RecordKind::Verbatim => self.page.may_propose(),
                RecordKind::Decision => self.page.may_write(),
                RecordKind::Task => false,
            }
    }

    /// What a task reports, as JSON.
    fn outcome(&self) -> Option<String> {
        let outcome = self.record.task.as_ref()?.outcome.as_ref();
        outcome.and_then(|outcome| serde_json::to_string_pretty(outcome).ok())
    }
}

/// `POST …/records/{record_id}/correct`
pub(in crate::dashboard) async fn correct(form: Form) -> Result<Response, Failure> {
    let (id, fields) = (form.visit.named("record_id"), &form.fields);
    let (content, because) = (fields.text("content").trim(), fields.text("because").trim());
    let record: RecordBody = form.visit.of_memory(&["records", id]).read().await?;
    if record.status != RecordStatus::Active {
        let by = record
            .superseded_by
            .map_or_else(String::new, |by| format!(", and {by} took its place"));
        let late = format!("{id} was archived meanwhile{by}: nothing was saved.");
        let late = Failure::with_status(StatusCode::UNPROCESSABLE_ENTITY, late);
        let nothing = |_: &Visit, _: Value| Err(Failure::internal("nothing was asked"));
        return form.send(Err(late), show, nothing).await;
    }
    let (below, body) = if id.starts_with("D-") {
        let mut body = json!({ "decision": content, "supersedes": id });
        if !because.is_empty() {
            body["reason"] = json!(because);
        }
        ("decisions", body)
    } else {
        let mut add = json!({
            "op": "add", "section": "learnings", "content": content, "reason": because, "replaces": id,
        });
        if id.starts_with("VC-") {
            add["section"] = json!("verbatim");
            add["label"] = json!(fields.text("label").trim());
            add["content"] = json!(fields.lines("content", has_crlf(&record.content)));
        }
        // The new record is pinned and ends like the one that it replaces.
        if fields.get("pinned").is_some() {
            add["pinned"] = json!(true);
        }
        if let Some(until) = fields.get("until") {
            add["until"] = json!(until);
        }
        let archive = json!({ "op": "archive", "id": id, "reason": fields.text("reason").trim() });
        ("operations", json!({ "operations": [archive, add] }))
    };
    change(form, (below, &body), "corrected", show).await
}

/// `POST …/records/{record_id}/archive`
pub(in crate::dashboard) async fn archive(form: Form) -> Result<Response, Failure> {
    let (id, reason) = (form.visit.named("record_id"), form.fields.text("reason").trim());
    let body = json!({ "operations": [{ "op": "archive", "id": id, "reason": reason }] });
    change(form, ("operations", &body), "archived", show).await
}

/// `POST …/records`: adds a learning.
pub(in crate::dashboard) async fn add(form: Form) -> Result<Response, Failure> {
    let (because, content) = (form.fields.text("because"), form.fields.text("content"));
    let body = json!({ "operations": [{
        "op": "add", "section": "learnings", "reason": because.trim(), "content": content.trim(),
    }]});
    change(form, ("operations", &body), "added", views::records).await
}

/// Sends a change of a record, and shows the record that was made or archived, or the proposal of it.
async fn change<F: Future<Output = Result<Response, Failure>>>(
    form: Form,
    (below, body): (&str, &Value),
    done: &str,
    page: impl FnOnce(Visit) -> F,
) -> Result<Response, Failure> {
    let mut ask = form.of_memory(Method::POST, &[below])?;
    if below == "operations" {
        ask = ask.query("on_invalid", "fail");
    }
    form.send(Ok(ask.json(body)), page, |visit, answer: Map<String, Value>| {
        let is_filled = |member: &str| {
            let list = answer.get(member).and_then(Value::as_array);
            list.is_some_and(|list| !list.is_empty())
        };
        if is_filled("rejected") && !is_filled("operations") {
            return Err(Failure::rejected(answer));
        }
        // Another record says the same: this one is archived, and nothing is added.
        let done = if is_filled("rejected") { "archived" } else { done };
        let told = |member: &str| answer.get(member).and_then(Value::as_str);
        let operations = answer.get("operations").and_then(Value::as_array);
        let made = operations
            .into_iter()
            .flatten()
            .rev()
            .find_map(|operation| operation["id"].as_str());
        let run = told("update_id").unwrap_or_default();
        let (below, done) = match told("record_id").or(made) {
            _ if told("status") == Some("proposed") => (vec!["updates", run], "proposed"),
            Some(id) => (vec!["records", id], done),
            None => (Vec::new(), "unchanged"),
        };
        Ok(layout::done(&visit.link(&below), done))
    })
    .await
}
