//! Limits concurrent requests, the memory of their bytes, and their duration.

use super::held;
use crate::fair::{Party, Permit};
use crate::http::budget::{Full, KEPT_COST, SMALL_ANSWER};
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::telemetry;
use axum::BoxError;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream::unfold;
use std::error::Error;
use std::future::poll_fn;
use std::iter::successors;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The concurrency permit of a request and the reservation of its bytes. Work that outlives the connection holds a
/// clone.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    held: Arc<Mutex<Held>>,
    limit: usize,
}

#[derive(Debug, Default)]
struct Held {
    place: Option<OwnedSemaphorePermit>,
    /// For the bytes of the body.
    carried: Option<Permit>,
    /// For processing the body.
    work: Option<Permit>,
}

impl Slot {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self) {
        self.held().place = None;
    }

    fn take_again(&self, slots: &Arc<Semaphore>) -> Result<(), Busy> {
        let mut held = self.held();
        if held.place.is_none() {
            let free = slots.clone().try_acquire_owned();
            held.place = Some(free.map_err(|_| Busy { limit: self.limit })?);
        }
        Ok(())
    }

    fn carry(&self, state: &AppState, party: &Party, bytes: usize) -> Result<(), Full> {
        match &mut self.held().carried {
            Some(carried) => state.budget.carry_more(carried, bytes),
            none => {
                *none = Some(state.budget.carry(party, bytes)?);
                Ok(())
            }
        }
    }

    /// Releases the bytes of the request's body, because it is answered.
    fn answered(&self) {
        let mut held = self.held();
        (held.carried, held.work) = (None, None);
    }
}

/// The maximum number of concurrent requests is reached.
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

/// The problem of a body that did not fit the byte limits, or that arrived when no permit was free.
pub(crate) fn busy_at_its_end(error: &axum::Error) -> Option<Problem> {
    let causes = successors(Some(error as &(dyn Error + 'static)), |&error| error.source());
    causes.into_iter().find_map(|error| {
        let busy = error.downcast_ref::<Busy>().map(Busy::problem);
        busy.or_else(|| error.downcast_ref::<Full>().map(|full| full.problem()))
    })
}

/// Rejects a request while `max_requests` are running. A client that is rejected at once can retry; one that waits in
/// a queue may give up, and its request would be processed for nobody. A request that waits for its client to send the
/// body holds no permit, so slow clients do not block others. A response in transfer does.
pub(super) async fn concurrency<F: Future<Output = Response>>(
    state: &AppState,
    weighs: Weighs,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let limit = state.settings.max_requests;
    let Ok(permit) = state.slots.clone().try_acquire_owned() else {
        return Busy { limit }.problem().into_response();
    };
    let slot = Slot {
        held: Arc::new(Mutex::new(Held {
            place: Some(permit),
            ..Held::default()
        })),
        limit,
    };
    let is_read = request.method().is_safe();
    let party = Party::current();
    let (mut parts, mut body) = request.into_parts();
    parts.extensions.insert(slot.clone());
    if !body.is_end_stream() {
        body = counted(body, state.clone(), (slot.clone(), party.clone()), weighs);
    }
    let response = next(Request::from_parts(parts, body)).await;
    answer(state, &party, is_read, slot, response)
}

/// How the bytes of a body are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weighs {
    /// Their size while they arrive, then the memory for processing them.
    Work,
    /// A multiple of their size, without waiting for room: the request may run for long, because it calls models.
    Kept,
}

/// A body that reserves its bytes. Its request gives its permit back while it waits for more bytes. The end of the
/// body is reported once there is room to process it.
fn counted(body: Body, state: AppState, (slot, party): (Slot, Party), weighs: Weighs) -> Body {
    let pieces = Some((body.into_data_stream(), 0_usize));
    Body::from_stream(unfold(pieces, move |pieces| {
        let (state, slot, party) = (state.clone(), slot.clone(), party.clone());
        async move {
            let (mut stream, size) = pieces?;
            let waiting = poll_fn(|context| {
                let polled = stream.poll_next_unpin(context);
                if polled.is_pending() {
                    slot.leave();
                }
                polled
            });
            match waiting.await {
                Some(Err(error)) => Some((Err(BoxError::from(error)), None)),
                Some(Ok(piece)) => {
                    let cost = match weighs {
                        _ if size > state.budget.largest => 0,
                        Weighs::Work => piece.len(),
                        Weighs::Kept => piece.len().saturating_mul(KEPT_COST),
                    };
                    let size = size + piece.len();
                    match slot.carry(&state, &party, cost) {
                        Ok(()) => Some((Ok(piece), Some((stream, size)))),
                        Err(full) => Some((Err(full.into()), None)),
                    }
                }
                None => {
                    if weighs == Weighs::Work && size > 0 {
                        slot.leave();
                        match state.budget.work(&party, size).await {
                            Ok(work) => slot.held().work = Some(work),
                            Err(full) => return Some((Err(full.into()), None)),
                        }
                    }
                    slot.take_again(&state.slots)
                        .err()
                        .map(|busy| (Err(busy.into()), None))
                }
            }
        }
    }))
}

/// Attaches the request's permit and the reservation of the response's bytes to the response, until it is sent or
/// dropped. Event streams have their own limits.
fn answer(state: &AppState, party: &Party, is_read: bool, slot: Slot, response: Response) -> Response {
    let is_stream = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"));
    if is_stream {
        return response;
    }
    slot.answered();
    if response.body().is_end_stream() {
        return response;
    }
    let bytes = usize::try_from(response.body().size_hint().lower()).unwrap_or(usize::MAX);
    let room = match bytes {
        0..=SMALL_ANSWER => None,
        _ if is_read => match state.budget.carry(party, bytes) {
            Ok(room) => Some(room),
            Err(full) => return full.problem().into_response(),
        },
        // The request already had its effect, so its response must be sent.
        _ => Some(state.budget.carry_anyway(party, bytes)),
    };
    response.map(|body| held::Held::body(body, (slot, room)))
}

/// Cancels a request that takes longer than `time`. Open transactions are rolled back.
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
