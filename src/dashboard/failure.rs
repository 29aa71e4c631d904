//! Failures of pages: handlers return `application/problem+json` like routes, and so do the layers in front of them.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::fmt::Display;

/// The media type of a problem.
pub(super) const PROBLEM: &str = "application/problem+json";

/// A problem from a route.
#[derive(Debug, Clone, Default, Deserialize)]
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

    /// The rejection, if it is one.
    pub(super) fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(_, refusal) => Some(refusal),
            Self::SignIn(_) | Self::Internal(_) => None,
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
        let mut body = refusal.members;
        body.insert("title".to_owned(), json!(refusal.title));
        body.insert("detail".to_owned(), json!(refusal.detail));
        let body = Value::Object(body).to_string();
        (status, [(CONTENT_TYPE, PROBLEM)], body).into_response()
    }
}
