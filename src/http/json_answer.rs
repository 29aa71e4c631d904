//! A JSON response that is sent and, if the request has an `Idempotency-Key`, stored together with its changes.

use crate::storage::idempotency::KeptAnswer;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
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

    /// Adds the path of what was made. Ids contain only characters that are allowed in a header.
    pub(crate) fn at(self, path: &str) -> Self {
        match HeaderValue::from_str(path) {
            Ok(path) => self.with(LOCATION, path),
            Err(_) => self,
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
        kept(answer.status, &answer.headers, answer.body)
    }
}

/// A response in the form in which it is stored for repeated requests.
pub(crate) fn kept(status: StatusCode, headers: &HeaderMap, body: Vec<u8>) -> KeptAnswer {
    let headers = headers.iter().filter(|(name, _)| *name != CONTENT_LENGTH);
    KeptAnswer {
        status: status.as_u16(),
        headers: headers
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
            .collect(),
        body,
    }
}

impl IntoResponse for JsonAnswer {
    fn into_response(self) -> Response {
        (self.status, self.headers, self.body).into_response()
    }
}
