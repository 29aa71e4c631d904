//! `POST /mcp`: the Model Context Protocol over streamable HTTP (docs/agents.md).
//!
//! Every message is answered without a session, so that any instance can serve any request. The response is JSON, or
//! an event stream if the client requested notifications about progress.

use crate::domain::ids::{MemoryId, VaultId};
use crate::http::extract::body::{self, Limit, Object, exact};
use crate::http::extract::caller::X_ACTOR_ID;
use crate::http::extract::headers::{Accept, Representation};
use crate::http::extract::params::Query;
use crate::http::feed::ServerSentEvent;
use crate::http::middleware::carried;
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::mcp::{Backend, Failure, Fixed, RouteRequest, RouteResponse, Server, StreamResponse, Unreachable};
use async_trait::async_trait;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Extension, Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use futures::{StreamExt, TryStreamExt};
use rmcp::model::Extensions;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tower::ServiceExt;

/// A document in a JSON string may have an escape for each of its bytes; the message around it needs some more.
const BYTES_PER_DOCUMENT_BYTE: usize = 2;
const BYTES_AROUND_A_DOCUMENT: usize = 64 * 1024;

/// The protocol server, shared by all requests.
#[derive(Clone)]
pub(crate) struct Protocol(Arc<StreamableHttpService<Server, NeverSessionManager>>);

impl Protocol {
    /// `routes` answers the requests of tools.
    pub(crate) fn new(state: &AppState, routes: Router) -> Self {
        let backend = Arc::new(OwnRoutes(routes));
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_keep_alive(Some(state.settings.heartbeat))
            .with_max_request_body_bytes(usize::MAX)
            // Hosts and origins are checked by the middleware of all routes.
            .disable_allowed_hosts();
        let server = move || Ok(Server(backend.clone()));
        Self(Arc::new(StreamableHttpService::new(
            server,
            Arc::default(),
            config,
        )))
    }
}

/// What is fixed for a client.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct McpParams {
    /// The vault that all calls are about: the argument `vault` may be left out then, and must not name another.
    vault: Option<VaultId>,
    /// The same for the memory.
    memory: Option<MemoryId>,
}

/// A message of the Model Context Protocol.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "documents the request body and the answer")]
pub(crate) struct McpMessage {
    /// `2.0`.
    jsonrpc: String,
    /// Names the request; missing in a notification.
    id: Option<serde_json::Value>,
    /// What is asked for, such as `tools/call`.
    method: Option<String>,
    /// Its arguments.
    params: Option<serde_json::Value>,
    /// The answer.
    result: Option<serde_json::Value>,
    /// Or what went wrong.
    error: Option<serde_json::Value>,
}

/// Speak the Model Context Protocol
///
/// One JSON-RPC message of streamable HTTP, without sessions: tools, resources and prompts over memories, of
/// protocol version 2026-07-28 and the older ones. Tools do what the routes do, with the same key, role, vaults and
/// limits; what fails there is a tool error here.
#[utoipa::path(
    post,
    path = "/mcp",
    params(McpParams),
    request_body(content = McpMessage, content_type = "application/json"),
    responses(
        (status = 200, description = "The answer; as events where a `progressToken` asks for them.", content(
            (McpMessage = "application/json"),
            (ServerSentEvent<'static> = "text/event-stream"),
        )),
        (status = 202, description = "A notification was taken."),
        (status = 400, description = "The body is no message (a JSON-RPC error), or the request cannot be read.", body = McpMessage, content_type = "application/json"),
        (status = 404, description = "There is no such method, in protocol version 2026-07-28; a JSON-RPC error.", body = McpMessage, content_type = "application/json"),
        (status = 406, description = "`Accept` does not allow both `application/json` and `text/event-stream`."),
        (status = 422, description = "A query parameter is not valid."),
    )
)]
pub(crate) async fn speak_mcp(
    State(state): State<AppState>,
    Query(params): Query<McpParams>,
    Extension(Protocol(protocol)): Extension<Protocol>,
    accept: Accept,
    request: Request,
) -> Result<Response, Problem> {
    for needed in [Representation::Json, Representation::EventStream] {
        accept.choose(&[needed]).map_err(|_| {
            let detail = "Accept must allow both application/json and text/event-stream";
            Problem::new(Kind::NotAcceptable, detail).with("field", "Accept")
        })?;
    }
    let (mut parts, body) = request.into_parts();
    // The transport looks for both by name, and not for ranges such as `*/*`.
    let both = HeaderValue::from_static("application/json, text/event-stream");
    parts.headers.insert(ACCEPT, both);
    let limits = &state.settings.config.limits;
    let document = limits.context_bytes.saturating_mul(BYTES_PER_DOCUMENT_BYTE);
    let limit = Limit {
        name: "limits.body_bytes",
        bytes: limits
            .body_bytes
            .max(document.saturating_add(BYTES_AROUND_A_DOCUMENT)),
    };
    let message = body::read(&parts.headers, body, limit, state.settings.body_timeout).await?;
    let message = Bytes::from(message);
    parts.extensions.insert(Fixed {
        vault: params.vault,
        memory: params.memory,
    });
    parts.extensions.insert(Message(message.clone()));
    let request = Request::from_parts(parts, Body::from(message.clone()));
    let response = protocol.handle(request).await.map(Body::new);
    convert_error(response, &message).await
}

