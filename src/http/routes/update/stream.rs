//! The response mode of an update, which `Accept` and `Prefer` (RFC 7240) choose; and the mode `stream`: its steps as server-sent
//! events, then its response.

use crate::fair::Party;
use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::caller::{UnderClaim, kept};
use crate::http::extract::list_header;
use crate::http::feed::{COMMENT, frame};
use crate::http::middleware::access::Admission;
use crate::http::middleware::bounds::Slot;
use crate::http::problem::Problem;
use crate::http::routes::events::{OpenStream, event_stream};
use crate::http::state::AppState;
use crate::pipeline::report::UpdateAnswer;
use crate::pipeline::{Step, Steps, UpdateRequest};
use axum::body::Bytes;
use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::request::Parts;
use axum::response::Response;
use futures::StreamExt;
use futures::stream::unfold;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::Instrument;

/// How long the start of the stream is delayed, so that an early failure still has its own HTTP status.
const EARLY: Duration = Duration::from_millis(250);

struct Watched {
    steps: UnboundedReceiver<Step>,
    first: Option<Step>,
    /// Taken when the update has ended.
    update: Option<JoinHandle<Result<UpdateAnswer, Problem>>>,
    heartbeat: Duration,
    _open: OpenStream,
}

/// Runs an update and streams its steps. The update continues if the client disconnects.
///
/// # Errors
/// An error before the first step.
pub(super) async fn stream(
    state: &AppState,
    mut request: UpdateRequest,
    claim: UnderClaim,
    StreamContext { slot, admission }: StreamContext,
) -> Result<Response, Problem> {
    let open = OpenStream::new(state)?;
    if let Some(slot) = &slot {
        // It counts as a stream and, where it does more than wait, as an update.
        slot.leave();
    }
    let (sender, mut steps) = unbounded_channel();
    request.steps = Steps::watched(sender);
    if claim.0.is_some() {
        return whole(state, request, claim, steps).await;
    }
    let (pipeline, time) = (state.pipeline.clone(), state.settings.update_timeout);
    let work = async move {
        let _slot = slot;
        match timeout(time, pipeline.update(request)).await {
            Ok(result) => result.map_err(Problem::from),
            Err(_) => Err(Problem::given_up(time)),
        }
    };
    let update = tokio::spawn(Party::current().scope(work).in_current_span());
    let first = timeout(EARLY, steps.recv()).await.ok().flatten();
    if first.is_none() && update.is_finished() {
        return match ended(update).await {
            Ok(answer) => Ok(event_stream(futures::stream::iter([frame(
                "done", None, &answer,
            )]))),
            Err(problem) => Err(problem),
        };
    }
    let watched = Watched {
        steps,
        first,
        update: Some(update),
        heartbeat: state.settings.heartbeat,
        _open: open,
    };
    let chunks = unfold(watched, |mut watched| async move {
        let bytes = watched.next().await?;
        Some((bytes, watched))
    });
    Ok(event_stream(chunks.take_until(admission.ended())))
}

/// The whole stream as one response, after the end of the update: it is stored for retries with what the update saves, so
/// it has the steps that follow a save already. A failure has its own status, which decides whether a retry runs again.
///
/// It runs in the task of the request, which continues if the client disconnects.
async fn whole(
    state: &AppState,
    mut request: UpdateRequest,
    claim: UnderClaim,
    steps: UnboundedReceiver<Step>,
) -> Result<Response, Problem> {
    let steps = Mutex::new((steps, Vec::new()));
    let told = Arc::new(Mutex::new(Vec::new()));
    let built = told.clone();
    request.idempotency = claim.keeping(move |answer: &UpdateAnswer| {
        let body = {
            let mut steps = steps.lock().unwrap_or_else(PoisonError::into_inner);
            let (waiting, seen) = &mut *steps;
            while let Ok(step) = waiting.try_recv() {
                seen.push(shown(&step));
            }
            let ending = answer.ending();
            let ending = ending.iter().map(shown).chain([frame("done", None, answer)]);
            seen.iter()
                .cloned()
                .chain(ending)
                .collect::<Vec<Bytes>>()
                .concat()
        };
        built
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&body);
        let stream = event_stream(futures::stream::empty());
        kept(stream.status(), stream.headers(), body)
    });
    let time = state.settings.update_timeout;
    let result = timeout(time, Box::pin(state.pipeline.update(request))).await;
    result.map_err(|_| Problem::given_up(time))??;
    let body = std::mem::take(&mut *told.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(event_stream(futures::stream::iter([Bytes::from(body)])))
}

