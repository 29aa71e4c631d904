//! Authenticates visitors of the dashboard by the session cookie. The cookie is valid only for pages, never for API
//! routes. It is the only one, of hexadecimal digits, so that a crate for cookies would have little to do.

use super::Call;
use super::access::{Admission, Admitted, RateHeaders, party, subject};
use crate::dashboard::{self, Visitor};
use crate::domain::access::{Caller, SessionToken};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::random;
use axum::http::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;

/// The name of the session cookie. Before sign-in it protects forms (CSRF).
const NAME: &str = "wm_session";

/// Passes every request on to the pages, with the visitor if there is one.
pub(super) async fn check<F: Future<Output = Response>>(
    state: &AppState,
    mut call: Box<Call>,
    route: &str,
    next: impl FnOnce(Box<Call>) -> F,
) -> Response {
    if dashboard::is_public(route) && route != "/ui/sign-in" {
        return next(call).await;
    }
    if comes_from_elsewhere(&call.parts) {
        return dashboard::reload_page();
    }
    let mut rate_limit = None;
    let mut response = match admit(state, &mut call.parts, &mut rate_limit).await {
        Ok((visitor, cookie)) => {
            call.parts.extensions.insert(visitor.clone());
            let mut response = next(call).await;
            if let Some(token) = cookie {
                give(&mut response, &token, state.settings.tls.is_some());
            }
            // An error page has the navigation of its visitor.
            response.extensions_mut().insert(visitor);
            response
        }
        Err(problem) => problem.into_response(),
    };
    response.headers_mut().extend(rate_limit.into_iter().flatten());
    response
}

/// Identifies the visitor; also the cookie to set. `rate_limit` becomes the headers of the visitor's rate limit.
async fn admit(
    state: &AppState,
    parts: &mut Parts,
    rate_limit: &mut Option<RateHeaders>,
) -> Result<(Visitor, Option<SessionToken>), Problem> {
    let shown = of(&parts.headers);
    let found = match &shown {
        _ if state.gate.is_open(false).await? => Some((Caller::open(), Admission::new(&state.gate, None))),
        Some(token) => holder(state, token).await?,
        None => None,
    };
    let caller = found.as_ref().map(|(caller, _)| caller);
    *rate_limit = state.rates.count(subject(&parts.extensions, caller))?;
    let visitor = |token: &SessionToken| Visitor {
        caller: caller.cloned(),
        form_token: token.form_token(),
    };
    let visit = match shown {
        Some(token) => (visitor(&token), None),
        None => {
            let token = new();
            (visitor(&token), Some(token))
        }
    };
    if let Some((caller, admission)) = found {
        let party = party(Some(&caller), None, &parts.extensions);
        parts.extensions.insert(Admitted {
            party,
            caller,
            admission,
            slot: None,
        });
    }
    Ok(visit)
}

/// The holder of a session, if the session is active and its key is valid.
async fn holder(state: &AppState, token: &SessionToken) -> Result<Option<(Caller, Admission)>, Problem> {
    let arrived = Instant::now();
    let Some(session) = state.storage.session(&token.hash()).await? else {
        return Ok(None);
    };
    let caller = state
        .gate
        .holder_of(&session.key_id, &session.secret, arrived, false)
        .await?;
    Ok(caller.map(|caller| {
        (
            caller,
            Admission::new(&state.gate, Some((session.key_id, session.secret))).of_session(token.hash()),
        )
    }))
}

/// A new session id, without a signed-in visitor.
pub(crate) fn new() -> SessionToken {
    SessionToken::new(&random::secret_bytes())
}

/// The session in the request's cookie.
pub(crate) fn of(headers: &HeaderMap) -> Option<SessionToken> {
    let values = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let mut pairs = values
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(name, value)| (name.trim() == NAME).then(|| SessionToken::parse(value.trim()))?)
}

/// `Set-Cookie` for a session of so many seconds; with `None` it ends with the browser, with 0 at once.
pub(crate) fn cookie(token: &str, seconds: Option<i64>, secure: bool) -> String {
    let age = seconds
        .map(|seconds| format!("; Max-Age={seconds}"))
        .unwrap_or_default();
    let secure = if secure { "; Secure" } else { "" };
    format!(
        "{NAME}={token}; Path={}; HttpOnly; SameSite=Strict{age}{secure}",
        dashboard::ROOT
    )
}

/// Sets the cookie on pages, because the CSRF tokens of their forms are derived from it.
fn give(response: &mut Response, token: &SessionToken, secure: bool) {
    let headers = response.headers_mut();
    let is_page = headers
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    if is_page
        && !headers.contains_key(SET_COOKIE)
        && let Ok(value) = HeaderValue::try_from(cookie(token.expose(), None, secure))
    {
        headers.insert(SET_COOKIE, value);
    }
}

/// Whether a link on another site led here. The browser then withholds the `SameSite=Strict` cookie, and a signed-in
/// visitor would have to sign in again.
fn comes_from_elsewhere(parts: &Parts) -> bool {
    let says = |name: &str, value: &str| parts.headers.get(name).is_some_and(|actual| actual == value);
    parts.method == Method::GET
        && of(&parts.headers).is_none()
        && says("sec-fetch-site", "cross-site")
        && says("sec-fetch-mode", "navigate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_is_found_among_other_cookies() {
        let digits = "ab".repeat(32);
        let read = |text: &str| {
            let value = HeaderValue::try_from(text).unwrap();
            of(&HeaderMap::from_iter([(COOKIE, value)])).map(|token| token.expose().to_owned())
        };
        assert_eq!(
            read(&format!("a=b; wm_session={digits}; c=d")),
            Some(digits.clone())
        );
        assert_eq!(
            read(&format!("wm_session=x; wm_session={digits}")),
            Some(digits.clone())
        );
        assert_eq!(read(&format!("xwm_session={digits}")), None);
        assert_eq!(read("wm_session="), None);
    }
}
