//! Authentication, authorization and rate limits. They need only the head of a request.
//!
//! A request is authenticated by a valid key, unless the service requires none (see [`Gate`]). Then, in this order: a
//! vault outside the key's scope is answered like one that does not exist (404), whatever the request; an insufficient
//! role is 403 (see [`role`]); a request above the rate limit is 429.
//!
//! The role that each route requires is one table, so that it can be reviewed at a glance and a new route is closed by default.
//! Reading requires `reader`, proposing `proposer`, writing `writer`. Removing history requires `admin`: a memory's
//! own agent, even under prompt injection, can change the document but not its history. Routes whose role depends on
//! the request (rules among the prompt items) check again themselves.
//!
//! Rates are limited per key and per address, in requests per minute. Each subject has a token bucket with the requests of one minute,
//! which is refilled continuously, so bursts are accepted. A bounded number of buckets is kept, those used most.
//!
//! The valid keys are held in memory and read again when they are older than [`FRESH`]. A key that was revoked on any
//! instance is therefore rejected everywhere within a second, without notifications. An unknown key is rejected only
//! after a read that began after the request arrived, so a new key is valid everywhere at once. Concurrent requests
//! share one read (single flight), and reads have a minimum interval, so a flood of invalid keys causes only a few
//! short queries per second.

use crate::domain::access::{AccessRole, Caller, SecretHash, Token};
use crate::domain::ids::{KeyId, VaultId};
use crate::fair::Party;
use crate::http::extract::caller::CallerOf;
use crate::http::extract::headers::single_header;
use crate::http::extract::params;
use crate::http::middleware::bounds::Slot;
use crate::http::middleware::{Call, MEMORY};
use crate::http::openapi::add_problem;
use crate::http::problem::{Kind, Problem};
use crate::http::serve::Peer;
use crate::http::state::{AppState, Settings};
use crate::storage::Storage;
use crate::storage::access::keys::ActiveKeys;
use crate::telemetry;
use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use parking_lot::Mutex;
use quick_cache::sync::Cache;
use std::convert::Infallible;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use utoipa::openapi::Components;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};

/// What a request was admitted with, and what it is counted for. It is an extension, which requests of its tools or pages get too.
#[derive(Clone)]
pub(crate) struct Admitted {
    pub(crate) caller: Caller,
    pub(super) admission: Admission,
    pub(super) party: Party,
    pub(super) slot: Option<Slot>,
}

impl Admitted {
    /// What the request of these extensions was admitted with.
    ///
    /// # Errors
    /// 500 for a route without this layer, which is a bug; it must not answer everybody.
    pub(crate) fn of(extensions: &Extensions) -> Result<&Self, Problem> {
        let admitted = extensions.get();
        admitted.ok_or_else(|| Problem::internal("nobody has said who makes the request"))
    }
}

/// Identifies the caller of a request and authorizes it. `rate_limit` becomes the headers of the caller's rate limit.
pub(super) async fn admit(
    state: &AppState,
    call: &mut Call,
    route: &str,
    rate_limit: &mut Option<RateHeaders>,
) -> Result<(), Problem> {
    let identified = identify(state, &call.parts, route).await;
    let caller = identified.as_ref().ok().map(|(caller, _)| caller);
    *rate_limit = state.rates.count(subject(&call.parts.extensions, caller))?;
    let (caller, admission) = identified?;
    let vault = permit(&caller, call, route)?;
    if let Some(peer) = call.parts.extensions.get::<Peer>() {
        peer.is_known();
    }
    let party = party(Some(&caller), vault.as_ref(), &call.parts.extensions);
    call.parts.extensions.insert(Admitted {
        caller,
        admission,
        party,
        slot: None,
    });
    Ok(())
}

/// Authorizes a further request of a caller who is already authenticated.
pub(super) fn admit_again(call: &Call) -> Result<Party, Problem> {
    let Admitted {
        caller, party: outer, ..
    } = Admitted::of(&call.parts.extensions)?;
    let route = call.parts.extensions.get::<MatchedPath>();
    let route = route.ok_or_else(|| Problem::internal("a tool asked for no route"))?;
    let vault = permit(caller, call, route.as_str())?;
    Ok(match vault {
        Some(_) => party(Some(caller), vault.as_ref(), &call.parts.extensions),
        // As the request of the tool or page does.
        None => outer.clone(),
    })
}

