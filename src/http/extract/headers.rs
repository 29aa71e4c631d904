//! The headers of requests that choose a response: `Accept` (RFC 9110, section 12.5.1), entity tags and preconditions (sections
//! 8.8.3 and 13), and `Cache-Control`, which says how old an answer may be.
//!
//! No library in use negotiates. Each route lists its representations in its order of preference. Documents default to text,
//! listings to JSON.
//!
//! The text of a version has the tag `"<context_id>"`. Other representations of the same version have different bytes
//! and therefore their own tags: the context id, `;`, and the representation's name (`"<context_id>;json"`).
//! `If-Match` on a write compares versions, so the tag of any representation is accepted. The typed headers of libraries
//! compare with one tag and do not give out theirs; here those of a write are compared later, under a lock, and stored with
//! a queued update.

use crate::domain::ids::ContextId;
use crate::http::problem::{Kind, Problem};
use crate::storage::{EntityTags, PreconditionFailed, Preconditions};
use axum::extract::FromRequestParts;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH, VARY};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, IntoResponseParts, Response, ResponseParts};
use sha2::{Digest as _, Sha256};
use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

/// The trimmed value of a header that may occur at most once. `name` is spelled as clients write it.
///
/// # Errors
/// 400 if it occurs twice or is not visible ASCII.
pub(crate) fn single_header(headers: &HeaderMap, name: &str) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Problem::malformed(
            name,
            format!("the header {name} may stand in a request only once"),
        ));
    }
    Ok(Some(visible(name, value)?.trim().to_owned()))
}

/// All values of a list header, joined as in RFC 9110, section 5.3. `name` is spelled as clients write it.
///
/// # Errors
/// 400 if a value is not visible ASCII.
pub(crate) fn list_header(
    headers: &HeaderMap,
    header: &HeaderName,
    name: &str,
) -> Result<Option<String>, Problem> {
    let mut joined: Option<String> = None;
    for value in headers.get_all(header) {
        let text = visible(name, value)?;
        match &mut joined {
            Some(list) => {
                list.push(',');
                list.push_str(text);
            }
            None => joined = Some(text.to_owned()),
        }
    }
    Ok(joined)
}

fn visible<'v>(name: &str, value: &'v HeaderValue) -> Result<&'v str, Problem> {
    value
        .to_str()
        .map_err(|_| Problem::malformed(name, format!("the header {name} must be visible ASCII")))
}

/// The representations of documents and of views of documents, in answers and in bodies of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Representation {
    /// The text itself as `text/plain`.
    Plain,
    /// The text itself as `text/markdown`.
    Markdown,
    /// A unified diff as `text/x-diff`.
    Diff,
    /// Server-sent events, as `text/event-stream`.
    EventStream,
    /// JSON: the text in an envelope, or structured data.
    Json,
}

impl Representation {
    /// The representations of a document.
    const OF_DOCUMENT: [Self; 3] = [Self::Plain, Self::Markdown, Self::Json];

    /// The representations of what the service writes as Markdown.
    pub(crate) const OF_MARKDOWN: [Self; 3] = [Self::Markdown, Self::Plain, Self::Json];

    /// The media type, without its parameter.
    pub(crate) fn essence(self) -> &'static str {
        let content_type = self.content_type();
        content_type
            .split_once(';')
            .map_or(content_type, |(essence, _)| essence)
    }

    /// The `Content-Type` of the response.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Plain => "text/plain; charset=utf-8",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Diff => "text/x-diff; charset=utf-8",
            Self::EventStream => "text/event-stream",
            Self::Json => "application/json",
        }
    }
}

/// `Content-Type`, and `Vary` because the client chose.
impl IntoResponseParts for Representation {
    type Error = Infallible;

    fn into_response_parts(self, mut response: ResponseParts) -> Result<ResponseParts, Infallible> {
        let content_type = HeaderValue::from_static(self.content_type());
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        response
            .headers_mut()
            .insert(VARY, HeaderValue::from_static("Accept"));
        Ok(response)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Representation {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let accept = Accept::from_request_parts(parts, state).await?;
        accept.choose(&Self::OF_DOCUMENT)
    }
}

/// The `Accept` header, for routes with several representations.
#[derive(Debug)]
pub(crate) struct Accept(Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for Accept {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(list_header(&parts.headers, &ACCEPT, "Accept")?))
    }
}

