//! Forms: parsed if they come from a page of this service in the same browser, sent as one request to a route, and shown again
//! with the reason and with what was entered if the route rejects it.
//!
//! A page of another site can make a browser send a form here, with its cookies. Three checks reject it: the cookie is
//! `SameSite=Strict`; the form has a token that only pages of this service contain; and what the browser reports about
//! the sending page (`Sec-Fetch-Site`, else `Origin`) must be this site.

use super::api::Ask;
use super::difference::Difference;
use super::failure::{Failure, Refusal};
use super::visit::{PageServices, Visit, Visitor, present};
use crate::http::dashboard::read_form;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::{CONTENT_TYPE, HOST, IF_MATCH, IF_NONE_MATCH, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use subtle::ConstantTimeEq;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The name of the token's field.
const TOKEN: &str = "form_token";

/// Bytes that a form may have besides a document.
const AROUND_A_DOCUMENT: usize = 128 * 1024;

/// Bytes that a form may have of who has not signed in: a key, and the page to open then. Little, because anyone can send it, over
/// as many connections as an address may have.
const OF_ANYONE: usize = 16 * 1024;

/// Percent-encoding may need three bytes per byte of a document.
const BYTES_PER_BYTE: usize = 3;

/// The fields of a form, as a browser sends them.
#[derive(Debug)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// All values of a field.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let of_field = self.0.iter().filter(move |(other, _)| other == name);
        of_field.map(|(_, value)| value.as_str())
    }

    /// A field; empty if it is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// A field; an empty one counts as missing.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|value| !value.is_empty())
    }

    /// A text of several lines with their own line ends: a browser sends each as CRLF, whatever it was.
    pub(super) fn lines(&self, name: &str, in_crlf: bool) -> String {
        let text = self.text(name).replace("\r\n", "\n");
        match in_crlf {
            true => text.replace('\n', "\r\n"),
            false => text,
        }
    }
}

/// Whether a text has CRLF and no other line ends.
pub(super) fn has_crlf(text: &str) -> bool {
    text.contains("\r\n") && !text.replace("\r\n", "").contains(['\r', '\n'])
}

/// A form, and who sent it.
pub(crate) struct Form<V = Visit> {
    pub(super) visit: V,
    pub(super) services: PageServices,
    pub(super) headers: HeaderMap,
    pub(super) fields: Fields,
}

impl Form {
    /// The request of the form: executed once however often it is sent, and only for the version that it was opened for, if it names one.
    pub(super) fn ask(&self, method: Method, segments: &[&str]) -> Result<Ask, Failure> {
        let ask = self.visit.api.ask(method, segments);
        let ask = ask.header(IDEMPOTENCY_KEY, header_value(&self.key())?);
        Ok(match self.fields.all("if_match").next() {
            Some("") => ask.header(IF_NONE_MATCH, HeaderValue::from_static("*")),
            Some(seen) => ask.header(IF_MATCH, header_value(&format!("\"{seen}\""))?),
            None => ask,
        })
    }

    /// The same for a form that is sent twice, and another one once something else was entered in it, as after going back
    /// from a refusal.
    fn key(&self) -> String {
        let mut hash = Sha256::new();
        for (name, value) in self.fields.0.iter().filter(|(name, _)| name != TOKEN) {
            hash.update(format!("{}:{name}{}:{value}", name.len(), value.len()));
        }
        let entered = hex::encode(&hash.finalize()[..8]);
        format!("{}-{entered}", self.fields.text("once"))
    }

    /// The same, for something of the page's memory.
    pub(super) fn of_memory(&self, method: Method, below: &[&str]) -> Result<Ask, Failure> {
        let (vault, memory) = (self.visit.vault(), self.visit.memory());
        self.ask(method, &[&["vaults", vault, "memories", memory], below].concat())
    }

    /// The request of an irreversible action, which requires a confirmation.
    pub(super) fn if_sure(&self, ask: Ask) -> Result<Ask, Failure> {
        if self.fields.text("sure") == "yes" {
            return Ok(ask);
        }
        Err(Failure::with_status(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Nothing was done: tick the box that says that it cannot be undone.",
        ))
    }