/// Whose requests this one is counted with: those of its key, or of its address if it has no valid key.
pub(super) fn subject(extensions: &Extensions, caller: Option<&Caller>) -> Option<Subject> {
    match caller.and_then(|caller| caller.key.as_ref()) {
        Some(key) => Some(Subject::Key(key.key_id.clone())),
        None => extensions
            .get::<Peer>()
            .map(|peer| Subject::Address(peer.address)),
    }
}

/// The caller of the request and its credentials.
async fn identify(state: &AppState, parts: &Parts, route: &str) -> Result<(Caller, Admission), Problem> {
    let arrived = Instant::now();
    let gate = &state.gate;
    // The metrics are needed while the database is unavailable.
    let offline = route == "/metrics";
    if gate.is_open(offline).await? {
        return Ok((Caller::open(), Admission::new(gate, None)));
    }
    let text = credentials(&parts.headers)?;
    if let Some(token) = Token::parse(&text)
        && let Some(caller) = gate
            .holder_of(token.key_id(), &token.hash(), arrived, offline)
            .await?
    {
        let shown = (token.key_id().clone(), token.hash());
        return Ok((caller, Admission::new(gate, Some(shown))));
    }
    Err(unauthorized(
        "the key is not valid here: it is unknown, was revoked, or has expired",
        r#"Bearer realm="working-memory", error="invalid_token""#,
    ))
}

/// The party that a request's resources are counted for. A request without vault and key counts for its address, also that of a
/// visitor who has not signed in and is no caller.
pub(super) fn party(caller: Option<&Caller>, vault: Option<&VaultId>, extensions: &Extensions) -> Party {
    let key = caller.and_then(|caller| caller.key.as_ref());
    match (vault, key, extensions.get::<Peer>()) {
        (None, None, Some(peer)) => Party::new(Some(&peer.address.to_string()), None),
        _ => Party::new(vault.map(VaultId::as_str), key.map(|key| key.key_id.as_str())),
    }
}

/// Checks whether the caller may use the route, and returns the vault in the path.
fn permit(caller: &Caller, call: &Call, route: &str) -> Result<Option<VaultId>, Problem> {
    // The route reports one that is not valid.
    let vault: Option<VaultId> = call.vault.as_deref().and_then(|vault| vault.parse().ok());
    if let Some(vault) = &vault
        && !caller.sees(vault)
    {
        telemetry::refused("foreign_vault");
        return Err(Problem::not_found("there is no such vault for this key"));
    }
    let method = &call.parts.method;
    let role = role(method, route);
    // Where the route does not take the method, it answers so.
    if !caller.may(role) && params::documented(&call.parts).is_some() {
        CallerOf(caller.clone()).require(role, &format!("{method} is allowed here"))?;
    }
    Ok(vault)
}

/// 401; also counted as a metric.
fn unauthorized(detail: &str, challenge: &'static str) -> Problem {
    telemetry::refused("unauthorized");
    Problem::new(Kind::Unauthorized, detail).header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
}

/// The challenge to a request without credentials.
const CHALLENGE: &str = r#"Bearer realm="working-memory""#;

/// The key of a request, as `Authorization: Bearer <key>` (RFC 6750). Error messages repeat no part of it. A missing or other
/// scheme is 401 with a challenge, a header that cannot be read 400, which typed headers do not tell apart.
///
/// # Errors
/// 401 without the header or with another scheme, 400 if the header cannot be parsed.
fn credentials(headers: &HeaderMap) -> Result<String, Problem> {
    let text = single_header(headers, "Authorization").map_err(with_challenge)?;
    let Some(text) = text else {
        return Err(unauthorized(
            "a key is needed: send the header Authorization: Bearer <key>",
            CHALLENGE,
        ));
    };
    let (scheme, rest) = text.split_once(' ').unwrap_or((&text, ""));
    if !scheme.is_empty() && !scheme.eq_ignore_ascii_case("bearer") {
        return Err(unauthorized(
            "the header Authorization must have the form: Bearer <key>",
            CHALLENGE,
        ));
    }
    let token = rest.trim();
    if token.is_empty() || !token.bytes().all(is_token_byte) {
        let detail = "the header Authorization must have the form: Bearer <key>";
        return Err(with_challenge(Problem::malformed("Authorization", detail)));
    }
    Ok(token.to_owned())
}

