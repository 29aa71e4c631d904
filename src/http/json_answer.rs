//! A JSON response that is sent and, if the request has an `Idempotency-Key`, stored together with its changes.

use crate::storage::idempotency::KeptAnswer;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Status, headers and body, as they are sent.
#[derive(Debug)]
pub(crate) struct JsonAnswer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl JsonAnswer {
    /// A response without further headers. A body that cannot be serialized becomes 500, as with `axum::Json`.
    pub(crate) fn new(status: StatusCode, body: &impl Serialize) -> Self {
        let (status, media_type, body) = match serde_json::to_vec(body) {
            Ok(body) => (status, "application/json", body),
            Err(error) => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "text/plain; charset=utf-8",
                error.to_string().into_bytes(),
            ),
        };
        Self {
            status,
            headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media_type))]),
            body,
        }
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }
}

impl From<JsonAnswer> for KeptAnswer {
    fn from(answer: JsonAnswer) -> Self {
        let headers = answer.headers.iter();
        Self {
            status: answer.status.as_u16(),
            headers: headers
                .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
                .collect(),
            body: answer.body,
        }
    }
}

impl IntoResponse for JsonAnswer {
    fn into_response(self) -> Response {
        (self.status, self.headers, self.body).into_response()
    }
}
