//! `Idempotency-Key`: a PUT or POST runs once, and every retry with its key receives the same response.
//!
//! A retry is the same request: method, path, query, body, media type sent, actor and preconditions. Another request with
//! the same key is 422. While the first request runs, a retry waits for it, on this or another instance. The first
//! request runs to its end even if its client disconnects. If its process dies, a waiting retry notices that the claim
//! is no longer renewed, and runs itself. The transaction that saves a change also stores the response under the claim,
//! so a change is saved only once and answered alike, whichever process dies.
//!
//! Stored are responses that a retry could not improve: 2xx, and 4xx other than 408, 409, 413 and 429. After those and
//! after 5xx the same request may succeed later, so a retry runs again.

use crate::domain::ids::MemoryId;
use crate::fair::Party;
use crate::http::extract::body::{self, Limit};
use crate::http::extract::caller::CallerOf;
use crate::http::extract::headers::single_header;
use crate::http::extract::params::{self, in_path};
use crate::http::middleware::Call;
use crate::http::middleware::bounds::{self, Slot};
use crate::http::openapi::add_problem;
use crate::http::problem::{Kind, Problem};
use crate::http::state::{AppState, Settings};
use crate::storage::Storage;
use crate::storage::idempotency::{Claim, ClaimedAnswer, Gone, IdempotencyClaim, KeptAnswer};
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::FromRequestParts;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, IF_MATCH, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use std::convert::Infallible;
use std::mem::take;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument;
use utoipa::IntoParams as _;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{Header, RefOr};

/// The header, for the documentation.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "documents the header")]
struct KeyHeader {
    /// Makes a retry safe: for 24 hours the same request with the same key is not run again but gets the first answer, with
    /// `Idempotency-Replayed: true`, and waits for it if it has still to come. Another request with the key is 422.
    #[param(
        rename = "Idempotency-Key",
        nullable = false,
        min_length = 1,
        max_length = 255,
        pattern = "^[!-~]+$"
    )]
    key: Option<String>,
}

/// Adds the header and its error responses to a PUT or POST.
pub(crate) fn document(operation: &mut Operation) {
    let parameters = operation.parameters.get_or_insert_default();
    parameters.extend(KeyHeader::into_params(|| None).into_iter().map(RefOr::T));
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        if status.starts_with('2') {
            let replayed = RefOr::T(Header::default());
            response
                .headers
                .insert("Idempotency-Replayed".to_owned(), replayed);
        } else if *status == Kind::StillRunning.status().as_str() {
            response.description += &format!(" Or: {}.", Kind::StillRunning.title());
        }
    }
    for kind in [Kind::StillRunning, Kind::Gone] {
        add_problem(operation, kind, kind.title());
    }
}

/// The name of the header as clients write it.
const NAME: &str = "Idempotency-Key";

/// The header.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The maximum length of a key in bytes.
const MAX_BYTES: usize = 255;

/// The key of a request that has the header.
///
/// # Errors
/// 400 if the header occurs twice or is not ASCII, 422 if the key is empty, too long or contains spaces.
fn key_of(headers: &HeaderMap) -> Result<String, Problem> {
    let key = single_header(headers, NAME)?.unwrap_or_default();
    if key.is_empty() || key.len() > MAX_BYTES || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Problem::invalid(
            NAME,
            format!("{NAME} must be 1 to {MAX_BYTES} visible ASCII characters without blanks"),
        )
        .with("limit", MAX_BYTES));
    }
    Ok(key)
}

/// 422: the key belongs to a different request.
fn reused() -> Problem {
    Problem::new(
        Kind::KeyReused,
        format!(
            "this {NAME} was used for another request (method, path, query, body, Content-Type, X-Actor-Id, \
             If-Match or If-None-Match differ); take a new key for a new request"
        ),
    )
    .with("field", NAME)
}

/// Headers that change the effect of a request.
const HEADERS: [HeaderName; 4] = [
    CONTENT_TYPE,
    IF_MATCH,
    IF_NONE_MATCH,
    HeaderName::from_static("x-actor-id"),
];

/// SHA-256 over everything that identifies a request. Each part is preceded by its length, so different requests never
/// hash the same bytes.
fn fingerprint(parts: &Parts, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    };
    add(parts.method.as_str().as_bytes());
    add(parts.uri.path().as_bytes());
    add(parts.uri.query().unwrap_or_default().as_bytes());
    for name in HEADERS {
        let values = parts.headers.get_all(&name);
        add(&(values.iter().count() as u64).to_be_bytes());
        for value in values {
            add(value.as_bytes());
        }
    }
    add(body);
    hash.finalize().into()
}

/// Marks a response as that of an earlier request.
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The first polling interval of a waiting retry; doubled each time up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How often a claim is renewed: several times while it is valid ([`crate::storage::idempotency::LEASE`]).
const RENEWED_EVERY: Duration = Duration::from_secs(1);