impl Accept {
    /// The representation with the highest quality; of equal ones the first.
    ///
    /// # Errors
    /// 406 if the client accepts none of them.
    pub(crate) fn choose(&self, offered: &[Representation]) -> Result<Representation, Problem> {
        choose(self.0.as_deref().unwrap_or_default(), offered).ok_or_else(|| {
            let names: Vec<_> = offered.iter().map(|offer| offer.essence()).collect();
            let detail = format!("Accept allows none of: {} (UTF-8)", names.join(", "));
            Problem::new(Kind::NotAcceptable, detail).with("field", "Accept")
        })
    }
}

/// One element of an `Accept` list: its media range and its quality, from 0 to 1.
struct Range<'a> {
    main: &'a str,
    sub: &'a str,
    quality: f32,
}

impl<'a> Range<'a> {
    /// `None` for an element that cannot be parsed: it matches nothing.
    fn parse(element: &'a str) -> Option<Self> {
        let mut pieces = element.split(';').map(str::trim);
        let (main, sub) = pieces.next()?.split_once('/')?;
        let mut quality: f32 = 1.0;
        for parameter in pieces {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if name.trim().eq_ignore_ascii_case("q") {
                let value = value.trim().parse::<f32>();
                quality = value.ok().filter(|q| (0.0..=1.0).contains(q))?;
            } else if name.trim().eq_ignore_ascii_case("charset")
                && !value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
            {
                return None;
            }
        }
        Some(Self { main, sub, quality })
    }

    /// 3 for the exact type, 2 for `text/*`, 1 for `*/*`.
    fn precision(&self, essence: &str) -> Option<u8> {
        let (main, sub) = essence.split_once('/')?;
        let same_main = self.main.eq_ignore_ascii_case(main);
        match () {
            () if same_main && self.sub.eq_ignore_ascii_case(sub) => Some(3),
            () if same_main && self.sub == "*" => Some(2),
            () if self.main == "*" && self.sub == "*" => Some(1),
            () => None,
        }
    }
}

fn choose(accept: &str, offered: &[Representation]) -> Option<Representation> {
    if accept.trim().is_empty() {
        return offered.first().copied();
    }
    let ranges: Vec<_> = accept
        .split(',')
        .filter_map(|element| Range::parse(element.trim()))
        .collect();
    let mut best = None;
    for &candidate in offered {
        let most_precise = ranges
            .iter()
            .filter_map(|range| Some((range.precision(candidate.essence())?, range.quality)))
            .max_by_key(|(precision, _)| *precision);
        let quality = most_precise.map_or(0.0, |(_, quality)| quality);
        if quality > best.map_or(0.0, |(_, most)| most) {
            best = Some((candidate, quality));
        }
    }
    best.map(|(candidate, _)| candidate)
}

/// A cache may store a document but must revalidate it.
pub(crate) const CACHEABLE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Separates the context id and the representation; ids cannot contain it.
const SEPARATOR: char = ';';

/// The strong entity tag of one representation of a version. As text it stands in double quotes.
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

    /// The tag of another representation of the same version. `what` is visible ASCII without a quote.
    pub(crate) fn representation(mut self, what: &str) -> Self {
        debug_assert!(what.bytes().all(|b| b.is_ascii_graphic() && b != b'"'));
        self.0.push(SEPARATOR);
        self.0.push_str(what);
        self
    }

    /// The tag of a representation that also says what no version has, such as reasons: a redaction changes it.
    pub(crate) fn with_bytes(self, bytes: &[u8]) -> Self {
        let Self(hash) = Self::of_bytes(bytes);
        self.representation(&hash)
    }

    /// The tag of the same in this form: JSON has other bytes than text.
    pub(crate) fn in_form(self, form: Representation) -> Self {
        match form {
            Representation::Json => self.representation("json"),
            _ => self,
        }
    }

    /// The value of the header `ETag`.
    pub(crate) fn header_value(&self) -> HeaderValue {
        // A tag consists of visible ASCII characters.
        let quoted = ["\"", &self.0, "\""].concat();
        HeaderValue::try_from(quoted).unwrap_or(HeaderValue::from_static("\"\""))
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(tag) = self;
        write!(f, "\"{tag}\"")
    }
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

/// The preconditions of a request, with the tags as they were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Conditions(Preconditions);

