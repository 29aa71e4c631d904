//! Requests of pages to the routes of the HTTP interface, on behalf of the visitor.

use super::failure::{Failure, Refusal};
use super::link;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{Extensions, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::ServiceExt;

/// The routes, and the caller's extensions that they need: inserted into the extensions of a page request by `http`,
/// which has the routes.
#[derive(Clone)]
pub(crate) struct Routes {
    routes: Router,
    carried: Extensions,
}

impl Routes {
    /// `carried` is inserted into the extensions of each request; `routes` check the rights in it.
    pub(crate) fn new(routes: Router, carried: Extensions) -> Self {
        Self { routes, carried }
    }

    /// A GET request.
    pub(super) fn get(&self, segments: &[&str]) -> Ask {
        self.ask(Method::GET, segments)
    }

    /// A GET request for something of a memory.
    pub(super) fn of_memory(&self, vault: &str, memory: &str, below: &[&str]) -> Ask {
        self.get(&[&["vaults", vault, "memories", memory], below].concat())
    }

    /// A request below `/v1`.
    pub(super) fn ask(&self, method: Method, segments: &[&str]) -> Ask {
        let path = format!("/v1{}", link::path(segments));
        self.ask_path(method, path).header("accept", "application/json")
    }

    /// A request to a path that is already escaped.
    pub(super) fn ask_path(&self, method: Method, path: String) -> Ask {
        Ask {
            routes: self.clone(),
            method,
            path,
            query: Vec::new(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }
}

/// One request of a page.
#[must_use = "a request does nothing until it is sent"]
pub(super) struct Ask {
    routes: Routes,
    method: Method,
    path: String,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// The response of a route.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Ask {
    pub(super) fn query(mut self, name: &str, value: impl ToString) -> Self {
        self.query.push((name.to_owned(), value.to_string()));
        self
    }

    /// Adds an optional parameter; an empty one counts as missing.
    pub(super) fn maybe(self, name: &str, value: Option<&str>) -> Self {
        match value.filter(|value| !value.is_empty()) {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Sets a header.
    pub(super) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers
            .retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Sets `If-Match` to the version that the form was made for.
    pub(super) fn if_match(self, context_id: &str) -> Self {
        self.header("if-match", format!("\"{context_id}\""))
    }

    pub(super) fn text(self, text: String) -> Self {
        let mut ask = self.header("content-type", "text/plain; charset=utf-8");
        ask.body = text.into_bytes();
        ask
    }

    pub(super) fn json(self, body: &Value) -> Self {
        let mut ask = self.header("content-type", "application/json");
        ask.body = body.to_string().into_bytes();
        ask
    }

    /// Sends the request and returns the response with any status; its body may be a stream.
    pub(super) async fn send(self) -> Result<Response, Failure> {
        let query: Vec<(&str, Option<&str>)> = self
            .query
            .iter()
            .map(|(name, value)| (name.as_str(), Some(value.as_str())))
            .collect();
        let mut request = Request::builder()
            .method(self.method)
            .uri(link::with_query(&self.path, &query))
            .body(Body::from(self.body))
            .map_err(|_| {
                Failure::with_status(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "the entered text is too long for a request",
                )
            })?;
        for (name, value) in self.headers {
            let name = HeaderName::try_from(name);
            let value = HeaderValue::try_from(value);
            let (Ok(name), Ok(value)) = (name, value) else {
                return Err(Failure::with_status(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "a header must be one line of visible ASCII",
                ));
            };
            request.headers_mut().append(name, value);
        }
        *request.extensions_mut() = self.routes.carried;
        match self.routes.routes.oneshot(request).await {
            Ok(response) => Ok(response),
            Err(never) => match never {},
        }
    }

    /// Sends the request and reads the whole response, with any status.
    pub(super) async fn answer(self) -> Result<Answer, Failure> {
        let (parts, body) = self.send().await?.into_parts();
        // The response comes from this service, whose own limits apply.
        let body = to_bytes(body, usize::MAX).await.map_err(Failure::internal)?;
        Ok(Answer {
            status: parts.status,
            body,
        })
    }

    /// Sends the request; any status but a success is a failure of the page.
    pub(super) async fn done(self) -> Result<Answer, Failure> {
        let answer = self.answer().await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(Failure::refused(answer.status, Refusal::read(&answer.body)))
    }

    /// Sends the request and parses the JSON of the response; without a body it is null.
    pub(super) async fn read<T: DeserializeOwned>(self) -> Result<T, Failure> {
        let body = self.done().await?.body;
        let json = if body.is_empty() { b"null" } else { &body[..] };
        serde_json::from_slice(json).map_err(Failure::internal)
    }

    /// Like [`Ask::read`]; `None` for what does not exist, or not any more.
    pub(super) async fn find<T: DeserializeOwned>(self) -> Result<Option<T>, Failure> {
        match self.read().await {
            Ok(found) => Ok(Some(found)),
            Err(failure) if matches!(failure.status(), StatusCode::NOT_FOUND | StatusCode::GONE) => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}