/// A message as it arrived: the protocol server rounds its numbers.
#[derive(Clone)]
struct Message(Bytes);

/// The arguments of a call that are stored with their numbers.
#[derive(Deserialize)]
struct Stored {
    #[serde(default, rename = "outcome", deserialize_with = "exact")]
    _outcome: IgnoredAny,
    #[serde(rename = "record")]
    _record: Option<Box<Object<Stored>>>,
}

/// A member of a JSON object, as it is written.
fn member<'m>(object: &'m str, name: &str) -> Option<&'m str> {
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(object).ok()?;
    members.remove(name).map(RawValue::get)
}

impl Message {
    /// Rejects numbers that the route would reject if it saw all their digits.
    fn check_numbers(&self) -> Result<(), Problem> {
        let message = std::str::from_utf8(&self.0).unwrap_or_default();
        let params = member(message, "params");
        match params.and_then(|params| member(params, "arguments")) {
            Some(arguments) => body::parse::<Stored>(arguments).map(drop),
            None => Ok(()),
        }
    }
}

/// Calls the routes of this service, which authorize the caller and limit the time.
pub(crate) struct OwnRoutes(Router);

impl OwnRoutes {
    async fn response(&self, from: &Extensions, ask: RouteRequest) -> Response {
        let request = match request(from, ask) {
            Ok(request) => request,
            Err(problem) => return problem.into_response(),
        };
        let Ok(response) = self.0.clone().oneshot(request).await;
        response
    }
}

#[async_trait]
impl Backend for OwnRoutes {
    fn fixed(&self, from: &Extensions) -> Fixed {
        let fixed = from
            .get::<Parts>()
            .and_then(|parts| parts.extensions.get::<Fixed>());
        fixed.cloned().unwrap_or_default()
    }

    async fn ask(&self, from: &Extensions, ask: RouteRequest) -> Result<RouteResponse, Failure> {
        let response = self.response(from, ask).await;
        Ok(whole(response).await?)
    }

    async fn open(&self, from: &Extensions, ask: RouteRequest) -> Result<StreamResponse, Failure> {
        let response = self.response(from, ask).await;
        let is_stream = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|value| value == "text/event-stream");
        if !is_stream {
            return Ok(StreamResponse::Whole(whole(response).await?));
        }
        let pieces = response.into_body().into_data_stream();
        let pieces =
            pieces.map_err(|error| Unreachable(format!("the stream of the service broke ({error})")));
        Ok(StreamResponse::Stream(pieces.boxed()))
    }
}

/// The request of a tool, on behalf of the message's caller.
fn request(from: &Extensions, ask: RouteRequest) -> Result<Request, Problem> {
    let Some(message) = from.get::<Parts>() else {
        return Err(Problem::internal("a message without its request"));
    };
    if let Some(arrived) = message.extensions.get::<Message>()
        && ask.method == Method::POST
    {
        arrived.check_numbers()?;
    }
    let (_, mut request) = ask
        .into_parts::<Body>()
        .map_err(|_| Problem::invalid("arguments", "the arguments are too long for a request"))?;
    if let Some(actor) = message.headers.get(X_ACTOR_ID) {
        request.headers_mut().insert(X_ACTOR_ID, actor.clone());
    }
    *request.extensions_mut() = carried(&message.extensions);
    Ok(request)
}

async fn whole(response: Response) -> Result<RouteResponse, Unreachable> {
    let (parts, body) = response.into_parts();
    // Responses of this service are limited in size already.
    let body = to_bytes(body, usize::MAX)
        .await
        .map_err(|error| Unreachable(error.to_string()))?;
    Ok(RouteResponse::from_parts(parts, body))
}

/// JSON-RPC error codes.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// More than the length of any error text of the transport.
const MAX_SENTENCE_BYTES: usize = 8 * 1024;

/// Converts the transport's plain text errors to the format of this service; other responses are unchanged.
async fn convert_error(response: Response, message: &[u8]) -> Result<Response, Problem> {
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
