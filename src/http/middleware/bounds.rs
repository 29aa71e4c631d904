//! How many requests run at once, and for how long.

use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::telemetry;
use axum::BoxError;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream::poll_fn;
use std::error::Error;
use std::iter::successors;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The place of a request among those that run at once. Whoever lets a request's work outlive its connection takes
/// it along.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
    limit: usize,
}

impl Slot {
    fn held(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self) {
        *self.held() = None;
    }

    fn take_again(&self, slots: &Arc<Semaphore>) -> Result<(), Busy> {
        let mut held = self.held();
        if held.is_none() {
            let free = slots.clone().try_acquire_owned();
            *held = Some(free.map_err(|_| Busy { limit: self.limit })?);
        }
        Ok(())
    }
}

/// As many requests run as may.
#[derive(Debug, thiserror::Error)]
#[error("the service is answering as many requests as it can")]
struct Busy {
    limit: usize,
}

impl Busy {
    fn problem(&self) -> Problem {
        telemetry::refused("busy");
        Problem::new(Kind::Unavailable, self.to_string())
            .with("limit", self.limit)
            .retry_after(1)
    }
}

/// The problem of a body that arrived when as many requests ran as may.
pub(crate) fn busy_at_its_end(error: &axum::Error) -> Option<Problem> {
    let causes = successors(Some(error as &(dyn Error + 'static)), |&error| error.source());
    let mut busy = causes.filter_map(|error| error.downcast_ref::<Busy>());
    busy.next().map(Busy::problem)
}

/// Refuses what comes while `max_requests` run already: a client that is told so at once can come back, one that
/// waits in a queue gives up and its work is done for nobody. A request that waits for its client to send its body
/// does not count: whoever is slow keeps nobody else out.
pub(super) async fn concurrency<F: Future<Output = Response>>(
    state: &AppState,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let limit = state.settings.max_requests;
    let Ok(permit) = state.slots.clone().try_acquire_owned() else {
        return Busy { limit }.problem().into_response();
    };
    let slot = Slot {
        held: Arc::new(Mutex::new(Some(permit))),
        limit,
    };
    let (mut parts, mut body) = request.into_parts();
    parts.extensions.insert(slot.clone());
    if !body.is_end_stream() {
        body = without_a_place(body, slot.clone(), state.slots.clone());
    }
    let response = next(Request::from_parts(parts, body)).await;
    drop(slot);
    response
}

/// A body whose request has no place while it waits for more of it.
fn without_a_place(body: Body, slot: Slot, slots: Arc<Semaphore>) -> Body {
    let mut stream = body.into_data_stream();
    Body::from_stream(poll_fn(move |context| match stream.poll_next_unpin(context) {
        Poll::Pending => {
            slot.leave();
            Poll::Pending
        }
        Poll::Ready(None) => Poll::Ready(slot.take_again(&slots).err().map(|busy| Err(busy.into()))),
        Poll::Ready(Some(chunk)) => Poll::Ready(Some(chunk.map_err(BoxError::from))),
    }))
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