impl<S: Send + Sync> FromRequestParts<S> for Conditions {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::from_headers(&parts.headers)
    }
}

impl Conditions {
    fn from_headers(headers: &HeaderMap) -> Result<Self, Problem> {
        Ok(Self(Preconditions {
            // A weak tag is never equal in a strong comparison.
            if_match: tags(headers, &IF_MATCH, "If-Match", |weak| !weak)?,
            if_none_match: tags(headers, &IF_NONE_MATCH, "If-None-Match", |_| true)?,
        }))
    }

    /// Whether the client of a read has the representation with the tag `current` already: then the answer is 304.
    ///
    /// # Errors
    /// 412 if `If-Match` names another tag.
    pub(crate) fn has_already(&self, current: &ETag) -> Result<bool, Problem> {
        let Self(conditions) = self;
        let current = Some(current.0.as_str());
        let names = |tags: &EntityTags| tags.contains(current);
        if !conditions.if_match.as_ref().is_none_or(names) {
            let detail = "If-Match names another version or representation than the present one";
            return Err(Problem::precondition_failed("If-Match", detail).with("current", current));
        }
        Ok(conditions.if_none_match.as_ref().is_some_and(names))
    }

    /// Responds to a read with a body that is made anew each time, and whose tag is that of its bytes; 304 if the client has it.
    ///
    /// # Errors
    /// 412 if `If-Match` names another tag.
    pub(crate) fn answer(&self, representation: Representation, body: String) -> Result<Response, Problem> {
        let etag = ETag::of_bytes(body.as_bytes());
        let headers = [
            (ETAG, etag.header_value()),
            (VARY, HeaderValue::from_static("Accept")),
            (CACHE_CONTROL, CACHEABLE),
        ];
        Ok(match self.has_already(&etag)? {
            true => (StatusCode::NOT_MODIFIED, headers).into_response(),
            false => (headers, representation, body).into_response(),
        })
    }

