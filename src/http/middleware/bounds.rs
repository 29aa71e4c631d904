//! Limits concurrent requests, the memory of their bytes, their duration, and what is left of a body when it is answered.

use crate::fair::{self, FairSemaphore, Party, Permit, ShareLimits};
use crate::http::middleware::Call;
use crate::http::middleware::access::Admitted;
use crate::http::problem::{Kind, Problem};
use crate::http::state::{AppState, Settings};
use crate::telemetry;
use axum::BoxError;
use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::http::header::{CONNECTION, CONTENT_TYPE, EXPECT};
use axum::http::{Extensions, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use futures::{FutureExt, Stream, StreamExt};
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;
use std::future::poll_fn;
use std::mem::take;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// The concurrency permit of a request and the reservation of its bytes. Work that outlives the connection holds a
/// clone.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    held: Arc<Mutex<Held>>,
    slots: FairSemaphore,
    party: Party,
}

#[derive(Debug, Default)]
struct Held {
    place: Option<Permit>,
    /// For the bytes of the body.
    carried: Option<Permit>,
    /// For processing the body.
    work: Option<Permit>,
}

impl Slot {
    /// That of a request.
    pub(crate) fn of(extensions: &Extensions) -> Option<Self> {
        extensions.get::<Admitted>()?.slot.clone()
    }

    /// Gives the permit back while the request only waits: for its client, or for another request.
    pub(crate) fn leave(&self) {
        self.held.lock().place = None;
    }

    /// Takes the permit, or takes it again if it was given back.
    ///
    /// # Errors
    /// 503 or 429 if there is none within [`LONGEST_WAIT`].
    pub(super) async fn take_again(&self) -> Result<(), Problem> {
        if self.held.lock().place.is_none() {
            let waited = tokio::time::timeout(LONGEST_WAIT, self.slots.acquire(&self.party, 1)).await;
            self.held.lock().place = Some(waited.map_err(|_| busy(&self.slots))?);
        }
        Ok(())
    }

    fn carry(&self, state: &AppState, bytes: usize) -> Result<(), Problem> {
        match &mut self.held.lock().carried {
            Some(carried) => carried
                .grow(bytes)
                .then_some(())
                .ok_or_else(|| state.budget.full()),
            none => {
                *none = Some(state.budget.carry(&self.party, bytes)?);
                Ok(())
            }
        }
    }
}

/// The maximum number of concurrent requests is reached, in all or of a vault or key.
fn busy(slots: &FairSemaphore) -> Problem {
    telemetry::refused("busy");
    let limit = slots.shares().total;
    let (kind, detail) = if slots.in_use() >= limit {
        let detail = "the service is answering as many requests as it can";
        (Kind::Unavailable, detail)
    } else {
        let detail = "this vault or key has reached its share of the concurrent requests";
        (Kind::TooManyRequests, detail)
    };
    Problem::new(kind, detail)
        .with("limit", limit)
        .with("limit_name", "http.max_requests")
        .retry_after(1)
}

/// How long a request waits for a permit. Refusing at once would make hundreds of clients come back at once: a refused
/// connection costs as much as a small read.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Lets a request wait while `max_requests` are running, or so many of its vault or key that others would find no room, and
/// rejects it if it waited in vain: a client that waited long may give up, and its request would be processed for nobody.
/// A request that waits for its client to send the body holds no permit, so slow clients do not block others. A response in
/// transfer does.
pub(super) async fn concurrency(state: &AppState, weighs: Weighs, call: &mut Call) -> Result<Slot, Problem> {
    let slot = Slot {
        held: Arc::default(),
        slots: state.slots.clone(),
        party: Party::current(),
    };
    slot.take_again().await?;
    if let Some(admitted) = call.parts.extensions.get_mut::<Admitted>() {
        admitted.slot = Some(slot.clone());
    }
    if !call.body.is_end_stream() {
        call.body = counted(take(&mut call.body), state.clone(), slot.clone(), weighs);
    }
    Ok(slot)
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
/// body is reported once there is room to process it. An error of the limits is a [`Problem`].
fn counted(body: Body, state: AppState, slot: Slot, weighs: Weighs) -> Body {
    let pieces = Some((body.into_data_stream(), 0_usize));
    Body::from_stream(unfold(pieces, move |pieces| {
        let (state, slot) = (state.clone(), slot.clone());
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
                        Weighs::Work => piece.len(),
                        Weighs::Kept => piece.len().saturating_mul(KEPT_COST),
                    };
                    let size = size + piece.len();
                    match slot.carry(&state, cost) {
                        Ok(()) => Some((Ok(piece), Some((stream, size)))),
                        Err(full) => Some((Err(full.into()), None)),
                    }
                }
                None => {
                    if weighs == Weighs::Work && size > 0 {
                        slot.leave();
                        match state.budget.work(&slot.party, size).await {
                            Ok(work) => slot.held.lock().work = Some(work),
                            Err(full) => return Some((Err(full.into()), None)),
                        }
                    }
                    let taken = slot.take_again().await;
                    taken.err().map(|busy| (Err(busy.into()), None))
                }
            }
        }
    }))
}

