//! Calls the service's own routes without a connection. A tool call passes the same extractors, handlers and storage
//! functions as an HTTP request, with the caller, the concurrency permit and the actor of the message that made it. It
//! is neither counted by the rate limit nor logged again.

use crate::domain::access::Caller;
use crate::http::extract::caller::X_ACTOR_ID;
use crate::http::middleware::access::Admission;
use crate::http::middleware::bounds::Slot;
use crate::http::problem::{Cause, Problem};
use crate::http::routes::contexts::view::Shown;
use crate::http::serve::Peer;
use crate::mcp::{Backend, Failure, Fixed, RouteRequest, RouteResponse, StreamResponse, Unreachable};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, TryStreamExt};
use rmcp::model::Extensions;
use serde_json::Value;
use tower::ServiceExt;

/// Calls the routes of this service.
pub(crate) struct OwnRoutes {
    routes: Router,
}

impl OwnRoutes {
    /// `routes` must authorize the caller and limit the time.
    pub(super) fn new(routes: Router) -> Self {
        Self { routes }
    }

    async fn response(&self, from: &Extensions, ask: RouteRequest) -> Response {
        let request = match request(from, ask) {
            Ok(request) => request,
            Err(problem) => return problem.into_response(),
        };
        let (method, route) = (request.method().clone(), self.routes.clone());
        let response = match route.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        if let Some(Cause(cause)) = response.extensions().get::<Cause>() {
            let status = response.status().as_u16();
            tracing::warn!(%method, status, %cause, "what a tool asked for failed");
        }
        response
    }
}

impl Backend for OwnRoutes {
    fn fixed(&self, from: &Extensions) -> Fixed {
        let fixed = from
            .get::<Parts>()
            .and_then(|parts| parts.extensions.get::<Fixed>());
        fixed.cloned().unwrap_or_default()
    }

    async fn ask(&self, from: &Extensions, ask: RouteRequest) -> Result<RouteResponse, Unreachable> {
        let response = self.response(from, ask).await;
        whole(response).await
    }

    async fn document(&self, from: &Extensions, ask: RouteRequest) -> Result<Value, Failure> {
        let response = self.response(from, ask.accept("text/plain")).await;
        let shown = response.extensions().get::<Shown>().cloned();
        let answer = whole(response).await?;
        let Some(shown) = shown else {
            return Err(Failure::of_answer(&answer));
        };
        let unreadable =
            |what: &dyn std::fmt::Display| Unreachable(format!("the document cannot be told ({what})"));
        let mut document = serde_json::to_value(shown.metadata()).map_err(|error| unreadable(&error))?;
        let text = std::str::from_utf8(answer.body()).map_err(|error| unreadable(&error))?;
        document["context"] = Value::from(text);
        Ok(document)
    }

    async fn open(&self, from: &Extensions, ask: RouteRequest) -> Result<StreamResponse, Unreachable> {
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
    let (_, mut request) = ask
        .into_parts::<Body>()
        .map_err(|_| Problem::invalid("arguments", "the arguments are too long for a request"))?;
    if let Some(actor) = message.headers.get(X_ACTOR_ID) {
        request.headers_mut().insert(X_ACTOR_ID, actor.clone());
    }
    let original = &message.extensions;
    let copied = request.extensions_mut();
    copied.extend(kept::<Caller>(original));
    copied.extend(kept::<Admission>(original));
    copied.extend(kept::<Slot>(original));
    copied.extend(kept::<Peer>(original));
    Ok(request)
}

/// Copies one extension, if it is set.
fn kept<T: Clone + Send + Sync + 'static>(original: &axum::http::Extensions) -> axum::http::Extensions {
    let mut one = axum::http::Extensions::new();
    if let Some(value) = original.get::<T>() {
        one.insert(value.clone());
    }
    one
}

async fn whole(response: Response) -> Result<RouteResponse, Unreachable> {
    let (parts, body) = response.into_parts();
    // Responses of this service are limited in size already.
    let body = to_bytes(body, usize::MAX)
        .await
        .map_err(|error| Unreachable(error.to_string()))?;
    Ok(RouteResponse::from_parts(parts, body))
}
