//! The middleware of every request. From the outside in: [`standard`] (the layers of `tower-http` for headers, compression,
//! request ids, panics; between them log line and metrics), [`bounds`] (the rest of a body), [`site`] (host and origin),
//! [`access`] (authentication, authorization, and [`rate`]), [`bounds`] (concurrency), [`idempotency`] (PUT and POST of a
//! vault), [`bounds`] again (time limit), [`replica`] (which database answers a read).
//!
//! Behind the first, each is a function that wraps the next one. One [`layer`] per route combines all of them, because an axum layer
//! clones and boxes its inner service for every request, which costs more than most of these functions do.

use crate::domain::access::Caller;
use crate::fair::Party;
use crate::http::dashboard::Pages;
use crate::http::problem::Cause;
use crate::http::serve::Peer;
use crate::http::state::AppState;
use axum::extract::Request;
use axum::http::Extensions;
use axum::response::Response;
use futures::FutureExt;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tower::layer::layer_fn;
use tower::{Layer, Service, service_fn};

pub(crate) mod access;
pub(crate) mod bounds;
pub(crate) mod idempotency;
pub(crate) mod rate;
pub(crate) mod replica;
pub(crate) mod site;
pub(crate) mod standard;

/// Wraps everything, including requests without a route.
pub(crate) async fn around_all<S: Inner>(state: Arc<AppState>, request: Request, next: Next<S>) -> Response {
    all(&state, request, |request| next.run(request)).await
}

/// The middleware of every request after the service has started.
async fn all<F: Future<Output = Response>>(
    state: &AppState,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let admit = |request| access::check(state, request, next);
    bounds::discard(request, |request| site::check(state, request, admit)).await
}

/// The limits of a route.
#[derive(Debug)]
pub(crate) struct Work {
    /// The database and the settings.
    pub(crate) state: AppState,
    /// The time limit of a request.
    pub(crate) time: Duration,
    /// How the body's bytes are counted.
    pub(crate) weighs: bounds::Weighs,
}

/// The layer of regular routes.
pub(crate) async fn around_work<S: Inner>(work: Arc<Work>, request: Request, next: Next<S>) -> Response {
    let Work { state, time, weighs } = &*work;
    let bounded = async |request: Request| {
        let party = party(&request);
        let time = *time;
        let of_read = state.clone();
        let read = move |request| replica::read(of_read, request, next);
        let run = move |request| bounds::time(time, request, read);
        let once = |request| idempotency::once(state, time, request, run);
        party
            .scope(bounds::concurrency(state, *weighs, request, once))
            .await
    };
    all(state, request, bounded).await
}

/// The party that an authenticated request is counted for.
fn party(request: &Request) -> Party {
    request.extensions().get::<Party>().cloned().unwrap_or_default()
}

/// The layer of the dashboard's pages. They call routes with the layer [`around_own`].
pub(crate) async fn around_pages<S: Inner>(pages: Arc<Pages>, request: Request, next: Next<S>) -> Response {
    let state = &pages.state;
    let time = state.settings.update_timeout;
    let give = |mut request| {
        pages.give(&mut request);
        bounds::time(time, request, |request| next.run(request))
    };
    let bounded = async |request: Request| {
        party(&request)
            .scope(bounds::concurrency(state, bounds::Weighs::Work, request, give))
            .await
    };
    all(state, request, bounded).await
}

/// The layer of routes that tools and pages call: like [`around_work`], but the request that calls is already authenticated.
pub(crate) async fn around_own<S: Inner>(work: Arc<Work>, request: Request, next: Next<S>) -> Response {
    let Work { state, time, .. } = &*work;
    let time = *time;
    let run = move |request| bounds::time(time, request, move |request| next.run(request));
    let once = |request| idempotency::once(state, time, request, run);
    let method = request.method().clone();
    let response = access::check_again(request, once).await;
    // The tool or page shows the problem; the cause is only in the log.
    if let Some(Cause(cause)) = response.extensions().get::<Cause>() {
        let status = response.status().as_u16();
        tracing::warn!(%method, status, %cause, "what a tool or page asked for failed");
    }
    response
}

/// What a request that a tool or page makes has of the one that calls it.
pub(crate) fn carried(from: &Extensions) -> Extensions {
    fn copy<T: Clone + Send + Sync + 'static>(from: &Extensions, to: &mut Extensions) {
        if let Some(value) = from.get::<T>() {
            to.insert(value.clone());
        }
    }
    let mut to = Extensions::new();
    copy::<Caller>(from, &mut to);
    copy::<access::Admission>(from, &mut to);
    copy::<bounds::Slot>(from, &mut to);
    copy::<Peer>(from, &mut to);
    to
}

/// The layer of routes that also answer when all others are rejected.
pub(crate) async fn around_health<S: Inner>(
    state: Arc<AppState>,
    request: Request,
    next: Next<S>,
) -> Response {
    let time = state.settings.request_timeout;
    let bounded = |request| bounds::time(time, request, |request| next.run(request));
    all(&state, request, bounded).await
}

/// What a layer can wrap: a route, or a handler with its state.
pub(crate) trait Inner:
    Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static
{
}

impl<S> Inner for S where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// The inner service of a layer.
#[derive(Debug, Clone)]
pub(crate) struct Next<S>(S);

impl<S: Inner> Next<S> {
    /// Calls the inner service.
    pub(crate) async fn run(mut self, request: Request) -> Response {
        // A service inside the router is always ready.
        match self.0.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// The layer of a function that is called with `shared`, a request and the inner service. `axum::middleware::from_fn` does the
/// same, with two more clones of the inner service and three more boxes per request.
pub(crate) fn layer<C, A, F, S>(
    shared: Arc<C>,
    around: A,
) -> impl Layer<
    S,
    Service = impl Service<Request, Response = Response, Error = Infallible, Future: Send>
              + Clone
              + Send
              + Sync
              + 'static,
> + Clone
where
    C: Send + Sync + 'static,
    A: Fn(Arc<C>, Request, Next<S>) -> F + Copy + Send + Sync + 'static,
    F: Future<Output = Response> + Send + 'static,
    S: Inner,
{
    layer_fn(move |inner: S| {
        let shared = shared.clone();
        service_fn(move |request| around(shared.clone(), request, Next(inner.clone())).map(Ok))
    })
}