/// Attaches the request's permit and the reservation of the response's bytes to the response, until it is sent or
/// dropped. The bytes of the request's body are released. Event streams have their own limits.
pub(super) fn answer(state: &AppState, is_read: bool, slot: Slot, response: Response) -> Response {
    let is_stream = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"));
    if is_stream {
        return response;
    }
    {
        let mut held = slot.held.lock();
        (held.carried, held.work) = (None, None);
    }
    if response.body().is_end_stream() {
        return response;
    }
    let bytes = usize::try_from(response.body().size_hint().lower()).unwrap_or(usize::MAX);
    let room = match bytes {
        0..=SMALL_ANSWER => None,
        _ if is_read => match state.budget.carry(&slot.party, bytes) {
            Ok(room) => Some(room),
            Err(full) => return full.into_response(),
        },
        // The request already had its effect, so its response must be sent.
        _ => Some(state.budget.carried.overdraw(&slot.party, bytes)),
    };
    response.map(|body| {
        Body::new(HeldBody {
            body,
            rest: Bytes::new(),
            _held: (slot, room),
        })
    })
}

/// Cancels a request that takes longer than `time`. Open transactions are rolled back. The contract is a problem of status
/// 503 that names the limit; the layer of `tower-http` answers with an empty body.
// An async function would have room for `work` twice.
pub(super) fn time(time: Duration, work: impl Future<Output = Response>) -> impl Future<Output = Response> {
    let given_up = move |_| {
        telemetry::refused("time");
        Problem::given_up(time).into_response()
    };
    tokio::time::timeout(time, work).map(move |response| response.unwrap_or_else(given_up))
}

/// The maximum size of a piece passed to the connection. The connection takes the next piece when most of the previous
/// one is sent, so the body ends here only shortly before it is completely sent.
const PIECE: usize = 64 << 10;

/// The body of a response, in pieces, and what is held until it is sent.
struct HeldBody {
    body: Body,
    /// The rest of a frame.
    rest: Bytes,
    _held: (Slot, Option<Permit>),
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
            }
        }
        let length = PIECE.min(self.rest.len());
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let exact = self.body.size_hint().exact();
        exact.map_or_else(SizeHint::new, |left| SizeHint::with_exact(left + rest))
    }
}

/// How many bodies of the maximum size always fit: a body that is allowed must be accepted.
const LARGEST_BODIES: usize = 8;

/// How long a request waits for room to be processed.
const WORK_TIMEOUT: Duration = Duration::from_secs(10);

/// Responses up to this size are not counted: even all concurrent ones together are small.
pub(crate) const SMALL_ANSWER: usize = 64 << 10;

/// Memory per byte of a body whose parsed form is held during model calls.
pub(crate) const KEPT_COST: usize = 8;

/// Memory of building a page of a list, before [`WORK_COST`].
const LIST_BYTES: usize = 256 << 10;

/// Memory per byte of a body or document while it is processed. The worst case is a text of nothing but line breaks or
/// list markers.
pub(crate) const WORK_COST: usize = 16;

/// `http.max_bytes_in_flight`: limits the bytes of requests and responses that the process holds in memory, in total and per
/// vault.
///
/// One half is for bodies in transfer, in both directions. When it is used up, a request is rejected at once with 503. The
/// other half is for processing: a request whose body has arrived waits, fairly between vaults, until there is room for the
/// memory that its processing takes. One vault can use at most half of each half.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    carried: FairSemaphore,
    worked_on: FairSemaphore,
}

impl Budget {
    pub(crate) fn new(settings: &Settings) -> Self {
        let limits = &settings.config.limits;
        let largest = limits.context_bytes.max(limits.body_bytes);
        let least = largest.saturating_mul(LARGEST_BODIES);
        let limit = settings.config.http.max_bytes_in_flight.max(least);
        Self {
            limit,
            carried: FairSemaphore::new(ShareLimits::of(limit / 2)),
            worked_on: FairSemaphore::new(ShareLimits::of(limit / 2)),
        }
    }

