//! How many requests run at once, how many bytes they hold, and for how long.

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

/// The place of a request among those that run at once, and room for its bytes. Whoever lets a request's work outlive its
/// connection takes it along.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    held: Arc<Mutex<Held>>,
    limit: usize,
}

#[derive(Debug, Default)]
struct Held {
    place: Option<OwnedSemaphorePermit>,
    /// For the bytes of its body.
    carried: Option<Permit>,
    /// For what is made of them.
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

    /// Gives back the room of its body, which was answered.
    fn answered(&self) {
        let mut held = self.held();
        (held.carried, held.work) = (None, None);
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

/// The problem of a body for which there was no room, or that arrived when as many requests ran as may.
pub(crate) fn busy_at_its_end(error: &axum::Error) -> Option<Problem> {
    let causes = successors(Some(error as &(dyn Error + 'static)), |&error| error.source());
    causes.into_iter().find_map(|error| {
        let busy = error.downcast_ref::<Busy>().map(Busy::problem);
        busy.or_else(|| error.downcast_ref::<Full>().map(|full| full.problem()))
    })
}

/// Refuses what comes while `max_requests` run already: a client that is told so at once can come back, one that
/// waits in a queue gives up and its work is done for nobody. A request that waits for its client to send its body
/// does not count: whoever is slow keeps nobody else out. One whose answer is being sent does.
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

/// How the bytes of a body count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weighs {
    /// As they are while they arrive, then as what is made of them.
    Work,
    /// More, but nothing waits for its turn: it may wait for models.
    Kept,
}

/// A body that counts its bytes, and whose request has no place while it waits for more of it. Its end comes when it is
/// the request's turn to be worked on.
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

/// The answer with the place of its request and room for its bytes, until it is written or dropped. A stream of events
/// has bounds of its own.
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
        // What was done is told.
        _ => Some(state.budget.carry_anyway(party, bytes)),
    };
    response.map(|body| held::Held::body(body, (slot, room)))
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
