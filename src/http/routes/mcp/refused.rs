//! Messages that the transport rejected. The client receives a problem or, if the body is invalid, a JSON-RPC error,
//! which MCP clients understand.

use crate::http::problem::{Kind, Problem};
use axum::Json;
use axum::body::to_bytes;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// JSON-RPC error codes.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// More than the length of any error text of the transport.
const MAX_SENTENCE_BYTES: usize = 8 * 1024;

/// Converts the transport's plain text errors to the format of this service; other responses are unchanged.
pub(super) async fn convert_error(response: Response, message: &[u8]) -> Result<Response, Problem> {
    let status = response.status();
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| value == "application/json");
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return Ok(response);
    }
    let sentence = to_bytes(response.into_body(), MAX_SENTENCE_BYTES)
        .await
        .unwrap_or_default();
    let sentence = String::from_utf8_lossy(&sentence).into_owned();
    if sentence.starts_with("fail to deserialize") {
        return Ok(unreadable(message));
    }
    let kind = match status {
        StatusCode::BAD_REQUEST => Kind::Malformed,
        StatusCode::FORBIDDEN => Kind::Forbidden,
        StatusCode::NOT_FOUND => Kind::NotFound,
        StatusCode::NOT_ACCEPTABLE => Kind::NotAcceptable,
        StatusCode::PAYLOAD_TOO_LARGE => Kind::TooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Kind::UnsupportedMediaType,
        _ => return Err(Problem::internal(sentence)),
    };
    Err(Problem::new(kind, sentence))
}

/// The JSON-RPC error for a body that is not a message.
fn unreadable(message: &[u8]) -> Response {
    let (code, message_text, id) = match serde_json::from_slice::<Value>(message) {
        Err(error) => (
            PARSE_ERROR,
            format!("Parse error: the body is not JSON: {error}"),
            Value::Null,
        ),
        Ok(Value::Array(_)) => (
            INVALID_REQUEST,
            "Invalid Request: batches are not supported; send one message a request".to_owned(),
            Value::Null,
        ),
        Ok(value) => (
            INVALID_REQUEST,
            "Invalid Request: the body is not a JSON-RPC 2.0 message with method and params".to_owned(),
            match value.get("id") {
                Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
                _ => Value::Null,
            },
        ),
    };
    let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message_text } });
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}
