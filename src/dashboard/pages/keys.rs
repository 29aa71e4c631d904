//! `/ui/keys`: creates, rotates and revokes API keys.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::parts::{Id, Pager, When};
use super::super::visit::Visit;
use super::data::{Key, List};
use askama::Template;
use axum::extract::Path;
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use chrono::NaiveDate;
use serde_json::{Value, json};

#[derive(Template)]
#[template(path = "pages/keys.html")]
struct ListView {
    page: Page,
    rows: Vec<Row>,
    pager: Pager,
    is_open: bool,
}

struct Row {
    key: Key,
    made: When,
    reach: String,
    state: (&'static str, &'static str),
}

impl Row {
    fn of(key: Key, visit: &Visit) -> Self {
        let state = if key.revoked_at.is_some() {
            ("bad", "revoked")
        } else if key.active {
            ("good", "active")
        } else {
            ("warn", "expired")
        };
        Self {
            made: When::new(key.created_at, visit.now),
            reach: match (&key.vaults, &key.vault_prefix) {
                (Some(vaults), _) => vaults.join(", "),
                (None, Some(prefix)) => format!("{prefix}…"),
                (None, None) => "every vault".to_owned(),
            },
            state,
            key,
        }
    }
}

/// `GET /ui/keys`
pub(in crate::dashboard) async fn list(visit: Visit) -> Result<Response, Failure> {
    let cursor = visit.param("cursor");
    let list: List<Key> = visit.api.get(&["keys"]).maybe("cursor", cursor).read().await?;
    layout::render(&ListView {
        page: Page::of(&visit, "Keys").crumb(Crumb::here("Keys")),
        pager: Pager::new("/ui/keys", &[], cursor, list.next_cursor.as_deref()),
        rows: list.items.into_iter().map(|key| Row::of(key, &visit)).collect(),
        is_open: visit.caller.key.is_none(),
    })
}

/// `POST /ui/keys`
pub(in crate::dashboard) async fn create(form: Form) -> Result<Response, Failure> {
    let mut body = json!({
        "name": form.text("name").trim(),
        "role": form.text("role"),
        "speaks_for_others": form.get("speaks_for_others").is_some(),
    });
    let vaults = form.text("vaults");
    match form.text("reach") {
        "list" => body["vaults"] = names(vaults),
        "prefix" => body["vault_prefix"] = json!(vaults.trim()),
        _ => {}
    }
    if let Some(day) = form.get("expires") {
        // The key is valid to the end of the day, in the time zone in which times are shown.
        let end = day
            .parse::<NaiveDate>()
            .ok()
            .and_then(|day| day.and_hms_opt(23, 59, 59));
        body["expires_at"] = end.map_or_else(|| json!(day), |end| json!(end.and_utc()));
    }
    match form.visit.api.post(&["keys"]).json(&body).read::<Key>().await {
        Ok(key) => shown_once(&form.visit, key, "Made"),
        Err(failure) => form.again(failure, list).await,
    }
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
    row: Row,
    secret: String,
    what: &'static str,
    was_open: bool,
}

/// The only page that shows the key's secret.
fn shown_once(visit: &Visit, mut key: Key, what: &'static str) -> Result<Response, Failure> {
    let secret = key
        .key
        .take()
        .ok_or_else(|| Failure::internal("a new key without its secret"))?;
    layout::render(&NewView {
        page: Page::of(visit, "A new key")
            .crumb(Crumb::to("Keys", "/ui/keys".to_owned()))
            .crumb(Crumb::here(key.key_id.clone())),
        row: Row::of(key, visit),
        secret,
        what,
        was_open: visit.caller.key.is_none(),
    })
}

impl NewView {
    fn secret(&self) -> Id<'_> {
        Id(&self.secret)
    }
}

#[derive(Template)]
#[template(path = "pages/key.html")]
struct OneView {
    page: Page,
    row: Row,
    rotated: Option<When>,
    expires: Option<When>,
    revoked: Option<When>,
    is_own: bool,
}

/// `GET /ui/keys/{key_id}`
pub(in crate::dashboard) async fn show(visit: Visit, Path(id): Path<String>) -> Result<Response, Failure> {
    let key: Key = visit.api.get(&["keys", &id]).read().await?;
    let when = |time: Option<_>| time.map(|time| When::new(time, visit.now));
    layout::render(&OneView {
        page: Page::of(&visit, format!("Key {}", key.name))
            .crumb(Crumb::to("Keys", "/ui/keys".to_owned()))
            .crumb(Crumb::here(id)),
        rotated: when(key.rotated_at),
        expires: when(key.expires_at),
        revoked: when(key.revoked_at),
        is_own: visit
            .caller
            .key
            .as_ref()
            .is_some_and(|own| own.key_id.as_str() == key.key_id),
        row: Row::of(key, &visit),
    })
}

impl OneView {
    fn id(&self) -> Id<'_> {
        Id(&self.row.key.key_id)
    }
}

/// `POST /ui/keys/{key_id}/revoke`
pub(in crate::dashboard) async fn revoke(Path(id): Path<String>, form: Form) -> Result<Response, Failure> {
    let done = match form.is_sure() {
        Ok(()) => form.visit.api.ask(Method::DELETE, &["keys", &id]).done().await,
        Err(failure) => Err(failure),
    };
    match done {
        Ok(_) => Ok(layout::done(&link::path(&["ui", "keys", &id]), "revoked").into_response()),
        Err(failure) => form.again(failure, |visit| show(visit, Path(id))).await,
    }
}

/// `POST /ui/keys/{key_id}/rotate`
pub(in crate::dashboard) async fn rotate(Path(id): Path<String>, form: Form) -> Result<Response, Failure> {
    let ask = form
        .visit
        .api
        .post(&["keys", &id, "rotate"])
        .maybe("grace_seconds", form.get("grace_seconds"));
    match ask.read().await {
        Ok(key) => shown_once(&form.visit, key, "Rotated"),
        Err(failure) => form.again(failure, |visit| show(visit, Path(id))).await,
    }
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
