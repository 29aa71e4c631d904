//! What happens to every request, whatever its route. From the outside in: default [`headers`], [`observe`] (request
//! id, the one log line, metrics, panics), [`site`] (for and from which site), [`access`] (who may do what, and how often: [`rate`]), [`bounds`] (how many
//! at once), [`idempotency`] (PUT and POST of a vault), [`bounds`] again (for how long), [`replica`] (which database reads).
//!
//! Each is a function around the rest of the way; one [`layer`] of a route holds them all, because a layer of the router
//! costs more than most of what they do: it copies and boxes all that is below it, for every request.

pub(crate) mod access;
pub(crate) mod bounds;
mod headers;
mod held;
pub(crate) mod idempotency;
pub(crate) mod layer;
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
use axum::extract::Request;
use axum::response::Response;
use layer::{Inner, Next};
use std::sync::Arc;
use std::time::Duration;

/// Around everything: also around what is no route.
pub(crate) async fn around_all<S: Inner>(state: Arc<AppState>, request: Request, next: Next<S>) -> Response {
    all(&state, request, |request| next.run(request)).await
}

/// What happens to every request, once the service has started.
async fn all<F: Future<Output = Response>>(
    state: &AppState,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let is_page = dashboard::is_page(request.uri().path());
    let admit = |request| access::check(state, request, next);
    let check = |request| site::check(state, request, admit);
    let response = observe::observe(&*state.clock, request, check).await;
    complete(response, is_page).await
}

/// The layer around what answers while the service starts.
pub(crate) async fn around_start<S: Inner>(
    clock: Arc<Arc<dyn Clock>>,
    request: Request,
    next: Next<S>,
) -> Response {
    let is_page = dashboard::is_page(request.uri().path());
    let check = |request| site::check_host(request, |request| next.run(request));
    let response = observe::observe(&**clock, request, check).await;
    complete(response, is_page).await
}

/// What every answer has besides what its route said.
async fn complete(response: Response, is_page: bool) -> Response {
    let mut response = if is_page {
        Box::pin(dashboard::as_page(response)).await
    } else {
        response
    };
    headers::defaults(response.headers_mut());
    response
}

/// What bounds the work of a route.
#[derive(Debug)]
pub(crate) struct Work {
    /// The database and the settings.
    pub(crate) state: AppState,
    /// How long a request may take.
    pub(crate) time: Duration,
    /// How its body counts.
    pub(crate) weighs: bounds::Weighs,
}

/// Around routes that work.
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

/// On whose behalf a request that was let in is made.
fn party(request: &Request) -> Party {
    request.extensions().get::<Party>().cloned().unwrap_or_default()
}

/// Around routes that a tool asks, where the caller was found out by the message that called it.
pub(crate) async fn around_tools<S: Inner>(time: Arc<Duration>, request: Request, next: Next<S>) -> Response {
    let run = |request| bounds::time(*time, request, |request| next.run(request));
    access::check_again(request, run).await
}

/// Around pages of the dashboard, which ask the routes below [`around_forms`].
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

/// Around routes that a page asks: as [`around_work`], where the caller was found out in front of the page.
pub(crate) async fn around_forms<S: Inner>(work: Arc<Work>, request: Request, next: Next<S>) -> Response {
    let Work { state, time, .. } = &*work;
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

/// Around routes that answer also when all others are refused.
pub(crate) async fn around_health<S: Inner>(
    state: Arc<AppState>,
    request: Request,
    next: Next<S>,
) -> Response {
    let time = state.settings.request_timeout;
    let bounded = |request| bounds::time(time, request, |request| next.run(request));
    all(&state, request, bounded).await
}
