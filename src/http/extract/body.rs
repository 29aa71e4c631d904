//! Reads request bodies with limits on size and time, also without `Content-Length`.

use crate::http::middleware::bounds::busy_at_its_end;
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use bytes::BytesMut;
use futures::StreamExt;
use std::time::Duration;

/// How many bytes of a body that is too large are read and discarded. A client that sends its whole body before it
/// reads then receives the 413 instead of a broken connection.
const DISCARDED_BYTES: u64 = 16 << 20;

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
    pub(crate) fn of_bodies(state: &AppState) -> Self {
        Self {
            name: "limits.body_bytes",
            bytes: state.settings.body_bytes,
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

async fn read_bounded(headers: &HeaderMap, body: Body, limit: Limit) -> Result<Vec<u8>, Problem> {
    let declared: Option<u64> = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse().ok());
    let most = u64::try_from(limit.bytes).unwrap_or(u64::MAX);
    let too_large = |actual| Problem::too_large("body", limit.name, limit.bytes, actual);
    let waits_for_word = headers.contains_key(EXPECT);
    if let Some(length) = declared.filter(|length| *length > most)
        && (waits_for_word || length > DISCARDED_BYTES)
    {
        return Err(too_large(Some(length)));
    }
    let mut stream = body.into_data_stream();
    let mut kept = BytesMut::new();
    let mut seen: u64 = 0;
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| {
            busy_at_its_end(&error).unwrap_or_else(|| {
                Problem::malformed("body", "the body ended before it was complete").caused_by(error)
            })
        })?;
        seen = seen.saturating_add(chunk.len() as u64);
        if seen <= most {
            kept.extend_from_slice(&chunk);
        } else if seen > DISCARDED_BYTES {
            return Err(too_large(declared));
        }
    }
    if seen > most {
        Err(too_large(Some(seen)))
    } else {
        Ok(kept.into())
    }
}

/// Reads a body of at most `limit` as text.
///
/// # Errors
/// As [`read`]; 400 that names the first byte that is not UTF-8.
pub(crate) async fn read_text(
    state: &AppState,
    headers: &HeaderMap,
    body: Body,
    limit: Limit,
) -> Result<String, Problem> {
    text(read(headers, body, limit, state.settings.body_timeout).await?)
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

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use std::convert::Infallible;

    const LIMIT: Limit = Limit {
        name: "limits.test_bytes",
        bytes: 10,
    };

    fn chunked(chunks: &[&'static [u8]]) -> Body {
        let chunks: Vec<_> = chunks
            .iter()
            .map(|chunk| Ok::<_, Infallible>(Bytes::from_static(chunk)))
            .collect();
        Body::from_stream(futures::stream::iter(chunks))
    }

    async fn read_chunks(chunks: &[&'static [u8]]) -> Result<Vec<u8>, Kind> {
        read(&HeaderMap::new(), chunked(chunks), LIMIT, Duration::from_secs(5))
            .await
            .map_err(|problem| problem.kind())
    }

    #[tokio::test]
    async fn a_body_up_to_the_limit_is_read_and_one_byte_more_is_not() {
        assert_eq!(
            read_chunks(&[b"01234", b"56789"]).await,
            Ok(b"0123456789".to_vec())
        );
        assert_eq!(
            read_chunks(&[b"01234", b"56789", b"x"]).await,
            Err(Kind::TooLarge)
        );
        assert_eq!(read_chunks(&[]).await, Ok(vec![]));
    }

    #[tokio::test]
    async fn a_declared_length_is_refused_before_the_body_where_the_client_waits() {
        let headers = HeaderMap::from_iter([
            (CONTENT_LENGTH, "11".parse().unwrap()),
            (EXPECT, "100-continue".parse().unwrap()),
        ]);
        let never = Body::from_stream(futures::stream::pending::<Result<Bytes, Infallible>>());
        let problem = read(&headers, never, LIMIT, Duration::from_secs(5))
            .await
            .unwrap_err();
        assert_eq!(problem.kind(), Kind::TooLarge);
    }

    #[tokio::test]
    async fn a_body_that_does_not_arrive_times_out() {
        let never = Body::from_stream(futures::stream::pending::<Result<Bytes, Infallible>>());
        let problem = read(&HeaderMap::new(), never, LIMIT, Duration::from_millis(20))
            .await
            .unwrap_err();
        assert_eq!(problem.kind(), Kind::RequestTimeout);
    }

    #[test]
    fn text_must_be_utf8() {
        assert_eq!(text("ä".into()).unwrap(), "ä");
        assert_eq!(text(vec![b'a', 0xff]).unwrap_err().kind(), Kind::Malformed);
    }
}
