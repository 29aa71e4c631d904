//! Authenticates and authorizes a request, and authorizes further calls by an authenticated caller.

use super::gate::Admission;
use super::{credentials, policy, session};
use crate::domain::access::{Caller, Token};
use crate::domain::ids::VaultId;
use crate::fair::Party;
use crate::http::extract::caller::CallerOf;
use crate::http::middleware::rate::{RateLimitState, Subject};
use crate::http::problem::{Kind, Problem};
use crate::http::serve::Peer;
use crate::http::state::AppState;
use crate::{dashboard, telemetry};
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request};
use axum::http::HeaderValue;
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// Requests without a route pass and receive 404; the routes are public anyway.
pub(in crate::http::middleware) async fn check<F: Future<Output = Response>>(
    state: &AppState,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let Some(route) = parts.extensions.get::<MatchedPath>().cloned() else {
        return next(Request::from_parts(parts, body)).await;
    };
    if dashboard::is_page(route.as_str()) {
        let request = Request::from_parts(parts, body);
        // Boxed: otherwise the future of every request would contain that of the session check, which few need.
        return Box::pin(session::check(state, request, route.as_str(), next)).await;
    }
    if policy::is_public(route.as_str()) {
        return next(Request::from_parts(parts, body)).await;
    }
    let (mut response, rate_limit) = match admit(state, &mut parts, route.as_str()).await {
        Ok(rate_limit) => (next(Request::from_parts(parts, body)).await, rate_limit),
        Err((problem, rate_limit)) => (problem.into_response(), rate_limit),
    };
    if let Some(rate_limit) = rate_limit {
        rate_limit.write(response.headers_mut());
    }
    response
}

/// Authorizes a further call by a caller who is already authenticated.
pub(in crate::http::middleware) async fn check_again<F: Future<Output = Response>>(
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let caller = parts.extensions.get::<Caller>().cloned();
    let route = parts.extensions.get::<MatchedPath>().cloned();
    let (Some(caller), Some(route)) = (caller, route) else {
        // A call without an authenticated caller is a bug; it must not answer everybody.
        return Problem::internal("nobody has said who makes the request of a tool").into_response();
    };
    let caller = CallerOf(caller);
    match permit(&caller, &mut parts, route.as_str()).await {
        Ok(vault) => {
            let party = party(&caller, vault.as_ref(), None);
            party.scope(next(Request::from_parts(parts, body))).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// Identifies the caller, puts it into the extensions, and returns the state of its rate limit.
async fn admit(state: &AppState, parts: &mut Parts, route: &str) -> Result<Option<RateLimitState>, Refused> {
    let with_limit = |(problem, rate_limit)| (problem, Some(rate_limit));
    let peer = parts.extensions.get::<Peer>().map(|peer| peer.address);
    let (caller, admission) = match identify(state, parts, route).await {
        Ok(identified) => identified,
        Err(problem) => {
            // A request without a valid key counts for its address.
            let rate_limit = state
                .rates
                .count(peer.map(Subject::Address))
                .map_err(with_limit)?;
            return Err((problem, rate_limit));
        }
    };
    let subject = match &caller.0.key {
        Some(key) => Some(Subject::Key(key.key_id.clone())),
        None => peer.map(Subject::Address),
    };
    let rate_limit = state.rates.count(subject).map_err(with_limit)?;
    let vault = permit(&caller, parts, route)
        .await
        .map_err(|problem| (problem, rate_limit))?;
    if let Some(peer) = parts.extensions.get::<Peer>() {
        peer.connection.is_known();
    }
    parts.extensions.insert(party(&caller, vault.as_ref(), peer));
    parts.extensions.insert(caller.0);
    parts.extensions.insert(admission);
    Ok(rate_limit)
}

/// The caller of the request and its credentials.
async fn identify(state: &AppState, parts: &Parts, route: &str) -> Result<(CallerOf, Admission), Problem> {
    let arrived = tokio::time::Instant::now();
    let gate = &state.gate;
    let offline = policy::is_needed_in_an_outage(route);
    if gate.is_open(offline).await? {
        return Ok((CallerOf(Caller::open()), Admission::new(gate, None)));
    }
    let text = credentials::of(&parts.headers)?;
    if let Some(token) = Token::parse(&text)
        && let Some(caller) = gate.holder_of(&token, arrived, offline).await?
    {
        let shown = (token.key_id().clone(), token.hash());
        return Ok((CallerOf(caller), Admission::new(gate, Some(shown))));
    }
    Err(unauthorized(
        "the key is not valid here: it is unknown, was revoked, or has expired",
        r#"Bearer realm="working-memory", error="invalid_token""#,
    ))
}

/// The party that a request's resources are counted for. A request without vault and key counts for its address.
fn party(caller: &CallerOf, vault: Option<&VaultId>, peer: Option<IpAddr>) -> Party {
    let key = caller.0.key.as_ref().map(|key| key.key_id.as_str());
    match (vault, peer) {
        (None, Some(address)) if key.is_none() => Party::new(Some(&address.to_string()), None),
        _ => Party::new(vault.map(VaultId::as_str), key),
    }
}

/// Checks whether the caller may use the route, and returns the vault in the path.
async fn permit(caller: &CallerOf, parts: &mut Parts, route: &str) -> Result<Option<VaultId>, Problem> {
    let vault = vault(parts).await;
    if let Some(vault) = &vault
        && !caller.0.sees(vault)
    {
        telemetry::refused("foreign_vault");
        return Err(Problem::not_found("there is no such vault for this key"));
    }
    let role = policy::role(&parts.method, route);
    if !caller.0.may(role) {
        telemetry::refused("role");
        caller.require(role, &format!("{} is allowed here", parts.method))?;
    }
    Ok(vault)
}

/// The vault in the path. An invalid id is left to the route, which reports what is wrong with it.
async fn vault(parts: &mut Parts) -> Option<VaultId> {
    let params = RawPathParams::from_request_parts(parts, &()).await.ok()?;
    let (_, id) = params.iter().find(|(name, _)| *name == "vault_id")?;
    id.parse().ok()
}

/// A problem, and the state of the caller's rate limit.
pub(super) type Refused = (Problem, Option<RateLimitState>);

/// 401; also counted as a metric.
pub(super) fn unauthorized(detail: &str, challenge: &'static str) -> Problem {
    telemetry::refused("unauthorized");
    Problem::new(Kind::Unauthorized, detail).header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
}