    /// The conditions of a write, which name versions, whatever their representation. Storage evaluates them while the
    /// memory's row is locked.
    pub(crate) fn for_write(self) -> Preconditions {
        let version = |tag: String| tag.split(SEPARATOR).next().unwrap_or_default().to_owned();
        let versions = |tags| match tags {
            EntityTags::Any => EntityTags::Any,
            EntityTags::List(tags) => EntityTags::List(tags.into_iter().map(version).collect()),
        };
        Preconditions {
            if_match: self.0.if_match.map(versions),
            if_none_match: self.0.if_none_match.map(versions),
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

/// The tags of a precondition; of a list those that `counts` says count, by whether they are weak.
fn tags(
    headers: &HeaderMap,
    header: &HeaderName,
    name: &str,
    counts: impl Fn(bool) -> bool,
) -> Result<Option<EntityTags>, Problem> {
    let Some(text) = list_header(headers, header, name)? else {
        return Ok(None);
    };
    if text.trim() == "*" {
        return Ok(Some(EntityTags::Any));
    }
    let sent = parse_list(&text).ok_or_else(|| {
        Problem::malformed(
            name,
            format!("{name} must be * or a list of entity tags in double quotes, as they stand in ETag"),
        )
    })?;
    let counted = sent.into_iter().filter(|(weak, _)| counts(*weak));
    Ok(Some(EntityTags::List(counted.map(|(_, tag)| tag).collect())))
}

/// Parses `#entity-tag` with at least one element, each with whether it is weak; empty list elements are ignored.
fn parse_list(text: &str) -> Option<Vec<(bool, String)>> {
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
        tags.push((weak, opaque.to_owned()));
        let after = after.trim_start_matches([' ', '\t']);
        if !after.is_empty() && !after.starts_with(',') {
            return None;
        }
        rest = after.trim_start_matches([' ', '\t', ',']);
    }
    (!tags.is_empty()).then_some(tags)
}

/// The header, as the documentation shows it.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "documents the header")]
pub(crate) struct FreshnessHeader {
    /// `no-cache` asks the database also where the service keeps the newest version itself, which on other instances
    /// than its writer's may be a moment behind.
    #[param(rename = "Cache-Control", nullable = false, example = "no-cache")]
    cache_control: Option<String>,
}

/// How old an answer may be, as `Cache-Control` of the request says (RFC 9111, section 5.2.1); `None` if unlimited. With zero
/// only the database can give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MaxAge(pub(crate) Option<Duration>);

impl MaxAge {
    /// Of several values the smallest counts; numbers that cannot be read are ignored.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        let values = headers.get_all(CACHE_CONTROL).iter();
        // An unreadable header is treated as a request for the latest state.
        let values = values.map(|value| value.to_str().unwrap_or("no-cache"));
        Self(values.flat_map(|value| value.split(',')).filter_map(age).min())
    }

    /// Whether only the database may answer.
    pub(crate) fn is_zero(self) -> bool {
        self.0.is_some_and(|age| age.is_zero())
    }
}

/// The age that one directive allows.
fn age(directive: &str) -> Option<Duration> {
    let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
    match name.trim().to_ascii_lowercase().as_str() {
        "no-cache" | "no-store" => Some(Duration::ZERO),
        "max-age" => value
            .trim()
            .trim_matches('"')
            .parse()
            .ok()
            .map(Duration::from_secs),
        _ => None,
    }
}

impl<S: Sync> FromRequestParts<S> for MaxAge {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::from_headers(&parts.headers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wish_of_the_client_decides() {
        use Representation::{Json, Markdown, Plain};
        for (accept, chosen) in [
            ("", Some(Plain)),
            ("*/*", Some(Plain)),
            ("text/*", Some(Plain)),
            ("text/markdown", Some(Markdown)),
            ("application/json", Some(Json)),
            ("APPLICATION/JSON", Some(Json)),
            ("application/*", Some(Json)),
            ("text/plain;q=0.5, application/json", Some(Json)),
            ("text/plain; q=0.5, application/json; q=0.4", Some(Plain)),
            ("text/html, application/xhtml+xml, */*;q=0.8", Some(Plain)),
            ("*/*, text/plain;q=0, text/markdown;q=0", Some(Json)),
            ("text/*;q=0.3, text/markdown;q=0.7, */*;q=0.1", Some(Markdown)),
            ("text/plain; charset=utf-8", Some(Plain)),
            ("text/plain; charset=latin1", None),
            ("text/html", None),
            ("*/*;q=0", None),
            ("text/plain;q=2", None),
            ("nonsense", None),
        ] {
            assert_eq!(choose(accept, &Representation::OF_DOCUMENT), chosen, "{accept}");
        }
    }

    #[test]
    fn the_order_of_the_route_decides_where_the_client_does_not() {
        use Representation::{Diff, Json, Plain};
        for (accept, offered, chosen) in [
            ("*/*", [Json, Plain, Plain], Some(Json)),
            ("", [Json, Plain, Plain], Some(Json)),
            ("text/*", [Json, Plain, Plain], Some(Plain)),
            ("text/x-diff, text/plain;q=0.9", [Plain, Diff, Json], Some(Diff)),
            ("text/markdown", [Plain, Diff, Json], None),
        ] {
            assert_eq!(choose(accept, &offered), chosen, "{accept}");
        }
    }

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
        assert_eq!(conditions("if-match", "a"), Err(Kind::Malformed));
    }

    #[test]
    fn a_client_that_wants_the_latest_gets_it_in_any_spelling() {
        let of = |values: &[&'static [u8]]| {
            let values = values
                .iter()
                .map(|value| (CACHE_CONTROL, HeaderValue::from_bytes(value).unwrap()));
            MaxAge::from_headers(&HeaderMap::from_iter(values)).is_zero()
        };
        for latest in [
            b"no-cache".as_slice(),
            b"No-Cache",
            b"max-stale=5, no-store",
            b"max-age = 0",
            b"max-age=\"0\"",
            b"\xff",
        ] {
            assert!(of(&[latest]), "{latest:?}");
            assert!(of(&[b"max-age=9", latest]), "{latest:?}");
        }
        for recent in [
            b"".as_slice(),
            b"max-age=10",
            b"only-if-cached",
            b"x-no-cache",
            b"no-cached",
        ] {
            assert!(!of(&[recent]), "{recent:?}");
        }
        assert!(!of(&[]));
        // The shortest age counts.
        let of = |value: &'static str| {
            let headers = HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static(value))]);
            MaxAge::from_headers(&headers).0
        };
        assert_eq!(of("max-age=9, Max-Age = \"3\""), Some(Duration::from_secs(3)));
        assert_eq!(of("max-age=x, max-stale=1"), None);
        assert_eq!(of("s-maxage=1"), None);
    }
}