/// Extension of a response that quotes a version of a memory which is not in the request's path. The stored response is then
/// deleted with that memory, as if it were in the path.
#[derive(Debug, Clone)]
pub(crate) struct AnswerAbout(pub(crate) MemoryId, pub(crate) i64);

/// Whether a request has a key and is one that runs once for it. A method that its route does not take is rejected each time.
pub(super) fn has_key(parts: &Parts) -> bool {
    let writes = matches!(parts.method, Method::PUT | Method::POST);
    writes && parts.headers.contains_key(IDEMPOTENCY_KEY) && params::documented(parts).is_some()
}

/// Runs a request once for its key. `time` is its time limit, and how long a retry waits for the first one.
pub(super) async fn once(state: &AppState, time: Duration, mut call: Box<Call>) -> Result<Response, Problem> {
    let run = move |call: Box<Call>| bounds::time(time, call.run());
    let parts = &mut call.parts;
    let Some(vault) = in_path(parts, "vault_id").await else {
        // Without a vault, or with one that is not valid.
        return Ok(run(call).await);
    };
    let CallerOf(caller) = CallerOf::from_request_parts(parts, &()).await?;
    let claim = IdempotencyClaim {
        vault,
        memory: in_path(parts, "memory_id").await,
        caller: caller.id().to_owned(),
        key: key_of(&parts.headers)?,
        token: state.clock.new_id().to_string(),
    };
    let limit = largest_body(&state.settings);
    if body::declared_length(&parts.headers).is_some_and(|length| length > limit.bytes as u64) {
        // The route rejects it with its own limit. Such a response is not stored.
        return Ok(run(call).await);
    }
    let body = take(&mut call.body);
    let body = Bytes::from(body::read(&parts.headers, body, limit, state.settings.body_timeout).await?);
    let fingerprint = fingerprint(parts, &body);
    let slot = Slot::of(&parts.extensions);
    // Dropped with this future if the client disconnects.
    let (state, client) = (state.clone(), Arc::new(()));
    let waits = Arc::downgrade(&client);
    // A separate task: from the claim on, the work continues if the client disconnects, and its retry finds it complete.
    let work = async move {
        let won = win(&state, (time, &waits), &claim, &fingerprint, slot.as_ref());
        if let Some(answer) = won.await? {
            return Ok(answer.with(IDEMPOTENCY_REPLAYED, true).into_response());
        }
        let running = Running {
            storage: state.storage.clone(),
            claim,
        };
        if let Some(slot) = &slot
            && let Err(busy) = slot.take_again().await
        {
            running.release().await;
            return Err(busy);
        }
        call.parts.extensions.insert(running.claim.clone());
        call.body = Body::from(body);
        let response = running.run(run(call)).await;
        drop(slot);
        Ok(response)
    };
    let task = tokio::spawn(Party::current().scope(work).in_current_span());
    let response = task.await.map_err(Problem::internal)?;
    drop(client);
    response
}

/// The limit of the largest body that any route accepts.
fn largest_body(settings: &Settings) -> Limit {
    if settings.config.limits.context_bytes > settings.config.limits.body_bytes {
        Limit::of_documents(settings)
    } else {
        Limit::of_bodies(settings)
    }
}

