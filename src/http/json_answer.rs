//! An answer in JSON that is sent and, where a request has an `Idempotency-Key`, kept with what it tells of.

use crate::storage::idempotency::KeptAnswer;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Status, headers and body, as they go over the wire.
#[derive(Debug)]
pub(crate) struct JsonAnswer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl JsonAnswer {
    /// An answer without more headers. One whose body cannot be written in JSON is 500, as with `axum::Json`.
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

    /// With one more header.
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
