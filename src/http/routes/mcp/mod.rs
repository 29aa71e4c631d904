//! `POST /mcp`: the Model Context Protocol over streamable HTTP (docs/agents.md).
//!
//! Every message is answered without a session, so that any instance can serve any request. The response is JSON, or
//! an event stream if the client requested notifications about progress.

mod own_routes;
mod refused;

use self::own_routes::OwnRoutes;
use crate::domain::ids::{MemoryId, VaultId};
use crate::http::extract::body::{self, Limit};
use crate::http::extract::query::{FromQuery, Query, QueryReader};
use crate::http::feed::ServerSentEvent;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::mcp::{Fixed, Server};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Request, State};
use axum::http::HeaderValue;
use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use axum::response::Response;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

/// A document in a JSON string may have an escape for each of its bytes; the message around it needs some more.
const BYTES_PER_DOCUMENT_BYTE: usize = 2;
const BYTES_AROUND_A_DOCUMENT: usize = 64 * 1024;

/// The protocol server, shared by all requests.
#[derive(Clone)]
pub(crate) struct Protocol(Arc<StreamableHttpService<Server<OwnRoutes>, NeverSessionManager>>);

impl Protocol {
    /// `routes` answers the requests of tools.
    pub(crate) fn new(state: &AppState, routes: Router) -> Self {
        let backend = Arc::new(OwnRoutes::new(routes));
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_keep_alive(Some(state.settings.heartbeat))
            .with_max_request_body_bytes(usize::MAX)
            // Hosts and origins are checked by the middleware of all routes.
            .disable_allowed_hosts();
        let server = move || Ok(Server::new(backend.clone()));
        Self(Arc::new(StreamableHttpService::new(
            server,
            Arc::default(),
            config,
        )))
    }
}

/// What is fixed for a client.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct McpParams {
    /// The vault that all calls are about: the argument `vault` may be left out then, and must not name another.
    #[param(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    vault: Option<VaultId>,
    /// The same for the memory.
    #[param(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    memory: Option<MemoryId>,
}

impl FromQuery for McpParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            vault: query.parse("vault")?,
            memory: query.parse("memory")?,
        })
    }
}

/// A message of the Model Context Protocol.
#[derive(utoipa::ToSchema)]
#[schema(as = McpMessage)]
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
    operation_id = "SpeakMcp",
    tag = "mcp",
    params(McpParams),
    request_body(content = McpMessage, content_type = "application/json"),
    responses(
        (status = 200, description = "The answer; as events where a `progressToken` asks for them.", content(
            (McpMessage = "application/json"),
            (ServerSentEvent<'static> = "text/event-stream"),
        )),
        (status = 202, description = "A notification was taken."),
        (status = 404, description = "There is no such method, in protocol version 2026-07-28; a JSON-RPC error.", body = McpMessage, content_type = "application/json"),
        (status = 406, description = "`Accept` does not name both `application/json` and `text/event-stream`."),
    )
)]
pub(crate) async fn mcp(
    State(state): State<AppState>,
    Query(params): Query<McpParams>,
    Extension(Protocol(protocol)): Extension<Protocol>,
    request: Request,
) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let document = state
        .settings
        .context_bytes
        .saturating_mul(BYTES_PER_DOCUMENT_BYTE);
    let limit = Limit {
        name: "limits.body_bytes",
        bytes: state
            .settings
            .body_bytes
            .max(document.saturating_add(BYTES_AROUND_A_DOCUMENT)),
    };
    let message = body::read(&parts.headers, body, limit, state.settings.body_timeout).await?;
    let message = Bytes::from(message);
    accept_both(&mut parts);
    parts.extensions.insert(Fixed {
        vault: params.vault,
        memory: params.memory,
    });
    let request = Request::from_parts(parts, Body::from(message.clone()));
    let response = protocol.handle(request).await.map(Body::new);
    refused::convert_error(response, &message).await
}

/// A client that accepts any media type accepts both forms of a response.
fn accept_both(parts: &mut Parts) {
    let accepts_anything = match parts.headers.get(ACCEPT) {
        None => true,
        Some(value) => value == "*/*",
    };
    if accepts_anything {
        let both = HeaderValue::from_static("application/json, text/event-stream");
        parts.headers.insert(ACCEPT, both);
    }
}
