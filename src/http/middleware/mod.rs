//! What happens to every request, whatever its route. From the outside in: default [`headers`], [`observe`] (request
//! id, the one log line, metrics, panics), [`site`] (for and from which site), [`access`] (who may do what, and how often: [`rate`]), [`bounds`] (how many
//! at once), [`idempotency`] (PUT and POST of a vault), [`bounds`] again (for how long), [`replica`] (which database reads).
//!
//! Each is a function around the rest of the way; two layers hold them all, because a layer of the router costs more
//! than most of what they do: it clones and boxes all that is below it, for every request.

pub(crate) mod access;
pub(crate) mod bounds;
pub(crate) mod headers;
mod held;
pub(crate) mod idempotency;
pub(crate) mod observe;
pub(crate) mod rate;
pub(crate) mod replica;
pub(crate) mod site;

use super::dashboard::Pages;
use super::problem::Cause;
use super::state::AppState;
use crate::clock::Clock;
use crate::dashboard;
use crate::fair::Party;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::Arc;
use std::time::Duration;

/// The layer around all routes, also around those that are not there.
pub(crate) async fn around_all(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let is_page = dashboard::is_page(request.uri().path());
    let admit = |request| access::check(&state, request, |request| next.run(request));
    let check = |request| site::check(&state, request, admit);
    let response = observe::observe(&*state.clock, request, check).await;
    if is_page {
        Box::pin(dashboard::as_page(response)).await
    } else {
        response
    }
}

/// The layer around what answers while the service starts.
pub(crate) async fn around_start(
    State(clock): State<Arc<dyn Clock>>,
    request: Request,
    next: Next,
) -> Response {
    let is_page = dashboard::is_page(request.uri().path());
    let check = |request| site::check_host(request, |request| next.run(request));
    let response = observe::observe(&*clock, request, check).await;
    if is_page {
        Box::pin(dashboard::as_page(response)).await
    } else {
        response
    }
}

/// What bounds the work of a route.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    /// The database and the settings.
    pub(crate) state: AppState,
    /// How long a request may take.
    pub(crate) time: Duration,
    /// How its body counts.
    pub(crate) weighs: bounds::Weighs,
}

/// The layer around routes that work.
pub(crate) async fn around_work(State(work): State<Work>, request: Request, next: Next) -> Response {
    let Work { state, time, weighs } = &work;
    let party = request.extensions().get::<Party>().cloned().unwrap_or_default();
    let time = *time;
    let of_read = state.clone();
    let read = move |request| replica::read(of_read, request, next);
    let run = move |request| bounds::time(time, request, read);
    let once = |request| idempotency::once(state, time, request, run);
    party
        .scope(bounds::concurrency(state, *weighs, request, once))
        .await
}

/// The layer around routes that a tool asks, where the caller was found out by the message that called it.
pub(crate) async fn around_tools(State(time): State<Duration>, request: Request, next: Next) -> Response {
    let run = move |request| bounds::time(time, request, move |request| next.run(request));
    access::check_again(request, run).await
}

/// The layer around pages of the dashboard, which ask the routes below [`around_forms`].
pub(crate) async fn around_pages(State(pages): State<Pages>, request: Request, next: Next) -> Response {
    let state = &pages.state;
    let time = state.settings.update_timeout;
    let give = |mut request| {
        pages.give(&mut request);
        bounds::time(time, request, |request| next.run(request))
    };
    let party = request.extensions().get::<Party>().cloned().unwrap_or_default();
    party
        .scope(bounds::concurrency(state, bounds::Weighs::Work, request, give))
        .await
}

/// The layer around routes that a page asks: as [`around_work`], where the caller was found out in front of the page.
pub(crate) async fn around_forms(State(work): State<Work>, request: Request, next: Next) -> Response {
    let Work { state, time, .. } = &work;
    let time = *time;
    let run = move |request| bounds::time(time, request, move |request| next.run(request));
    let once = |request| idempotency::once(state, time, request, run);
    let method = request.method().clone();
    let response = access::check_again(request, once).await;
    // The page tells what went wrong; why stands in the log alone.
    if let Some(Cause(cause)) = response.extensions().get::<Cause>() {
        let status = response.status().as_u16();
        tracing::warn!(%method, status, %cause, "what a page asked for failed");
    }
    response
}

/// The layer around routes that answer also when all others are refused.
pub(crate) async fn around_health(State(time): State<Duration>, request: Request, next: Next) -> Response {
    bounds::time(time, request, |request| next.run(request)).await
}
