//! Failures of pages: handlers return `application/problem+json` like routes, and so do the layers in front of them; problems
//! become pages in one place, as the response leaves.

use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visitor;
use askama::Template;
use axum::Json;
use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt::Display;

/// The media type of a problem.
pub(super) const PROBLEM: &str = "application/problem+json";

/// A problem from a route.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Refusal {
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) detail: String,
    #[serde(flatten)]
    pub(super) members: Map<String, Value>,
}

impl Refusal {
    pub(super) fn read(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// That of a response.
    async fn of(body: Body) -> Self {
        Self::read(&to_bytes(body, MAX_PROBLEM_BYTES).await.unwrap_or_default())
    }
}

/// Why a page cannot be shown.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Not signed in: redirects to the path of the sign-in page.
    SignIn(String),
    /// Rejected by a route or by the page itself.
    Refused(StatusCode, Box<Refusal>),
    /// A fault of the service; the cause goes to the log.
    Internal(String),
}

impl Failure {
    pub(super) fn refused(status: StatusCode, refusal: Refusal) -> Self {
        Self::Refused(status, Box::new(refusal))
    }

    /// A rejection by the page itself.
    pub(super) fn with_status(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::refused(
            status,
            Refusal {
                title: status.canonical_reason().unwrap_or("Error").to_owned(),
                detail: detail.into(),
                members: Map::new(),
            },
        )
    }

    /// A form whose operations were read and not applied: `answer` says of each why.
    pub(super) fn rejected(answer: Map<String, Value>) -> Self {
        let refusal = Refusal {
            title: "Nothing was saved".to_owned(),
            detail: String::new(),
            members: answer,
        };
        Self::refused(StatusCode::UNPROCESSABLE_ENTITY, refusal)
    }

    /// A problem of the service as a response.
    pub(super) async fn of_problem(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        Self::refused(parts.status, Refusal::of(body).await)
    }

    pub(super) fn internal(cause: impl Display) -> Self {
        Self::Internal(cause.to_string())
    }

    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::SignIn(_) => StatusCode::SEE_OTHER,
            Self::Refused(status, _) => *status,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = self.status();
        let refusal = match self {
            Self::SignIn(place) => return Redirect::to(&place).into_response(),
            Self::Refused(_, refusal) => *refusal,
            Self::Internal(cause) => {
                tracing::error!(%cause, "a page could not be rendered");
                Refusal {
                    title: "A fault of the service".to_owned(),
                    detail: "The page could not be rendered because of a fault of the service.".to_owned(),
                    members: Map::new(),
                }
            }
        };
        (status, [(CONTENT_TYPE, PROBLEM)], Json(refusal)).into_response()
    }
}

/// The maximum size of a problem that is parsed.
const MAX_PROBLEM_BYTES: usize = 64 * 1024;

#[derive(Template)]
#[template(path = "failure.html")]
struct View {
    page: Page,
    status: u16,
    refusal: Refusal,
}

/// A page that makes the browser request the same page again, so that the request does not come from another site's page.
pub(crate) fn reload_page() -> Response {
    layout::html(include_str!("again.html"))
}

/// Converts a problem into a page, with the navigation of the one at `path`; other responses are unchanged.
pub(crate) async fn as_page(path: &str, response: Response) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let media_type = response.headers().get(CONTENT_TYPE);
    let is_page = media_type.is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    if !is_error || is_page {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let refusal = Refusal::of(body).await;
    let is_found = parts.status != StatusCode::NOT_FOUND;
    let view = View {
        page: Page::instead(path, parts.extensions.get::<Visitor>(), is_found).here(parts.status.as_str()),
        status: parts.status.as_u16(),
        refusal,
    };
    let text = view.render().unwrap_or_default();
    parts.headers.remove(CONTENT_LENGTH);
    parts
        .headers
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    layout::guard(&mut parts.headers);
    Response::from_parts(parts, Body::from(text))
}