/// `b64token` of RFC 6750.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// 400 for a header that cannot be read.
fn with_challenge(problem: Problem) -> Problem {
    let challenge = HeaderValue::from_static(r#"Bearer realm="working-memory", error="invalid_request""#);
    problem.header(WWW_AUTHENTICATE, challenge)
}

/// Routes that require no key.
const PUBLIC: [&str; 3] = ["/healthz", "/readyz", "/openapi.yaml"];

/// Whether a route requires no key.
pub(crate) fn is_public(route: &str) -> bool {
    PUBLIC.contains(&route)
}

/// The role that a route requires.
pub(crate) fn role(method: &Method, route: &str) -> AccessRole {
    let below_memory = route.strip_prefix(MEMORY);
    match (method.as_str(), below_memory.unwrap_or_default()) {
        _ if route == "/v1/keys" || route.starts_with("/v1/keys/") => AccessRole::Admin,
        ("DELETE", "") if below_memory.is_some() => AccessRole::Admin,
        ("POST", "/contexts/{ref}/redact") => AccessRole::Admin,
        ("GET" | "HEAD", _) => AccessRole::Reader,
        // The route itself requires more if the request changes something.
        ("POST", _) if matches!(route, "/mcp" | "/v1/vaults/{vault_id}/memory-tool") => AccessRole::Reader,
        // With this role the route only makes a proposal.
        ("POST", "/update" | "/operations" | "/consolidate") => AccessRole::Proposer,
        _ => AccessRole::Writer,
    }
}

const SCHEME: &str = "key";

/// Adds the security scheme of keys, and returns the requirement of every route that is not public.
pub(crate) fn document(components: &mut Components) -> SecurityRequirement {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("wm_<key_id>_<secret>")
        .description(Some(
            "An API key. A service that has never had one asks for none and answers on loopback only.",
        ))
        .build();
    components.add_security_scheme(SCHEME, SecurityScheme::Http(scheme));
    let scopes: [&str; 0] = [];
    SecurityRequirement::new(SCHEME, scopes)
}

/// The description of a 403 where a role is needed.
pub(crate) fn needs(role: &str) -> String {
    format!("The key has not the role `{role}`, or not this right.")
}

/// Adds the role that is needed and the error responses to a route; a public route is documented as such.
pub(crate) fn document_route(path: &str, method: &Method, operation: &mut Operation) {
    if is_public(path) {
        operation.security = Some(Vec::new());
        return;
    }
    let forbidden = needs(role(method, path).name());
    add_problem(operation, Kind::Forbidden, &forbidden);
    for kind in [Kind::Malformed, Kind::Unauthorized, Kind::TooManyRequests] {
        add_problem(operation, kind, kind.title());
    }
    if path.contains("{vault_id}") {
        add_problem(operation, Kind::NotFound, Kind::NotFound.title());
    }
}

/// The maximum number of buckets for keys, and for addresses. An evicted bucket was little used.
const BUCKETS: usize = 10_000;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

type Bucket = DefaultDirectRateLimiter<StateInformationMiddleware>;

/// Whose requests are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// Requests with this key.
    Key(KeyId),
    /// Requests from this address without a key.
    Address(IpAddr),
}

/// The headers that tell the state of a subject's rate limit.
pub(crate) type RateHeaders = [(HeaderName, HeaderValue); 3];

fn rate_headers(limit: u32, remaining: u32, reset: Duration) -> RateHeaders {
    [
        (LIMIT, limit.into()),
        (REMAINING, remaining.into()),
        (RESET, whole_seconds(reset).into()),
    ]
}

/// The buckets of an instance.
pub(crate) struct Rates {
    per_key: Option<Quota>,
    per_address: Option<Quota>,
    buckets: Cache<Subject, Arc<Bucket>>,
}

