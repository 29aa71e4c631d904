//! `Accept`: whether a client wants text or JSON (RFC 9110, section 12.5.1).

use super::list_header;
use crate::http::problem::{Kind, Problem};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// The representations of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Representation {
    /// The text itself as `text/plain`.
    Plain,
    /// The text itself as `text/markdown`.
    Markdown,
    /// A JSON envelope around the text.
    Json,
}

impl Representation {
    /// In the order of preference, where the client has none.
    const ALL: [Self; 3] = [Self::Plain, Self::Markdown, Self::Json];

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Plain => ("text", "plain"),
            Self::Markdown => ("text", "markdown"),
            Self::Json => ("application", "json"),
        }
    }

    /// The `Content-Type` it is answered with.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Plain => "text/plain; charset=utf-8",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Json => "application/json",
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Representation {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match list_header(&parts.headers, "Accept")? {
            Some(accept) => choose(&accept).ok_or_else(|| {
                Problem::new(
                    Kind::NotAcceptable,
                    "Accept allows none of: text/plain, text/markdown, application/json (UTF-8)",
                )
                .with("field", "Accept")
            }),
            None => Ok(Self::Plain),
        }
    }
}

/// One element of an `Accept` list: what it matches, how exactly, and how much it is wanted in thousandths.
struct Range<'a> {
    main: &'a str,
    sub: &'a str,
    quality: u16,
}

impl<'a> Range<'a> {
    /// `None` for an element that cannot be read: it matches nothing.
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

    /// 3 for the very type, 2 for `text/*`, 1 for `*/*`.
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

fn choose(accept: &str) -> Option<Representation> {
    if accept.trim().is_empty() {
        return Some(Representation::Plain);
    }
    let ranges: Vec<_> = accept
        .split(',')
        .filter_map(|element| Range::parse(element.trim()))
        .collect();
    let mut best = None;
    for candidate in Representation::ALL {
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
            assert_eq!(choose(accept), chosen, "{accept}");
        }
    }
}
