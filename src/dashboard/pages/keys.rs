//! `GET /ui/keys`: the API keys; `GET /ui/keys/{key_id}`: one of them; and the forms that create, rotate and revoke them.

use crate::dashboard::failure::Failure;
use crate::dashboard::form::{Fields, Form};
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::dashboard::{filters, link};
use crate::http::responses::{KeyBody, List, NewKeyBody};
use askama::Template;
use axum::http::Method;
use axum::response::Response;
use chrono::NaiveDate;
use serde_json::{Value, json};

#[derive(Template)]
#[template(path = "pages/keys.html")]
struct ListView {
    page: Page,
    list: List<KeyBody>,
    is_open: bool,
}

/// Shows the keys.
pub(in crate::dashboard) async fn list(visit: Visit) -> Result<Response, Failure> {
    let ask = visit.api.get(&["keys"]).maybe("cursor", visit.param("cursor"));
    layout::render(&ListView {
        page: Page::of(&visit, "Keys").here("Keys"),
        list: ask.read().await?,
        is_open: visit.caller.key.is_none(),
    })
}

/// `POST /ui/keys`
pub(in crate::dashboard) async fn create(form: Form) -> Result<Response, Failure> {
    let ask = form.visit.api.ask(Method::POST, &["keys"]);
    let ask = ask.json(&new_key(&form.fields));
    form.send(Ok(ask), list, |visit, key| shown_once(visit, key, "Made"))
        .await
}

fn new_key(fields: &Fields) -> Value {
    let mut body = json!({
        "name": fields.text("name").trim(),
        "role": fields.text("role"),
        "speaks_for_others": fields.get("speaks_for_others").is_some(),
    });
    let vaults = fields.text("vaults");
    match fields.text("reach") {
        "list" => body["vaults"] = names(vaults),
        "prefix" => body["vault_prefix"] = json!(vaults.trim()),
        "all" if vaults.trim().is_empty() => {}
        // The route refuses it: a key never reaches every vault by a mistake.
        other => body["reach"] = json!(other),
    }
    if let Some(day) = fields.get("expires") {
        // The key is valid to the end of the day, in the time zone in which times are shown.
        let end = day
            .parse::<NaiveDate>()
            .ok()
            .and_then(|day| day.and_hms_opt(23, 59, 59));
        body["expires_at"] = end.map_or_else(|| json!(day), |end| json!(end.and_utc()));
    }
    body
}

fn names(text: &str) -> Value {
    let names = text
        .split([',', ' ', '\n', '\r', '\t'])
        .filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

#[derive(Template)]
#[template(path = "pages/new_key.html")]
struct NewView {
    page: Page,
    key: KeyBody,
    secret: String,
    what: &'static str,
    was_open: bool,
}

/// The only page that shows the key's secret.
fn shown_once(visit: &Visit, new: NewKeyBody, what: &'static str) -> Result<Response, Failure> {
    layout::render(&NewView {
        page: Page::of(visit, "A new key")
            .below("Keys", "/ui/keys".to_owned())
            .here(&new.key.key_id),
        key: new.key,
        secret: new.token,
        what,
        was_open: visit.caller.key.is_none(),
    })
}

#[derive(Template)]
#[template(path = "pages/key.html")]
struct OneView {
    page: Page,
    key: KeyBody,
    is_own: bool,
}

/// Shows one key.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    let id = visit.named("key_id");
    let key: KeyBody = visit.api.get(&["keys", id]).read().await?;
    let own = visit.caller.key.as_ref();
    layout::render(&OneView {
        page: Page::of(&visit, format!("Key {}", key.name))
            .below("Keys", "/ui/keys".to_owned())
            .here(id),
        is_own: own.is_some_and(|own| own.key_id.as_str() == key.key_id),
        key,
    })
}

/// `POST /ui/keys/{key_id}/revoke`
pub(in crate::dashboard) async fn revoke(form: Form) -> Result<Response, Failure> {
    let id = form.visit.named("key_id");
    let there = link::path(&["ui", "keys", id]);
    let ask = form.if_sure(form.visit.api.ask(Method::DELETE, &["keys", id]));
    form.send(ask, show, |_, _: Value| Ok(layout::done(&there, "revoked")))
        .await
}

/// `POST /ui/keys/{key_id}/rotate`
pub(in crate::dashboard) async fn rotate(form: Form) -> Result<Response, Failure> {
    let below = ["keys", form.visit.named("key_id"), "rotate"];
    let ask = form.visit.api.ask(Method::POST, &below);
    let ask = ask.maybe("grace_seconds", form.fields.get("grace_seconds"));
    form.send(Ok(ask), show, |visit, key| shown_once(visit, key, "Rotated"))
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vaults_are_separated_by_commas_or_blanks() {
        assert_eq!(names(" a, b\r\nc "), json!(["a", "b", "c"]));
        assert_eq!(names(" ,"), json!([]));
    }
}
