//! A form that was not executed: its page is shown again, with the reason in the form and with what was entered.

use crate::dashboard::failure::{Failure, Refusal};
use crate::dashboard::form::Form;
use crate::dashboard::link;
use crate::dashboard::pages::data::{Diff, MemoryEntry};
use crate::dashboard::pages::diff::unified;
use crate::dashboard::parts::Escaped;
use crate::dashboard::visit::Visit;
use askama::filters::HtmlSafe;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The form, its fields, and why it was not executed.
#[derive(Debug)]
pub(in crate::dashboard) struct Refused {
    form: String,
    fields: Vec<(String, String)>,
    refusal: Refusal,
    /// What changed since the form was opened, as HTML; nothing else was wrong.
    since: Option<String>,
}

impl Refused {
    pub(in crate::dashboard) fn is_of(&self, form: &str) -> bool {
        self.form == form
    }

    /// What was entered in a field.
    pub(in crate::dashboard) fn entered(&self, field: &str) -> &str {
        self.all(field).next().unwrap_or_default()
    }

    /// Everything that was selected in a field.
    pub(in crate::dashboard) fn all(&self, field: &str) -> impl Iterator<Item = &str> {
        let of_field = self.fields.iter().filter(move |(name, _)| name == field);
        of_field.map(|(_, value)| value.as_str())
    }

    pub(in crate::dashboard) fn title(&self) -> &str {
        match self.since {
            Some(_) => "Another change was saved first",
            None => &self.refusal.title,
        }
    }

    /// What is wrong. Operations are rejected one by one; the form has no list of them, so their places are left out.
    fn detail(&self) -> String {
        let rejected = self.refusal.members.get("rejected").and_then(Value::as_array);
        let details = rejected
            .into_iter()
            .flatten()
            .filter_map(|item| item["detail"].as_str());
        let details: Vec<&str> = details
            .map(|detail| match detail.split_once("]: ") {
                Some((place, fault)) if place.starts_with("operations[") => fault,
                _ => detail,
            })
            .collect();
        match details.is_empty() {
            true => self.refusal.detail.clone(),
            false => details.join("\n"),
        }
    }

    /// Whether the document was changed since the form was opened.
    pub(in crate::dashboard) fn is_late(&self) -> bool {
        self.since.is_some()
    }

    /// Whether the request is executed if it is confirmed.
    pub(in crate::dashboard) fn asks_to_confirm(&self) -> bool {
        asks_to_confirm(&self.refusal)
    }
}

/// The reason, in the form.
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tone = if self.is_late() { "warn" } else { "bad" };
        write!(f, r#"<div class="notice {tone}" id="fault">"#)?;
        match &self.since {
            Some(since) => f.write_str(since)?,
            None => write!(f, r#"<p class="free">{}</p>"#, Escaped(&self.detail()))?,
        }
        f.write_str("</div>")
    }
}

impl HtmlSafe for Refused {}

impl Form {
    /// Shows the page of the form again, if the visitor can correct what was refused.
    pub(in crate::dashboard) async fn again<F>(
        mut self,
        failure: Failure,
        page: impl FnOnce(Visit) -> F,
    ) -> Result<Response, Failure>
    where
        F: Future<Output = Result<Response, Failure>>,
    {
        let (status, refusal) = match &failure {
            Failure::Refused(status, refusal) if can_be_sent_again(*status, refusal) => {
                (*status, (**refusal).clone())
            }
            _ => return Err(failure),
        };
        let since = match status {
            StatusCode::PRECONDITION_FAILED => since(&self).await?,
            _ => None,
        };
        self.visit.refused = Some(Arc::new(Refused {
            form: self.text("form").to_owned(),
            fields: self.fields,
            refusal,
            since,
        }));
        match page(self.visit).await {
            Ok(mut response) => {
                *response.status_mut() = status;
                Ok(response)
            }
            // The page is gone as well.
            Err(_) => Err(failure),
        }
    }
}

/// Whether the same form may succeed later, or with other text.
fn can_be_sent_again(status: StatusCode, refusal: &Refusal) -> bool {
    matches!(status.as_u16(), 400 | 412 | 413 | 422 | 429 | 503)
        || status == StatusCode::CONFLICT && asks_to_confirm(refusal)
}

fn asks_to_confirm(refusal: &Refusal) -> bool {
    refusal
        .members
        .get("field")
        .is_some_and(|field| field == "confirm")
}

/// Reads what changed. `None`: the document was deleted.
async fn since(form: &Form) -> Result<Option<String>, Failure> {
    let Some((vault, Some(memory))) = link::place(&form.path) else {
        return Ok(None);
    };
    let api = &form.visit.api;
    let place = ["vaults", vault, "memories", memory];
    let head: Option<MemoryEntry> = api.get(&place).find().await?;
    let Some(head) = head.filter(|head| head.context_id.is_some()) else {
        return Ok(None);
    };
    let version = head.version.to_string();
    let route = [&place[..], &["contexts", &version, "diff"]].concat();
    // The version of the form may have been redacted since, or there was none.
    let diff = match api
        .get(&route)
        .query("base", form.text("if_match"))
        .read::<Diff>()
        .await
    {
        Ok(diff) => Some(diff),
        Err(Failure::Refused(..)) => None,
        Err(failure) => return Err(failure),
    };
    let (lines, is_cut) = diff.map(|diff| unified(&diff.diff)).unwrap_or_default();
    let mut html = format!(
        "<p>Version {version} by <bdi>{}</bdi> is the newest now. Sending the form again applies to that version.</p>",
        Escaped(&head.last_actor_id)
    );
    if !lines.is_empty() {
        html.push_str(r#"<p>What changed since you began:</p><div class="scroll" role="region" aria-label="What changed" tabindex="0">"#);
        html.push_str(&lines);
        html.push_str("</div>");
    }
    if is_cut {
        html.push_str(r#"<p class="muted">The difference is longer than this page.</p>"#);
    }
    Ok(Some(html))
}