/// Wins the claim, or waits for the request that holds the key, as long as its client waits, and returns its answer. Meanwhile its
/// permit is for others.
async fn win(
    state: &AppState,
    (wait, client): (Duration, &Weak<()>),
    claim: &IdempotencyClaim,
    fingerprint: &[u8; 32],
    slot: Option<&Slot>,
) -> Result<Option<KeptAnswer>, Problem> {
    let waits_until = Instant::now() + wait;
    let mut pause = FIRST_PAUSE;
    loop {
        match state.storage.claim_key(claim, fingerprint).await? {
            Claim::Won => return Ok(None),
            Claim::Answered(answer) => return Ok(Some(answer)),
            Claim::Gone(why) => return Err(gone(why)),
            Claim::OtherRequest => return Err(reused()),
            Claim::Running if Instant::now() + pause > waits_until || client.strong_count() == 0 => {
                return Err(still_running());
            }
            Claim::Running => {
                if let Some(slot) = slot {
                    slot.leave();
                }
                tokio::time::sleep(pause).await;
            }
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn still_running() -> Problem {
    Problem::new(
        Kind::StillRunning,
        "the first request with this Idempotency-Key is still running; ask again with the same key",
    )
    .with("field", NAME)
    .retry_after(1)
}

/// 410: what the first request with the key saved, or what its response quoted, was removed.
fn gone(why: Gone) -> Problem {
    let what = match why {
        Gone::Redacted => "what the first request with this Idempotency-Key saved was redacted since",
        Gone::Deleted => {
            "the memory was deleted since the first request with this Idempotency-Key, with what it saved, if it had"
        }
    };
    Problem::new(
        Kind::Gone,
        format!("{what}: it is not run again, and its answer is gone. Take a new key for a new request"),
    )
    .with("field", NAME)
}

/// A request that holds the claim.
struct Running {
    storage: Storage,
    claim: IdempotencyClaim,
}

impl Running {
    async fn run(self, work: impl Future<Output = Response> + Send) -> Response {
        // If the work panics, the claim is no longer renewed, and a retry takes it over.
        let response = tokio::select! {
            response = work => response,
            never = self.renew() => match never {},
        };
        self.end(response).await
    }

    /// Stores the response for retries unless that of a saved effect is stored already, or releases the claim if a retry may
    /// succeed.
    async fn end(self, response: Response) -> Response {
        if !is_kept(response.status()) {
            self.release().await;
            return response;
        }
        let (parts, body) = response.into_parts();
        let about = parts.extensions.get::<AnswerAbout>();
        let about = about.map(|AnswerAbout(memory, version)| (memory, *version));
        let body = match to_bytes(body, usize::MAX).await {
            Ok(body) => body,
            Err(error) => return Problem::internal(error).into_response(),
        };
        let headers = parts.headers.iter().filter(|(name, _)| *name != CONTENT_LENGTH);
        let text = |value: &HeaderValue| Some(value.to_str().ok()?.to_owned());
        let answer = KeptAnswer {
            status: parts.status.as_u16(),
            headers: headers
                .filter_map(|(name, value)| Some((name.to_string(), text(value)?)))
                .collect(),
            body: body.to_vec(),
        };
        let answer = ClaimedAnswer {
            claim: self.claim.clone(),
            answer,
        };
        if let Err(error) = self.storage.answer_key(&answer, about).await {
            tracing::warn!(%error, "the answer for an idempotency key could not be kept");
            // Nothing was saved, or its answer is stored already.
            self.release().await;
        }
        Response::from_parts(parts, Body::from(body))
    }

    /// Renews the claim until it is dropped.
    async fn renew(&self) -> Infallible {
        loop {
            tokio::time::sleep(RENEWED_EVERY).await;
            if let Err(error) = self.storage.renew_key(&self.claim).await {
                tracing::warn!(%error, "the claim of an idempotency key could not be renewed");
            }
        }
    }

    /// Releases the claim, so that a retry runs at once. If that fails, a retry takes the claim over when it is not renewed any
    /// more.
    async fn release(self) {
        if let Err(error) = self.storage.release_key(&self.claim).await {
            tracing::warn!(%error, "an idempotency key could not be released");
        }
    }
}

/// Whether a retry receives this response instead of running again.
fn is_kept(status: StatusCode) -> bool {
    let passes_later = [
        StatusCode::REQUEST_TIMEOUT,
        StatusCode::CONFLICT,
        StatusCode::PAYLOAD_TOO_LARGE,
        StatusCode::TOO_MANY_REQUESTS,
    ];
    !status.is_server_error() && !passes_later.contains(&status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;
    use std::collections::HashSet;

    #[test]
    fn requests_differ_in_whatever_changes_what_they_do_and_in_nothing_else() {
        let print = |method: &str, uri: &str, headers: &[(&str, &str)], body: &str| {
            let mut request = Request::builder().method(method).uri(uri);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            fingerprint(&request.body(()).unwrap().into_parts().0, body.as_bytes())
        };
        let all: HashSet<_> = [
            print("PUT", "/a", &[], "x"),
            print("POST", "/a", &[], "x"),
            print("PUT", "/ax", &[], ""),
            print("PUT", "/a?", &[("if-match", "x")], ""),
            print("PUT", "/a", &[("if-none-match", "x")], ""),
            print("PUT", "/a", &[("if-match", "x"), ("if-match", "y")], ""),
            print("PUT", "/a?q", &[], "x"),
            print("PUT", "/a", &[("content-type", "text/plain")], "x"),
            print("PUT", "/a", &[("x-actor-id", "ann")], "x"),
            print("PUT", "/a", &[], "y"),
        ]
        .into();
        assert_eq!(all.len(), 10);
        assert!(all.contains(&print(
            "PUT",
            "/a",
            &[("x-request-id", "7"), ("accept", "*/*")],
            "x"
        )));
    }

    #[test]
    fn an_answer_is_kept_unless_the_same_request_may_pass_later() {
        for status in [200, 201, 204, 400, 404, 412, 415, 422] {
            assert!(is_kept(StatusCode::from_u16(status).unwrap()), "{status}");
        }
        for status in [408, 409, 413, 429, 500, 502, 503, 504] {
            assert!(!is_kept(StatusCode::from_u16(status).unwrap()), "{status}");
        }
    }
}
