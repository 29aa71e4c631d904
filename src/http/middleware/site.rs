//! Checks which site a request is for and which site it comes from, before anything else.
//!
//! A browser sends requests for any page it shows, even to a service that only this machine can reach. If no key is
//! required, nothing else would stop such a page. It cannot forge the following headers, so three things are checked:
//! `Host` is a name of the service (under DNS rebinding the attacker's name resolves to this address, and the browser
//! regards both as one origin), `Origin` is the same site, and `Sec-Fetch-Site` names no other site. Clients other
//! than browsers send neither of the last two. If keys are required, a foreign page has none, and a proxy may use any
//! host name.

use crate::config::hosts::Authority;
use crate::http::openapi::add_problem;
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::telemetry;
use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::path::Operation;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The values of `Sec-Fetch-Site` for requests that no other site caused: from the service's own pages, or by the user
/// directly.
const OWN: [&[u8]; 2] = [b"same-origin", b"none"];

/// The setting with the service's host names.
const SETTING: &str = "http.allowed_hosts";

/// Rejects requests of other sites' pages to a service that requires no key, and requests without a host.
pub(super) async fn check<F: Future<Output = Response>>(
    state: &AppState,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let host = match host(&request) {
        Ok(host) => host,
        Err(problem) => return problem.into_response(),
    };
    let settings = &state.settings;
    let foreign = foreign(
        request.headers(),
        &host,
        &settings.own_hosts,
        settings.tls.is_some(),
    );
    let Some(problem) = foreign else {
        return next(request).await;
    };
    // If the database is unavailable, the last known state decides.
    match state.gate.is_open(true).await {
        Ok(false) => next(request).await,
        Ok(true) => {
            telemetry::refused("foreign_site");
            problem.into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

/// Rejects requests without a host, while it is not yet known whether keys exist.
pub(crate) async fn check_host(request: Request, next: Next) -> Response {
    match host(&request) {
        Ok(_) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// The host that a request is for.
///
/// # Errors
/// 400 unless exactly one host is named.
fn host(request: &Request) -> Result<Authority, Problem> {
    let broken = |what: &str| Problem::malformed("Host", format!("the header Host {what}"));
    let mut values = request.headers().get_all(HOST).iter();
    let value = values.next().ok_or_else(|| broken("is missing"))?;
    if values.next().is_some() {
        return Err(broken("may stand in a request only once"));
    }
    let read = |text: &str| text.parse::<Authority>().ok();
    let host = value.to_str().ok().and_then(read);
    let host = host.ok_or_else(|| broken("must be a host name or address with or without a port"))?;
    // A request line in absolute form also contains the host.
    match request.uri().authority() {
        Some(named) if read(named.as_str()).as_ref() != Some(&host) => {
            Err(broken("and the request's URL must name the same host"))
        }
        _ => Ok(host),
    }
}

/// The problem of a request to a service that requires no key; `None` if there is none.
fn foreign(headers: &HeaderMap, host: &Authority, own: &[Authority], tls: bool) -> Option<Problem> {
    if !host.is_loopback() && !own.iter().any(|own| own.covers(host)) {
        return Some(refusal(
            HOST,
            "names neither this machine (localhost, 127.0.0.1, [::1]) nor one of http.allowed_hosts: list it there if \
             the service is reached by this name",
        ));
    }
    let from = |origin: &HeaderValue| is_own_origin(origin, host, tls);
    if !headers.get_all(ORIGIN).iter().all(from) {
        return Some(refusal(
            ORIGIN,
            "names another site than the request is for: pages are answered only on the service's own host, which is \
             one of loopback or of http.allowed_hosts",
        ));
    }
    let of_own = |site: &HeaderValue| OWN.contains(&site.as_bytes());
    if !headers.get_all(SEC_FETCH_SITE).iter().all(of_own) {
        return Some(refusal(
            SEC_FETCH_SITE,
            "says that a page of another site sent the request: pages are answered only on the service's own host, \
             which is one of loopback or of http.allowed_hosts",
        ));
    }
    None
}

/// Whether `Origin` is the site that the request is for. A service on plain HTTP may be behind a proxy that terminates
/// TLS, so the scheme is compared only if the service itself uses TLS.
fn is_own_origin(origin: &HeaderValue, host: &Authority, tls: bool) -> bool {
    let Some((scheme, rest)) = origin.to_str().ok().and_then(|text| text.split_once("://")) else {
        return false;
    };
    let default_port = match scheme {
        "https" => 443,
        "http" if !tls => 80,
        _ => return false,
    };
    let port = |of: &Authority| of.port.unwrap_or(default_port);
    rest.parse()
        .is_ok_and(|origin| host.same_host(&origin) && port(host) == port(&origin))
}

fn refusal(header: HeaderName, why: &str) -> Problem {
    let name = match header {
        HOST => "Host",
        ORIGIN => "Origin",
        _ => "Sec-Fetch-Site",
    };
    let detail = format!("this service asks for no key, and the header {name} {why}; or make an API key");
    Problem::new(Kind::ForeignSite, detail)
        .with("field", name)
        .with("setting", SETTING)
}

/// Adds the error responses of this layer to the documentation of a route.
pub(crate) fn document(operation: &mut Operation) {
    let host = "There is no header Host, or more than one.";
    add_problem(operation, Kind::Malformed, host);
    let site =
        "No key is asked for, and the request comes from a web page of another site or under a foreign name.";
    add_problem(operation, Kind::ForeignSite, site);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(headers: &[(&'static str, &str)], host: &str, tls: bool) -> Option<String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let own = [
            "memory.example.org".parse().unwrap(),
            "10.0.0.9:80".parse().unwrap(),
        ];
        let problem = foreign(&map, &host.parse().unwrap(), &own, tls)?;
        assert_eq!(problem.kind(), Kind::ForeignSite);
        Some(problem.member("field")?.as_str()?.to_owned())
    }

    #[test]
    fn only_names_of_the_service_are_answered() {
        for host in [
            "localhost",
            "127.0.0.1:8080",
            "[::1]:1",
            "MEMORY.example.org:9",
            "10.0.0.9:80",
        ] {
            assert_eq!(named(&[], host, false), None, "{host}");
        }
        for host in [
            "attacker.example",
            "x.memory.example.org",
            "10.0.0.9",
            "10.0.0.9:81",
            "0.0.0.0",
        ] {
            assert_eq!(named(&[], host, false).as_deref(), Some("Host"), "{host}");
        }
    }

    #[test]
    fn only_pages_of_the_site_itself_are_answered() {
        let origin = |origin, host, tls| named(&[("origin", origin)], host, tls);
        for (good, host) in [
            ("http://localhost:8080", "localhost:8080"),
            ("http://[::1]:8080", "[::1]:8080"),
            ("http://localhost", "localhost"),
            ("http://localhost", "localhost:80"),
            ("https://memory.example.org", "memory.example.org"),
            ("https://memory.example.org", "memory.example.org:443"),
        ] {
            assert_eq!(origin(good, host, false), None, "{good}");
        }
        for bad in [
            "null",
            "",
            "localhost:8080",
            "http://localhost",
            "http://localhost:8081",
            "http://127.0.0.1:8080",
            "file://",
            "http://localhost:8080.attacker.example",
            "http://attacker.example",
            "ftp://localhost:8080",
            "chrome-extension://localhost:8080",
        ] {
            assert_eq!(
                origin(bad, "localhost:8080", false).as_deref(),
                Some("Origin"),
                "{bad}"
            );
        }
        assert_eq!(origin("https://localhost:8080", "localhost:8080", true), None);
        assert!(origin("http://localhost:8080", "localhost:8080", true).is_some());
        let two = [("origin", "http://localhost"), ("origin", "null")];
        assert_eq!(named(&two, "localhost", false).as_deref(), Some("Origin"));
    }

    #[test]
    fn what_the_browser_says_of_the_page_counts() {
        let site = |site| named(&[("sec-fetch-site", site)], "localhost", false);
        assert_eq!(site("same-origin"), None);
        assert_eq!(site("none"), None);
        for other in ["cross-site", "same-site", "", "anything new"] {
            assert_eq!(site(other).as_deref(), Some("Sec-Fetch-Site"), "{other}");
        }
    }
}