    fn full(&self) -> Problem {
        telemetry::refused("bytes");
        let detail =
            "the limit of bytes in requests and answers is reached, for the service or for this vault or key";
        Problem::new(Kind::Unavailable, detail)
            .with("limit", self.limit)
            .with("limit_name", "http.max_bytes_in_flight")
            .retry_after(1)
    }

    /// Reserves bytes for a body in transfer.
    ///
    /// # Errors
    /// 503 if there is no room.
    pub(crate) fn carry(&self, party: &Party, bytes: usize) -> Result<Permit, Problem> {
        self.carried.try_acquire(party, bytes).ok_or_else(|| self.full())
    }

    /// Waits for room to process a body of so many bytes.
    ///
    /// # Errors
    /// 503 after [`WORK_TIMEOUT`].
    pub(crate) async fn work(&self, party: &Party, bytes: usize) -> Result<Permit, Problem> {
        let cost = bytes.saturating_mul(WORK_COST);
        let permit = tokio::time::timeout(WORK_TIMEOUT, self.worked_on.acquire(party, cost));
        permit.await.map_err(|_| self.full())
    }

    /// Waits for room to make one page of a list, and for a turn to do it.
    ///
    /// # Errors
    /// 503 after [`WORK_TIMEOUT`].
    pub(crate) async fn list(&self) -> Result<(Permit, Permit), Problem> {
        let party = Party::current();
        Ok((self.work(&party, LIST_BYTES).await?, fair::turn(&party).await))
    }
}

/// How many bytes are read and discarded, and for how long: also of a body that is too large, since many clients send all of
/// it before they read.
const DISCARDED_BYTES: usize = 16 << 20;
const DISCARDED_WITHIN: Duration = Duration::from_secs(3);

/// Where a body goes that is dropped before its end, and whether any of it was asked for.
type Rest = Arc<Mutex<Option<(BodyDataStream, bool)>>>;

/// A body that is kept when its reader drops it.
struct Lent {
    body: Option<BodyDataStream>,
    is_begun: bool,
    rest: Rest,
}

impl Stream for Lent {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.is_begun = true;
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let piece = ready!(body.poll_next_unpin(context));
        if piece.is_none() {
            self.body = None;
        }
        Poll::Ready(piece)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let rest = self.body.take().map(|body| (body, self.is_begun));
        *self.rest.lock() = rest;
    }
}

/// Answers a request and leaves nothing of its body on the connection, or says that the connection ends: what is left is read
/// up to a bound, so that a client that still sends gets the response. Otherwise a client that reuses the connection would see
/// it reset (RFC 9112, section 9.6).
pub(super) async fn discard<F: Future<Output = Response>>(
    mut call: Box<Call>,
    next: impl FnOnce(Box<Call>) -> F,
) -> Response {
    if call.body.is_end_stream() {
        return next(call).await;
    }
    // A client that waits for `100 Continue` sends nothing until its body is asked for.
    let waits = call.parts.headers.contains_key(EXPECT);
    let rest = Rest::default();
    call.body = Body::from_stream(Lent {
        body: Some(take(&mut call.body).into_data_stream()),
        is_begun: false,
        rest: rest.clone(),
    });
    let mut response = next(call).await;
    let rest = rest.lock().take();
    if let Some((rest, is_begun)) = rest
        && (waits && !is_begun || !ends_soon(rest).await)
    {
        response
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Reads the rest of a body; whether that reached its end.
async fn ends_soon(mut rest: BodyDataStream) -> bool {
    let mut left = DISCARDED_BYTES;
    let read = async {
        while let Some(piece) = rest.next().await {
            match piece.ok().and_then(|piece| left.checked_sub(piece.len())) {
                Some(less) => left = less,
                None => return false,
            }
        }
        true
    };
    tokio::time::timeout(DISCARDED_WITHIN, read)
        .await
        .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(bytes: usize) -> Budget {
        let mut settings = Settings::default();
        settings.config.limits.context_bytes = 100;
        settings.config.limits.body_bytes = 100;
        settings.config.http.max_bytes_in_flight = bytes;
        Budget::new(&settings)
    }

    #[test]
    fn the_largest_bodies_fit_whatever_is_set() {
        assert_eq!(budget(0).limit, 800);
    }
}