impl Rates {
    pub(crate) fn new(settings: &Settings) -> Self {
        let quota = |rate| NonZeroU32::new(rate).map(Quota::per_minute);
        Self {
            per_key: quota(settings.config.http.rate_per_key),
            per_address: quota(settings.config.http.rate_per_address),
            buckets: Cache::new(BUCKETS),
        }
    }

    /// Counts a request, and returns the headers for its response. `None` is not counted.
    ///
    /// # Errors
    /// 429 if the bucket is empty, with the rate limit headers.
    pub(crate) fn count(&self, subject: Option<Subject>) -> Result<Option<RateHeaders>, Problem> {
        let Some(subject) = subject else { return Ok(None) };
        let (quota, setting) = match subject {
            Subject::Key(_) => (self.per_key, "http.rate_per_key"),
            Subject::Address(_) => (self.per_address, "http.rate_per_address"),
        };
        let Some(quota) = quota else { return Ok(None) };
        let limit = quota.burst_size().get();
        match self.bucket(&subject, quota).check() {
            Ok(state) => {
                let remaining = state.remaining_burst_capacity();
                let reset = quota.replenish_interval() * limit.saturating_sub(remaining);
                Ok(Some(rate_headers(limit, remaining, reset)))
            }
            Err(until) => {
                telemetry::refused("rate");
                let reset = until.wait_time_from(DefaultClock::default().now());
                let detail =
                    format!("more than {limit} requests a minute ({setting}); wait as Retry-After says");
                let problem = Problem::new(Kind::TooManyRequests, detail)
                    .with("limit", limit)
                    .retry_after(whole_seconds(reset));
                let headers = rate_headers(limit, 0, reset).into_iter();
                Err(headers.fold(problem, |problem, (name, value)| problem.header(name, value)))
            }
        }
    }

    fn bucket(&self, subject: &Subject, quota: Quota) -> Arc<Bucket> {
        let new = || {
            let bucket = RateLimiter::direct(quota).with_middleware::<StateInformationMiddleware>();
            Ok::<_, Infallible>(Arc::new(bucket))
        };
        let Ok(bucket) = self.buckets.get_or_insert_with(subject, new);
        bucket
    }
}

/// Whole seconds, rounded up and at least one, so that no client retries too early.
fn whole_seconds(time: Duration) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}

/// The maximum age of the cached keys.
const FRESH: Duration = Duration::from_millis(800);

/// The minimum interval between two reads for unknown keys: a multiple of the duration of a read, within the bounds
/// below.
const PAUSE_PER_READING: u32 = 4;
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How long no read is attempted after one that failed.
const AFTER_FAILURE: Duration = Duration::from_millis(200);

/// The timeout of a read.
const READING_TIMEOUT: Duration = Duration::from_secs(10);

/// Authenticates callers with the cached keys.
pub(crate) struct Gate {
    storage: Storage,
    /// `http.require_keys`.
    required: Option<bool>,
    /// Whether the service may run without keys on the address it listens on.
    may_be_open: bool,
    /// Set once keys were required: from then on the service never accepts requests without keys.
    closed: AtomicBool,
    known: Mutex<Option<Arc<Known>>>,
    /// When the last read failed, for the requests that waited for it.
    reading: tokio::sync::Mutex<Option<Instant>>,
    /// Changes when credentials ended on this instance, for long responses.
    ended: watch::Sender<()>,
}

struct Known {
    active: ActiveKeys,
    begun: Instant,
    took: Duration,
}

impl Known {
    fn of(active: ActiveKeys, begun: Instant) -> Arc<Self> {
        let took = begun.elapsed();
        Arc::new(Self { active, begun, took })
    }
}

impl Gate {
    pub(crate) fn new(storage: Storage, settings: &Settings) -> Self {
        Self {
            storage,
            required: settings.config.http.require_keys,
            may_be_open: settings.config.http.may_be_open(),
            closed: AtomicBool::new(false),
            known: Mutex::new(None),
            reading: tokio::sync::Mutex::new(None),
            ended: watch::Sender::new(()),
        }
    }

