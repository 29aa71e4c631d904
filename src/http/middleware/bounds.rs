//! How many requests run at once, and for how long.

use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::telemetry;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// The place of a request among those that run at once. Whoever lets a request's work outlive its connection takes
/// it along.
#[derive(Debug, Clone)]
pub(crate) struct Slot(#[expect(dead_code, reason = "counts while it is there")] Arc<OwnedSemaphorePermit>);

/// Refuses what comes while `max_requests` run already: a client that is told so at once can come back, one that
/// waits in a queue gives up and its work is done for nobody.
pub(super) async fn concurrency<F: Future<Output = Response>>(
    state: &AppState,
    mut request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    match state.slots.clone().try_acquire_owned() {
        Ok(permit) => {
            let slot = Slot(Arc::new(permit));
            request.extensions_mut().insert(slot.clone());
            let response = next(request).await;
            drop(slot);
            response
        }
        Err(_) => busy(state),
    }
}

fn busy(state: &AppState) -> Response {
    telemetry::refused("busy");
    Problem::new(
        Kind::Unavailable,
        "the service is answering as many requests as it can",
    )
    .with("limit", state.settings.max_requests)
    .retry_after(1)
    .into_response()
}

/// Ends a request that takes longer than `time`. What it had begun in the database is rolled back.
pub(super) async fn time<F: Future<Output = Response>>(
    time: Duration,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    match tokio::time::timeout(time, next(request)).await {
        Ok(response) => response,
        Err(_) => given_up(time),
    }
}

fn given_up(time: Duration) -> Response {
    telemetry::refused("time");
    Problem::given_up(time).into_response()
}
