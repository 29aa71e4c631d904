//! Entity tags and preconditions (RFC 9110, sections 8.8.3 and 13), and how old an answer may be.
//!
//! The text of a version has the tag `"<context_id>"`. Other representations of the same version have different bytes
//! and therefore their own tags: the context id, `;`, and the representation's name (`"<context_id>;json"`).
//! `If-Match` on a write compares versions, so the tag of any representation is accepted. The typed headers of libraries
//! compare with one tag and do not give out theirs; here those of a write are compared later, under a lock, and stored with
//! a queued update.

use crate::domain::ids::ContextId;
use crate::http::extract::list_header;
use crate::http::problem::Problem;
use crate::storage::{EntityTags, PreconditionFailed, Preconditions};
use axum::extract::FromRequestParts;
use axum::http::header::{self, CACHE_CONTROL};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest as _, Sha256};
use std::convert::Infallible;
use std::time::Duration;

const IF_MATCH: &str = "If-Match";
const IF_NONE_MATCH: &str = "If-None-Match";

/// Separates the context id and the representation; ids cannot contain it.
const SEPARATOR: char = ';';

/// The strong entity tag of one representation of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ETag(String);

impl ETag {
    /// The tag of the text of a version.
    pub(crate) fn of(context_id: &ContextId) -> Self {
        Self(context_id.as_str().to_owned())
    }

    /// The tag of a response that is built from more than one version: a hash of its bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let digest = Sha256::digest(bytes);
        Self(hex::encode(&digest[..16]))
    }

    /// The tag of something other than a version. `tag` is visible ASCII without a quote.
    pub(crate) fn opaque(tag: String) -> Self {
        debug_assert!(tag.bytes().all(|b| b.is_ascii_graphic() && b != b'"'));
        Self(tag)
    }

    /// The tag of another representation of the same version. `what` is visible ASCII without a quote.
    pub(crate) fn representation(mut self, what: &str) -> Self {
        debug_assert!(what.bytes().all(|b| b.is_ascii_graphic() && b != b'"'));
        self.0.push(SEPARATOR);
        self.0.push_str(what);
        self
    }

    /// The value of the header `ETag`.
    pub(crate) fn header_value(&self) -> HeaderValue {
        // A tag consists of visible ASCII characters.
        let quoted = ["\"", &self.0, "\""].concat();
        HeaderValue::try_from(quoted).unwrap_or(HeaderValue::from_static("\"\""))
    }
}

/// One tag that a client sent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SentTag {
    weak: bool,
    opaque: String,
}

/// The value of a precondition.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tags {
    /// `*`: anything that exists.
    Any,
    /// One of these.
    Listed(Vec<SentTag>),
}

/// The headers, for the documentation.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "documents the headers that `Conditions` reads")]
pub(crate) struct ConditionHeaders {
    /// Only if what is here has one of these entity tags; `*`: only if there is something. 412 otherwise.
    #[param(
        rename = "If-Match",
        nullable = false,
        pattern = r#"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#
    )]
    if_match: Option<String>,
    /// Only if what is here has none of these entity tags; `*`: only if there is nothing. Otherwise a read is answered
    /// with 304, a write with 412.
    #[param(
        rename = "If-None-Match",
        nullable = false,
        pattern = r#"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#
    )]
    if_none_match: Option<String>,
}

/// The preconditions of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Conditions {
    if_match: Option<Tags>,
    if_none_match: Option<Tags>,
}

/// The result of the preconditions of a read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Send the representation.
    Send,
    /// Respond with 304: the client already has it.
    NotModified,
}

impl<S: Send + Sync> FromRequestParts<S> for Conditions {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::from_headers(&parts.headers)
    }
}

impl Conditions {
    fn from_headers(headers: &HeaderMap) -> Result<Self, Problem> {
        Ok(Self {
            if_match: tags(headers, &header::IF_MATCH, IF_MATCH)?,
            if_none_match: tags(headers, &header::IF_NONE_MATCH, IF_NONE_MATCH)?,
        })
    }

    /// Evaluates the preconditions of a read; `current` is the tag of the representation.
    ///
    /// # Errors
    /// 412 if `If-Match` names another tag.
    pub(crate) fn for_read(&self, current: &ETag) -> Result<Verdict, Problem> {
        if let Some(Tags::Listed(tags)) = &self.if_match {
            let met = tags.iter().any(|tag| !tag.weak && tag.opaque == current.0);
            if !met {
                return Err(stale(&current.0));
            }
        }
        match &self.if_none_match {
            Some(Tags::Any) => Ok(Verdict::NotModified),
            Some(Tags::Listed(tags)) if tags.iter().any(|tag| tag.opaque == current.0) => {
                Ok(Verdict::NotModified)
            }
            _ => Ok(Verdict::Send),
        }
    }

