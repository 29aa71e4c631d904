//! `Accept`: content negotiation between text and JSON (RFC 9110, section 12.5.1).
//!
//! No library in use negotiates. Each route lists its representations in its order of preference. Documents default to
//! text, listings to JSON.

use super::list_header;
use crate::http::problem::{Kind, Problem};
use axum::extract::FromRequestParts;
use axum::http::HeaderValue;
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::http::request::Parts;
use axum::response::{IntoResponseParts, ResponseParts};
use std::convert::Infallible;

/// The representations of documents and of views of documents.
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

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Plain => ("text", "plain"),
            Self::Markdown => ("text", "markdown"),
            Self::Diff => ("text", "x-diff"),
            Self::EventStream => ("text", "event-stream"),
            Self::Json => ("application", "json"),
        }
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
            let names = offered.iter().map(|offer| {
                let (main, sub) = offer.names();
                format!("{main}/{sub}")
            });
            let names = names.collect::<Vec<_>>().join(", ");
            Problem::new(
                Kind::NotAcceptable,
                format!("Accept allows none of: {names} (UTF-8)"),
            )
            .with("field", "Accept")
        })
    }
}

/// One element of an `Accept` list: its media range and its quality in thousandths.
struct Range<'a> {
    main: &'a str,
    sub: &'a str,
    quality: u16,
}

impl<'a> Range<'a> {
    /// `None` for an element that cannot be parsed: it matches nothing.
    fn parse(element: &'a str) -> Option<Self> {
        let mut pieces = element.split(';').map(str::trim);
        let (main, sub) = pieces.next()?.split_once('/')?;
        let mut quality = 1_000;
        for parameter in pieces {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if name.trim().eq_ignore_ascii_case("q") {
                quality = thousandths(value.trim())?;
            } else if name.trim().eq_ignore_ascii_case("charset")
                && !value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
            {
                return None;
            }
        }
        Some(Self { main, sub, quality })
    }

    /// 3 for the exact type, 2 for `text/*`, 1 for `*/*`.
    fn precision(&self, (main, sub): (&str, &str)) -> Option<u8> {
        let same_main = self.main.eq_ignore_ascii_case(main);
        match () {
            () if same_main && self.sub.eq_ignore_ascii_case(sub) => Some(3),
            () if same_main && self.sub == "*" => Some(2),
            () if self.main == "*" && self.sub == "*" => Some(1),
            () => None,
        }
    }
}

/// `1`, `0.5`, `0.333` in thousandths.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let plain = fraction.bytes().all(|b| b.is_ascii_digit()) && fraction.len() <= 3;
    match (whole, plain) {
        ("1", true) if fraction.bytes().all(|b| b == b'0') => Some(1_000),
        ("0", true) => format!("{fraction:0<3}").parse().ok(),
        _ => None,
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
            .filter_map(|range| Some((range.precision(candidate.names())?, range.quality)))
            .max_by_key(|(precision, _)| *precision);
        let quality = most_precise.map_or(0, |(_, quality)| quality);
        if quality > best.map_or(0, |(_, most)| most) {
            best = Some((candidate, quality));
        }
    }
    best.map(|(candidate, _)| candidate)
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
}
