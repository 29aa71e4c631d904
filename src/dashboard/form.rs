//! Parses a form, if it comes from a page of this service in the same browser.
//!
//! A page of another site can make a browser send a form here, with its cookies. Three checks reject it: the cookie is
//! `SameSite=Strict`; the form has a token that only pages of this service contain; and what the browser reports about
//! the sending page (`Sec-Fetch-Site`, else `Origin`) must be this site.

use super::api::Ask;
use super::failure::Failure;
use super::visit::{Anybody, Visit};
use axum::body::to_bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use subtle::ConstantTimeEq;

/// The name of the token's field.
pub(super) const TOKEN: &str = "form_token";

/// Bytes that a form may have besides a document.
const AROUND_A_DOCUMENT: usize = 128 * 1024;

/// Percent-encoding may need three bytes per byte of a document.
const BYTES_PER_BYTE: usize = 3;

/// The fields of a form, and the visitor who sent it.
pub(crate) struct Form<V = Visit> {
    pub(super) visit: V,
    pub(super) headers: HeaderMap,
    pub(super) path: String,
    pub(super) fields: Vec<(String, String)>,
}

impl Form {
    /// The request of the form: executed once, and only for the version that it was opened for, if it names one.
    pub(super) fn ask(&self, method: Method, segments: &[&str]) -> Ask {
        let ask = self.visit.api.ask(method, segments);
        let ask = ask.header("idempotency-key", self.text("once"));
        match self.fields.iter().find(|(name, _)| name == "if_match") {
            Some((_, seen)) if seen.is_empty() => ask.header("if-none-match", "*"),
            Some((_, seen)) => ask.if_match(seen),
            None => ask,
        }
    }

    /// Irreversible actions require a confirmation.
    pub(super) fn is_sure(&self) -> Result<(), Failure> {
        if self.get("sure") == Some("yes") {
            return Ok(());
        }
        Err(Failure::with_status(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Nothing was done: tick the box that says that it cannot be undone.",
        ))
    }
}

impl<V> Form<V> {
    /// A field; an empty one counts as missing.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(other, _)| other == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// A field, unchanged; empty if it is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// All values of a field.
    pub(super) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.fields
            .iter()
            .filter(move |(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }
}

/// What a form needs to know about its sender.
pub(super) trait Sender {
    fn form_token(&self) -> &str;
    fn context_bytes(&self) -> usize;
}

impl Sender for Visit {
    fn form_token(&self) -> &str {
        &self.form_token
    }

    fn context_bytes(&self) -> usize {
        self.services.context_bytes
    }
}

impl Sender for Anybody {
    fn form_token(&self) -> &str {
        &self.visitor.form_token
    }

    fn context_bytes(&self) -> usize {
        0
    }
}

impl<S, V> FromRequest<S> for Form<V>
where
    S: Send + Sync,
    V: Sender + FromRequestParts<S, Rejection = Failure> + Send,
{
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let (mut parts, body) = request.into_parts();
        let visit = V::from_request_parts(&mut parts, state).await?;
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
        let most = visit.context_bytes() * BYTES_PER_BYTE + AROUND_A_DOCUMENT;
        let body = to_bytes(body, most).await.map_err(|_| {
            Failure::with_status(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("The form is incomplete, or has more than {most} bytes."),
            )
        })?;
        let fields: Vec<(String, String)> = url::form_urlencoded::parse(&body).into_owned().collect();
        let shown = fields
            .iter()
            .find(|(name, _)| name == TOKEN)
            .map(|(_, value)| value.as_bytes());
        if !bool::from(shown.unwrap_or_default().ct_eq(visit.form_token().as_bytes())) {
            return Err(foreign());
        }
        Ok(Self {
            visit,
            headers: parts.headers,
            path: parts.uri.path().to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn own(headers: &[(&'static str, &'static str)]) -> bool {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        is_own_site(&headers.collect())
    }

    #[test]
    fn requests_of_another_site_are_detected() {
        assert!(own(&[]));
        assert!(own(&[
            ("sec-fetch-site", "same-origin"),
            ("origin", "https://proxied")
        ]));
        assert!(own(&[("origin", "http://a:1"), ("host", "a:1")]));
        for foreign in ["cross-site", "same-site", ""] {
            assert!(!own(&[("sec-fetch-site", foreign)]), "{foreign}");
        }
        for foreign in ["null", "http://b:1", "http://a:2", "a:1"] {
            assert!(!own(&[("origin", foreign), ("host", "a:1")]), "{foreign}");
        }
    }
}