    /// The conditions of a write. Storage evaluates them while the memory's row is locked.
    pub(crate) fn for_write(self) -> Preconditions {
        Preconditions {
            if_match: self.if_match.map(|tags| tags.versions(|tag| !tag.weak)),
            if_none_match: self.if_none_match.map(|tags| tags.versions(|_| true)),
        }
    }
}

impl Tags {
    /// The versions of the tags that `wanted` selects, whatever their representation.
    fn versions(self, wanted: impl Fn(&SentTag) -> bool) -> EntityTags {
        match self {
            Self::Any => EntityTags::Any,
            Self::Listed(tags) => {
                let version = |tag: SentTag| tag.opaque.split(SEPARATOR).next().map(str::to_owned);
                EntityTags::List(tags.into_iter().filter(wanted).filter_map(version).collect())
            }
        }
    }
}

/// The problem of a write whose preconditions do not hold.
pub(crate) fn refused_write(failed: &PreconditionFailed) -> Problem {
    let detail = match &failed.current {
        Some(_) => "a precondition of the request is not satisfied by the newest version of the memory",
        None => "a precondition of the request is not satisfied: the memory has no document",
    };
    let problem = Problem::precondition_failed("If-Match, If-None-Match", detail)
        .with("current", failed.current.as_ref().map(ContextId::as_str));
    match failed.version {
        Some(version) => problem.with("version", version),
        None => problem,
    }
}

fn stale(current: &str) -> Problem {
    Problem::precondition_failed(
        "If-Match",
        "If-Match names another version or representation than the present one",
    )
    .with("current", current)
}

fn tags(headers: &HeaderMap, header: &HeaderName, name: &str) -> Result<Option<Tags>, Problem> {
    let Some(text) = list_header(headers, header, name)? else {
        return Ok(None);
    };
    let tags = if text.trim() == "*" {
        Some(Tags::Any)
    } else {
        parse_list(&text).map(Tags::Listed)
    };
    tags.map(Some).ok_or_else(|| {
        Problem::malformed(
            name,
            format!("{name} must be * or a list of entity tags in double quotes, as they stand in ETag"),
        )
    })
}

/// Parses `#entity-tag` with at least one element; empty list elements are ignored.
fn parse_list(text: &str) -> Option<Vec<SentTag>> {
    let mut tags = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t', ',']);
    while !rest.is_empty() {
        let (weak, quoted) = match rest.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, rest),
        };
        let (opaque, after) = quoted.strip_prefix('"')?.split_once('"')?;
        if !opaque.bytes().all(|b| b.is_ascii_graphic()) {
            return None;
        }
        tags.push(SentTag {
            weak,
            opaque: opaque.to_owned(),
        });
        let after = after.trim_start_matches([' ', '\t']);
        if !after.is_empty() && !after.starts_with(',') {
            return None;
        }
        rest = after.trim_start_matches([' ', '\t', ',']);
    }
    (!tags.is_empty()).then_some(tags)
}

/// Where a read may be answered from, as `Cache-Control` of the request says (RFC 9111, section 5.2.1).
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
    use crate::http::problem::Kind;

    fn conditions(name: &'static str, value: &str) -> Result<Conditions, Kind> {
        let headers = HeaderMap::from_iter([(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            value.parse().unwrap(),
        )]);
        Conditions::from_headers(&headers).map_err(|problem| problem.kind())
    }

    #[test]
    fn lists_of_tags_are_read_as_the_rfc_writes_them() {
        for (text, count) in [
            ("\"a\"", 1),
            ("\"a\", W/\"b\"", 2),
            (", \"a\" ,, \"b,c\",", 2),
            ("\"\"", 1),
        ] {
            assert_eq!(parse_list(text).map(|tags| tags.len()), Some(count), "{text}");
        }
        for bad in ["", "a", "\"a", "\"a\" \"b\"", "w/\"a\"", "*, \"a\"", "\"a b\""] {
            assert_eq!(parse_list(bad), None, "{bad}");
        }
        assert_eq!(conditions(IF_MATCH, "a"), Err(Kind::Malformed));
    }

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