    /// Whether requests without a key are accepted.
    ///
    /// # Errors
    /// 503 if the database cannot tell whether there are keys: in doubt no request is accepted, unless `offline`
    /// allows the use of expired cache contents.
    pub(crate) async fn is_open(&self, offline: bool) -> Result<bool, Problem> {
        match self.required {
            Some(required) => return Ok(!required),
            None if !self.may_be_open || self.closed.load(Ordering::Relaxed) => return Ok(false),
            None => {}
        }
        let closed = self.known(None, offline).await?.active.ever;
        if closed {
            self.closed.store(true, Ordering::Relaxed);
        }
        Ok(!closed)
    }

    /// The holder of a key, by the key's id and the hash of its secret; `None` if it is not valid. `arrived` is when the
    /// request arrived. `offline` allows the use of expired cache contents.
    ///
    /// # Errors
    /// 503 if the database does not respond.
    pub(crate) async fn holder_of(
        &self,
        key_id: &KeyId,
        shown: &SecretHash,
        arrived: Instant,
        offline: bool,
    ) -> Result<Option<Caller>, Problem> {
        let now = self.storage.now();
        for newer_than in [None, Some(arrived)] {
            let known = self.known(newer_than, offline).await?;
            let found = known.active.keys.get(key_id);
            if let Some(found) = found.filter(|found| found.is_opened_by(shown, now)) {
                return Ok(found
                    .key
                    .is_active(now)
                    .then(|| Caller::holder_of(found.key.clone())));
            }
        }
        Ok(None)
    }

    /// Clears the cache, so that the next request reads the keys again: one was created or ended on this instance.
    pub(crate) fn forget(&self) {
        *self.known.lock() = None;
        self.wake();
    }

    /// Lets long responses check their credentials now: a session ended on this instance.
    pub(crate) fn wake(&self) {
        self.ended.send_replace(());
    }

    fn at_hand(&self, newer_than: Option<Instant>) -> Option<Arc<Known>> {
        let known = self.known.lock().clone()?;
        let new_enough = newer_than.is_none_or(|time| known.begun >= time);
        (new_enough && known.begun.elapsed() < FRESH).then_some(known)
    }

    /// The keys, read after `newer_than`; with `offline` those known last if they cannot be read.
    async fn known(&self, newer_than: Option<Instant>, offline: bool) -> Result<Arc<Known>, Problem> {
        if let Some(known) = self.at_hand(newer_than) {
            return Ok(known);
        }
        // Boxed: this branch is rare, and its large future would otherwise be part of every request's future.
        match Box::pin(self.read(newer_than)).await {
            Err(_) if offline => Ok(self
                .known
                .lock()
                .clone()
                .unwrap_or_else(|| Known::of(ActiveKeys::default(), Instant::now()))),
            read => read,
        }
    }

    async fn read(&self, newer_than: Option<Instant>) -> Result<Arc<Known>, Problem> {
        let waits_since = Instant::now();
        let mut failed = self.reading.lock().await;
        if let Some(known) = self.at_hand(newer_than) {
            return Ok(known);
        }
        if failed.is_some_and(|time| time >= waits_since || time.elapsed() < AFTER_FAILURE) {
            return Err(unavailable("the reading of the keys that was waited for failed"));
        }
        if let Some(last) = self.at_hand(None) {
            let pause = (last.took * PAUSE_PER_READING).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
            tokio::time::sleep_until(last.begun + last.took + pause).await;
        }
        let begun = Instant::now();
        let read = tokio::time::timeout(READING_TIMEOUT, self.storage.active_keys()).await;
        let active = read
            .map_err(|_| unavailable("time-out of reading the keys"))
            .and_then(|read| Ok(read?))
            .inspect_err(|_| *failed = Some(Instant::now()))?;
        let known = Known::of(active, begun);
        *self.known.lock() = Some(known.clone());
        Ok(known)
    }
}

fn unavailable(cause: &str) -> Problem {
    Problem::new(Kind::Unavailable, "the database is not available at the moment")
        .retry_after(1)
        .caused_by(cause)
}

