//! `Content-Type` and `Content-Encoding` of a request body.

use super::single_header;
use crate::http::problem::{Kind, Problem};
use axum::http::HeaderMap;
use strum::IntoStaticStr;

/// The media types that operations accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
pub(crate) enum MediaType {
    /// `text/plain`, in UTF-8.
    #[strum(serialize = "text/plain")]
    Plain,
    /// `text/markdown`, in UTF-8.
    #[strum(serialize = "text/markdown")]
    Markdown,
    /// `application/json`.
    #[strum(serialize = "application/json")]
    Json,
}

impl MediaType {
    fn name(self) -> &'static str {
        self.into()
    }
}

/// The media type of a request body, which must be one of `accepted`.
///
/// # Errors
/// 415 that names the accepted types: no `Content-Type`, another type, a charset other than UTF-8, or a compressed
/// body.
pub(crate) fn of_body(headers: &HeaderMap, accepted: &[MediaType]) -> Result<MediaType, Problem> {
    let refused = |what: String| {
        let names: Vec<_> = accepted.iter().map(|media_type| media_type.name()).collect();
        Problem::new(
            Kind::UnsupportedMediaType,
            format!("{what}; accepted: {} (UTF-8)", names.join(", ")),
        )
        .with("field", "Content-Type")
        .with("accepted", names)
    };
    let Some(text) = single_header(headers, "Content-Type")? else {
        return Err(refused("the body has no Content-Type".to_owned()));
    };
    let encoding =
        single_header(headers, "Content-Encoding")?.filter(|name| !name.eq_ignore_ascii_case("identity"));
    if let Some(encoding) = encoding {
        return Err(refused(format!(
            "the body is encoded as {encoding:?}; only an unencoded body is accepted"
        )));
    }
    let mut pieces = text.split(';').map(str::trim);
    let essence = pieces.next().unwrap_or_default();
    let media_type = accepted
        .iter()
        .find(|media_type| media_type.name().eq_ignore_ascii_case(essence))
        .ok_or_else(|| refused(format!("the body is {essence:?}")))?;
    for parameter in pieces {
        let Some((name, value)) = parameter.split_once('=') else {
            continue;
        };
        let value = value.trim_matches('"');
        let utf8 = ["utf-8", "utf8", "us-ascii"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(value));
        if name.eq_ignore_ascii_case("charset") && !utf8 {
            return Err(refused(format!("the body is in the charset {value:?}")));
        }
    }
    Ok(*media_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};

    fn of(value: &'static str) -> Result<MediaType, Kind> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())]);
        of_body(&headers, &[MediaType::Plain, MediaType::Json]).map_err(|problem| problem.kind())
    }

    #[test]
    fn utf8_text_and_json_are_accepted_in_any_case() {
        for good in [
            "text/plain",
            "Text/PLAIN; Charset=UTF-8",
            "text/plain;charset=\"utf-8\"",
            "text/plain; format=flowed",
        ] {
            assert_eq!(of(good), Ok(MediaType::Plain), "{good}");
        }
        assert_eq!(of("application/json"), Ok(MediaType::Json));
    }

    #[test]
    fn other_types_and_charsets_are_refused() {
        for bad in [
            "text/html",
            "text/plain; charset=latin1",
            "application/jsonx",
            "",
            "text",
            "text/markdown",
        ] {
            assert_eq!(of(bad), Err(Kind::UnsupportedMediaType), "{bad}");
        }
        let compressed = HeaderMap::from_iter([
            (CONTENT_TYPE, "text/plain".parse().unwrap()),
            (CONTENT_ENCODING, "gzip".parse().unwrap()),
        ]);
        let compressed = of_body(&compressed, &[MediaType::Plain]).unwrap_err();
        assert_eq!(compressed.kind(), Kind::UnsupportedMediaType);
        let none = of_body(&HeaderMap::new(), &[MediaType::Plain]).unwrap_err();
        assert_eq!(none.kind(), Kind::UnsupportedMediaType);
    }
}
