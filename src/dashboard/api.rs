//! Requests of pages to the routes of the HTTP interface, on behalf of the visitor.

use super::failure::{Failure, Refusal};
use crate::route_request::RouteRequest;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Extensions, Method, StatusCode};
use axum::response::Response;
use serde::de::DeserializeOwned;
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

    /// A request below `/v1`.
    pub(super) fn ask(&self, method: Method, segments: &[&str]) -> Ask {
        self.ask_root(method, &[&["v1"], segments].concat())
    }

    /// A request to any route.
    pub(super) fn ask_root(&self, method: Method, segments: &[&str]) -> Ask {
        RouteRequest::of(self.clone(), method, segments)
    }
}

/// One request of a page.
pub(super) type Ask = RouteRequest<Routes>;

/// The response of a route.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl RouteRequest<Routes> {
    /// Sends the request and returns the response with any status; its body may be a stream.
    pub(super) async fn send(self) -> Result<Response, Failure> {
        let parts = self.into_parts::<Body>().map_err(|_| {
            Failure::with_status(
                StatusCode::UNPROCESSABLE_ENTITY,
                "the entered text is too long for a request",
            )
        })?;
        let (Routes { routes, carried }, mut request) = parts;
        *request.extensions_mut() = carried;
        match routes.oneshot(request).await {
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

    /// Like [`Self::read`]; `None` for what does not exist, or not any more.
    pub(super) async fn find<T: DeserializeOwned>(self) -> Result<Option<T>, Failure> {
        match self.read().await {
            Ok(found) => Ok(Some(found)),
            Err(failure) if matches!(failure.status(), StatusCode::NOT_FOUND | StatusCode::GONE) => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}