/// How often the key is checked again.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The credentials that a request was admitted with.
#[derive(Clone)]
pub(crate) struct Admission {
    gate: Arc<Gate>,
    /// The key of the request; `None` if none was required.
    shown: Option<(KeyId, SecretHash)>,
    /// The session of a visitor of the dashboard, which may end before its key.
    session: Option<SecretHash>,
}

impl Admission {
    pub(super) fn new(gate: &Arc<Gate>, shown: Option<(KeyId, SecretHash)>) -> Self {
        Self {
            gate: gate.clone(),
            shown,
            session: None,
        }
    }

    pub(super) fn of_session(mut self, session: SecretHash) -> Self {
        self.session = Some(session);
        self
    }

    /// Returns when the request would no longer be admitted: its key was revoked or rotated or has expired, its session
    /// has ended, or a service that required no keys now does. At once if that happens on this instance. Database errors
    /// do not end it.
    pub(crate) async fn ended(self) {
        let (mut ended, began) = (self.gate.ended.subscribe(), Instant::now());
        loop {
            // An end before the stream began is found by the first check.
            let _ = tokio::time::timeout(LOOK_EVERY, ended.changed()).await;
            if matches!(self.holds(began).await, Ok(false)) {
                return;
            }
        }
    }

    /// Whether the credentials of a response that began then are still valid. Keys that were read since then are not read
    /// again for a key that they do not contain: it was revoked.
    async fn holds(&self, began: Instant) -> Result<bool, Problem> {
        if let Some(session) = &self.session
            && self.gate.storage.session(session).await?.is_none()
        {
            return Ok(false);
        }
        let Some((key_id, secret)) = &self.shown else {
            return self.gate.is_open(false).await;
        };
        let holder = self.gate.holder_of(key_id, secret, began, false);
        Ok(holder.await?.is_some())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Admission {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Admitted::of(&parts.extensions)?.admission.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::openapi;

    #[test]
    fn every_route_of_the_table_is_one_of_the_service() {
        let document = serde_json::to_value(openapi::document()).unwrap();
        let memory = |below: &str| format!("{MEMORY}{below}");
        let expected = [
            ("DELETE", memory(""), AccessRole::Admin),
            ("POST", memory("/contexts/{ref}/redact"), AccessRole::Admin),
            ("POST", memory("/update"), AccessRole::Proposer),
            ("POST", memory("/operations"), AccessRole::Proposer),
            ("POST", memory("/consolidate"), AccessRole::Proposer),
            ("POST", "/mcp".to_owned(), AccessRole::Reader),
            (
                "POST",
                "/v1/vaults/{vault_id}/memory-tool".to_owned(),
                AccessRole::Reader,
            ),
        ];
        let mut special = 0;
        for (path, item) in document["paths"].as_object().unwrap() {
            for method in item.as_object().unwrap().keys().map(|name| name.to_uppercase()) {
                let found = role(&method.parse().unwrap(), path);
                let stated = expected
                    .iter()
                    .find(|(verb, route, _)| *verb == method && route == path);
                special += usize::from(stated.is_some());
                let usual = match method.as_str() {
                    _ if path.starts_with("/v1/keys") => AccessRole::Admin,
                    "GET" => AccessRole::Reader,
                    _ => AccessRole::Writer,
                };
                assert_eq!(found, stated.map_or(usual, |(.., role)| *role), "{method} {path}");
            }
        }
        assert_eq!(special, expected.len());
        for route in PUBLIC {
            assert!(document["paths"][route].is_object(), "{route}");
        }
        assert_eq!(role(&Method::HEAD, MEMORY), AccessRole::Reader);
        assert_eq!(role(&Method::DELETE, "/v1/a/new/route"), AccessRole::Writer);
    }

    #[test]
    fn the_buckets_are_bounded_in_number() {
        let mut settings = Settings::default();
        settings.config.http.rate_per_key = 2;
        let rates = Rates::new(&settings);
        for number in 0..BUCKETS * 2 {
            let key = Subject::Key(format!("k{number}").parse().unwrap());
            rates.count(Some(key)).unwrap();
        }
        assert!(rates.buckets.len() <= BUCKETS);
    }
}
