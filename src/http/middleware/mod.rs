//! The middleware of every request. From the outside in: [`standard`] (the layers of `tower-http` for headers, compression,
//! request ids, panics; between them [`observe`]: log line and metrics), [`unread`] (the rest of a body), [`site`] (host and origin), [`access`]
//! (authentication, authorization, and [`rate`]), [`bounds`] (concurrency), [`idempotency`] (PUT and POST of a vault),
//! [`bounds`] again (time limit), [`replica`] (which database answers a read).
//!
//! Behind the first, each is a function that wraps the next one. One [`layer`] per route combines all of them, because an axum layer
//! clones and boxes its inner service for every request, which costs more than most of these functions do.

pub(crate) mod access;
pub(crate) mod bounds;
pub(crate) mod idempotency;
pub(crate) mod layer;
pub(crate) mod observe;
pub(crate) mod rate;
pub(crate) mod replica;
pub(crate) mod site;
pub(crate) mod standard;
mod unread;

use super::dashboard::Pages;
use super::problem::Cause;
use super::state::AppState;
use crate::fair::Party;
use axum::extract::Request;
use axum::response::Response;
use layer::{Inner, Next};
use std::sync::Arc;
use std::time::Duration;

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
    unread::discard(request, |request| site::check(state, request, admit)).await
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

/// The layer of routes called by tools. The message that called the tool is already authenticated.
pub(crate) async fn around_tools<S: Inner>(time: Arc<Duration>, request: Request, next: Next<S>) -> Response {
    let run = |request| bounds::time(*time, request, |request| next.run(request));
    access::check_again(request, run).await
}

/// The layer of the dashboard's pages. They call routes with the layer [`around_forms`].
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

/// The layer of routes called by pages: like [`around_work`], but the page's request is already authenticated.
pub(crate) async fn around_forms<S: Inner>(work: Arc<Work>, request: Request, next: Next<S>) -> Response {
    let Work { state, time, .. } = &*work;
    let time = *time;
    let run = move |request| bounds::time(time, request, move |request| next.run(request));
    let once = |request| idempotency::once(state, time, request, run);
    let method = request.method().clone();
    let response = access::check_again(request, once).await;
    // The page shows the problem; the cause is only in the log.
    if let Some(Cause(cause)) = response.extensions().get::<Cause>() {
        let status = response.status().as_u16();
        tracing::warn!(%method, status, %cause, "what a page asked for failed");
    }
    response
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
