//! `Cache-Control` of a request: how old the response may be (RFC 9111, section 5.2.1).

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::CACHE_CONTROL;
use axum::http::request::Parts;
use std::convert::Infallible;
use std::time::Duration;

/// Where a read may be answered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// The process's cache.
    Recent,
    /// Only the database: `no-cache`, `no-store` or `max-age=0`.
    Latest,
}

/// The header, as the documentation shows it.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "documents the header")]
pub(crate) struct FreshnessHeader {
    /// `no-cache` asks the database also where the service keeps the newest version itself, which on other instances
    /// than its writer's may be a moment behind.
    #[param(rename = "Cache-Control", example = "no-cache")]
    cache_control: Option<String>,
}

impl Freshness {
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        // An unreadable value is treated as a request for the latest state.
        let wants_latest = headers.get_all(CACHE_CONTROL).iter().any(|value| {
            value
                .to_str()
                .map_or(true, |value| value.split(',').any(forbids_kept))
        });
        if wants_latest { Self::Latest } else { Self::Recent }
    }
}

/// The maximum age of a response; `None` if unlimited. Of several values the smallest counts; unreadable ones are
/// ignored.
pub(crate) fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let values = headers.get_all(CACHE_CONTROL).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    let ages = values.flat_map(|value| value.split(',')).filter_map(|directive| {
        let (name, value) = directive.split_once('=')?;
        let seconds = value.trim().trim_matches('"').parse().ok()?;
        let is_age = name.trim().eq_ignore_ascii_case("max-age");
        is_age.then(|| Duration::from_secs(seconds))
    });
    ages.min()
}

fn forbids_kept(directive: &str) -> bool {
    let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
    let name = name.trim();
    name.eq_ignore_ascii_case("no-cache")
        || name.eq_ignore_ascii_case("no-store")
        || (name.eq_ignore_ascii_case("max-age") && value.trim().trim_matches('"') == "0")
}

impl<S: Sync> FromRequestParts<S> for Freshness {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::from_headers(&parts.headers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_client_that_wants_the_latest_gets_it_in_any_spelling() {
        let of = |values: &[&'static [u8]]| {
            let values = values
                .iter()
                .map(|value| (CACHE_CONTROL, HeaderValue::from_bytes(value).unwrap()));
            Freshness::from_headers(&HeaderMap::from_iter(values))
        };
        for latest in [
            b"no-cache".as_slice(),
            b"No-Cache",
            b"max-stale=5, no-store",
            b"max-age = 0",
            b"max-age=\"0\"",
            b"\xff",
        ] {
            assert_eq!(of(&[latest]), Freshness::Latest, "{latest:?}");
            assert_eq!(of(&[b"max-age=9", latest]), Freshness::Latest, "{latest:?}");
        }
        for recent in [
            b"".as_slice(),
            b"max-age=10",
            b"only-if-cached",
            b"x-no-cache",
            b"no-cached",
        ] {
            assert_eq!(of(&[recent]), Freshness::Recent, "{recent:?}");
        }
        assert_eq!(of(&[]), Freshness::Recent);
    }

    #[test]
    fn the_shortest_age_counts() {
        let of = |value: &'static str| {
            let headers = HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static(value))]);
            max_age(&headers)
        };
        assert_eq!(of("max-age=9, Max-Age = \"3\""), Some(Duration::from_secs(3)));
        assert_eq!(of("max-age=x, max-stale=1"), None);
        assert_eq!(of("s-maxage=1"), None);
    }
}