impl Watched {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(step) = self.first.take() {
            return Some(shown(&step));
        }
        self.update.as_ref()?;
        match timeout(self.heartbeat, self.steps.recv()).await {
            Err(_) => Some(COMMENT),
            Ok(Some(step)) => Some(shown(&step)),
            // The sender is dropped when the update ends.
            Ok(None) => Some(match ended(self.update.take()?).await {
                Ok(answer) => frame("done", None, &answer),
                Err(problem) => frame("problem", None, &problem.into_body()),
            }),
        }
    }
}

fn shown(step: &Step) -> Bytes {
    frame(step.name(), None, &step.details())
}

async fn ended(update: JoinHandle<Result<UpdateAnswer, Problem>>) -> Result<UpdateAnswer, Problem> {
    update.await.unwrap_or_else(|error| Err(Problem::internal(error)))
}

/// The response mode that the client requests with `Prefer` and `Accept`.
pub(crate) enum ResponseMode {
    /// Synchronous: respond at the end of the update.
    Sync(Option<Slot>),
    /// Stream the steps, then the response.
    Stream(StreamContext),
    /// Asynchronous: respond as soon as the update is stored.
    Async,
}

/// What a streamed update needs.
pub(crate) struct StreamContext {
    /// The reservation of the request's bytes: its work may outlive the connection.
    pub(super) slot: Option<Slot>,
    /// The credentials of the request: the stream ends when they become invalid.
    pub(super) admission: Admission,
}

impl<S: Send + Sync> FromRequestParts<S> for ResponseMode {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        if let RespondAsync(true) = RespondAsync::from_request_parts(parts, state).await? {
            return Ok(Self::Async);
        }
        let accept = Accept::from_request_parts(parts, state).await?;
        // A client that accepts neither receives JSON, for compatibility.
        match accept.choose(&[Representation::Json, Representation::EventStream]) {
            Ok(Representation::EventStream) => Ok(Self::Stream(StreamContext {
                slot: parts.extensions.get::<Slot>().cloned(),
                admission: Admission::from_request_parts(parts, state).await?,
            })),
            _ => Ok(Self::Sync(parts.extensions.get::<Slot>().cloned())),
        }
    }
}

/// Whether the client prefers an asynchronous response: `Prefer: respond-async`. Other preferences are ignored, as the
/// RFC requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RespondAsync(pub(crate) bool);

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// The value of `Preference-Applied` for an asynchronous response.
pub(crate) const RESPOND_ASYNC: &str = "respond-async";

impl<S: Send + Sync> FromRequestParts<S> for RespondAsync {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let list = list_header(&parts.headers, &PREFER, "Prefer")?;
        Ok(Self(list.is_some_and(|list| asks_for_async(&list))))
    }
}

fn asks_for_async(list: &str) -> bool {
    list.split(',').any(|preference| {
        let name = preference.split(['=', ';']).next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case(RESPOND_ASYNC)
    })
}

#[cfg(test)]
mod response_mode_tests {
    use super::*;

    #[test]
    fn the_preference_is_found_among_others() {
        for list in [
            "respond-async",
            "Respond-Async; wait=10",
            "return=minimal, respond-async",
            "respond-async=\"\"",
        ] {
            assert!(asks_for_async(list), "{list}");
        }
        for list in [
            "",
            "wait=10",
            "respond-sync",
            "return=respond-async",
            "x;respond-async",
        ] {
            assert!(!asks_for_async(list), "{list}");
        }
    }
}
