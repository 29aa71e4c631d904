//! Request bodies: their media type, and reading them with limits on size and time, also without `Content-Length`.

use crate::http::extract::headers::single_header;
use crate::http::problem::{Kind, Problem};
use crate::http::state::{AppState, Settings};
use axum::BoxError;
use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use bytes::BytesMut;
use futures::StreamExt;
use std::time::Duration;
use strum::IntoStaticStr;

/// A limit on the size of a body, with its name in the configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// `limits.…`
    pub(crate) name: &'static str,
    /// The maximum number of bytes.
    pub(crate) bytes: usize,
}

impl Limit {
    /// That of every body other than a document.
    pub(crate) fn of_bodies(settings: &Settings) -> Self {
        Self {
            name: "limits.body_bytes",
            bytes: settings.body_bytes,
        }
    }

    /// That of a document.
    pub(crate) fn of_documents(settings: &Settings) -> Self {
        Self {
            name: "limits.context_bytes",
            bytes: settings.context_bytes,
        }
    }
}

/// Reads a body of at most `limit`, which must arrive within `time`.
///
/// # Errors
/// 413 if it is larger, 408 on timeout, 400 if it ends early.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    limit: Limit,
    time: Duration,
) -> Result<Vec<u8>, Problem> {
    match tokio::time::timeout(time, read_bounded(headers, body, limit)).await {
        Ok(result) => result,
        Err(_) => Err(Problem::new(
            Kind::RequestTimeout,
            format!("the body did not arrive within {} seconds", time.as_secs()),
        )
        .with("field", "body")),
    }
}

/// The length in `Content-Length`.
pub(crate) fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn read_bounded(headers: &HeaderMap, body: Body, limit: Limit) -> Result<Vec<u8>, Problem> {
    let declared = declared_length(headers);
    let too_large = || Problem::too_large("body", limit.name, limit.bytes, declared);
    if declared.is_some_and(|length| length > limit.bytes as u64) {
        return Err(too_large());
    }
    let mut stream = body.into_data_stream();
    let mut read = BytesMut::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(broken)?;
        if chunk.len() > limit.bytes - read.len() {
            return Err(too_large());
        }
        read.extend_from_slice(&chunk);
    }
    Ok(read.into())
}

/// Why a body broke off: the problem of a limit that it did not fit while it arrived, or the client.
fn broken(error: axum::Error) -> Problem {
    let mut cause: BoxError = error.into();
    loop {
        cause = match cause.downcast::<axum::Error>() {
            Ok(error) => error.into_inner(),
            Err(cause) => {
                return match cause.downcast::<Problem>() {
                    Ok(problem) => *problem,
                    Err(cause) => {
                        Problem::malformed("body", "the body ended before it was complete").caused_by(cause)
                    }
                };
            }
        };
    }
}

/// Reads the text of a request in one of the accepted media types, each of which has its limit.
///
/// # Errors
/// As [`media_type`], [`read`] and [`text`].
pub(crate) async fn read_text(
    state: &AppState,
    request: Request,
    accepted: &[(MediaType, Limit)],
) -> Result<(MediaType, String), Problem> {
    let (parts, body) = request.into_parts();
    let (media_type, limit) = *media_type(&parts.headers, accepted)?;
    let bytes = read(&parts.headers, body, limit, state.settings.body_timeout).await?;
    Ok((media_type, text(bytes)?))
}

/// Decodes a body as UTF-8.
///
/// # Errors
/// 400 that names the first invalid byte.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, Problem> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Problem::malformed(
            "body",
            format!("the body is not UTF-8: byte {offset} begins no character"),
        )
        .with("offset", offset)
    })
}

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

/// The one of `accepted` whose media type is that of a request body.
///
/// # Errors
/// 415 that names the accepted types: no `Content-Type`, another type, a charset other than UTF-8, or a compressed
/// body.
pub(crate) fn media_type<'a, T>(
    headers: &HeaderMap,
    accepted: &'a [(MediaType, T)],
) -> Result<&'a (MediaType, T), Problem> {
    let refused = |what: String| {
        let names: Vec<_> = accepted.iter().map(|(media_type, _)| media_type.name()).collect();
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
        .find(|(media_type, _)| media_type.name().eq_ignore_ascii_case(essence))
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
    Ok(media_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header::CONTENT_TYPE;
    use bytes::Bytes;
    use std::convert::Infallible;

    const LIMIT: Limit = Limit {
        name: "limits.test_bytes",
        bytes: 10,
    };

    #[tokio::test]
    async fn a_body_that_does_not_arrive_times_out() {
        let never = Body::from_stream(futures::stream::pending::<Result<Bytes, Infallible>>());
        let problem = read(&HeaderMap::new(), never, LIMIT, Duration::from_millis(20))
            .await
            .unwrap_err();
        assert_eq!(problem.kind(), Kind::RequestTimeout);
    }

    fn of(value: &'static str) -> Result<MediaType, Kind> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())]);
        let found = media_type(&headers, &[(MediaType::Plain, ()), (MediaType::Json, ())]);
        found
            .map(|(media_type, ())| *media_type)
            .map_err(|problem| problem.kind())
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
}