    /// Sends the request of the form. `done` makes the response of what was executed; `page` is shown again with what is wrong, if
    /// the visitor can correct it.
    pub(super) async fn send<T: DeserializeOwned, F: Future<Output = Result<Response, Failure>>>(
        mut self,
        ask: Result<Ask, Failure>,
        page: impl FnOnce(Visit) -> F,
        done: impl FnOnce(&Visit, T) -> Result<Response, Failure>,
    ) -> Result<Response, Failure> {
        let answer = match ask {
            Ok(ask) => ask.read().await,
            Err(failure) => Err(failure),
        };
        let failure = match answer.and_then(|answer| done(&self.visit, answer)) {
            Ok(response) => return Ok(response),
            Err(failure) => failure,
        };
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
            fields: self.fields,
            refusal,
            is_overtaken: status == StatusCode::PRECONDITION_FAILED,
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

fn header_value(text: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(text).map_err(|_| {
        Failure::with_status(
            StatusCode::UNPROCESSABLE_ENTITY,
            "a header must be one line of visible ASCII",
        )
    })
}

/// A form that was not executed, and why.
#[derive(Debug)]
pub(super) struct Refused {
    fields: Fields,
    refusal: Refusal,
    /// Whether the memory is no longer as the form says: its page is then about the newest version.
    pub(super) is_overtaken: bool,
    /// What changed since the form was opened; nothing else was wrong.
    pub(super) since: Option<Since>,
}

/// The newest version, which was saved after the form was opened.
#[derive(Debug)]
pub(super) struct Since {
    pub(super) version: i64,
    pub(super) actor: String,
    pub(super) difference: Difference,
}

impl Refused {
    pub(super) fn is_of(&self, form: &str) -> bool {
        self.fields.text("form") == form
    }

    /// What was entered in a field.
    pub(super) fn entered(&self, field: &str) -> &str {
        self.fields.text(field)
    }

    /// Whether something was selected in a field.
    pub(super) fn has(&self, field: &str, value: &str) -> bool {
        self.fields.all(field).any(|other| other == value)
    }

    pub(super) fn title(&self) -> &str {
        match self.since {
            Some(_) => "Another change was saved first",
            None => &self.refusal.title,
        }
    }

    /// What is wrong. Operations are rejected one by one; the form has no list of them, so their places are left out.
    pub(super) fn detail(&self) -> String {
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
    pub(super) fn is_late(&self) -> bool {
        self.since.is_some()
    }

    /// Whether the request is executed if it is confirmed.
    pub(super) fn asks_to_confirm(&self) -> bool {
        asks_to_confirm(&self.refusal)
    }
}

/// Whether the same form may succeed later, or with other text.
fn can_be_sent_again(status: StatusCode, refusal: &Refusal) -> bool {
    matches!(status.as_u16(), 400 | 412 | 413 | 422 | 429 | 503 | 507)
        || status == StatusCode::CONFLICT && asks_to_confirm(refusal)
}

fn asks_to_confirm(refusal: &Refusal) -> bool {
    refusal
        .members
        .get("field")
        .is_some_and(|field| field == "confirm")
}

/// Reads what changed. `None`: the document was deleted.
async fn since(form: &Form) -> Result<Option<Since>, Failure> {
    let head: Option<Value> = form.visit.of_memory(&[]).find().await?;
    let head = head.unwrap_or_default();
    let Some(version) = head["version"].as_i64().filter(|version| *version > 0) else {
        return Ok(None);
    };
    let ask = form.visit.of_memory(&["contexts", &version.to_string(), "diff"]);
    // The version of the form may have been redacted since, or there was none.
    let diff = match ask
        .query("base", form.fields.text("if_match"))
        .read::<Value>()
        .await
    {
        Ok(diff) => diff,
        Err(Failure::Refused(..)) => Value::Null,
        Err(failure) => return Err(failure),
    };
    Ok(Some(Since {
        version,
        actor: head["last_actor_id"].as_str().unwrap_or_default().to_owned(),
        difference: Difference::of(diff["diff"].as_str().unwrap_or_default()),
    }))
}

impl<S, V> FromRequest<S> for Form<V>
where
    S: Send + Sync,
    V: FromRequestParts<S, Rejection = Failure> + Send,
{
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let (mut parts, body) = request.into_parts();
        let visit = V::from_request_parts(&mut parts, state).await?;
        let (visitor, services): (Visitor, PageServices) = (present(&parts)?, present(&parts)?);
        if !is_own_site(&parts.headers) {
            return Err(foreign());
        }
        let is_form = parts
            .headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.split(';').next() == Some("application/x-www-form-urlencoded"));
        if !is_form {
            return Err(Failure::with_status(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "A form sends application/x-www-form-urlencoded.",
            ));
        }
        let most = match visitor.caller {
            Some(_) => services.context_bytes * BYTES_PER_BYTE + AROUND_A_DOCUMENT,
            None => OF_ANYONE,
        };
        let body = match read_form(&parts.headers, body, most, services.body_timeout).await {
            Ok(body) => body,
            Err(problem) => return Err(Failure::of_problem(problem.into_response()).await),
        };
        let fields = Fields(url::form_urlencoded::parse(&body).into_owned().collect());
        let token = fields.text(TOKEN).as_bytes();
        if !bool::from(token.ct_eq(visitor.form_token.as_bytes())) {
            return Err(foreign());
        }
        Ok(Self {
            visit,
            services,
            headers: parts.headers,
            fields,
        })
    }
}

fn foreign() -> Failure {
    Failure::with_status(
        StatusCode::FORBIDDEN,
        "The form was not sent by a page of this service in this browser, or is older than your session; nothing was \
         done. Load the page again and send it once more.",
    )
}

/// Whether the browser reports that a page of this site sent the request. Programs send no such header; they need the token.
fn is_own_site(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin" || site == "none";
    }
    let Some(origin) = headers.get(ORIGIN) else {
        return true;
    };
    let (Ok(origin), Some(Ok(host))) = (origin.to_str(), headers.get(HOST).map(|host| host.to_str())) else {
        return false;
    };
    origin
        .split_once("://")
        .is_some_and(|(_, from)| from.eq_ignore_ascii_case(host))
}
