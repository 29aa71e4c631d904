//! What is left of a request's body when its response is ready is read up to a bound. A client that still sends then gets
//! the response, and its connection goes on; if more is left, the response says `Connection: close`. Otherwise a client
//! that reuses the connection would see it reset (RFC 9112, section 9.6).

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{CONNECTION, EXPECT};
use axum::response::Response;
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

/// How many bytes are read and discarded, and for how long.
const DISCARDED_BYTES: usize = 1 << 20;
const DISCARDED_WITHIN: Duration = Duration::from_secs(1);

/// Where a body goes that is dropped before its end.
type Rest = Arc<Mutex<Option<Body>>>;

/// A body that is kept when its reader drops it.
struct Lent {
    body: Body,
    rest: Rest,
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.body.is_end_stream() {
            let body = std::mem::take(&mut self.body);
            *self.rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}

/// Answers a request and leaves nothing of its body on the connection, or says that the connection ends.
pub(super) async fn discard<F: Future<Output = Response>>(
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    if request.body().is_end_stream() {
        return next(request).await;
    }
    // A client that waits for `100 Continue` has sent nothing yet.
    let waits = request.headers().contains_key(EXPECT);
    let rest = Rest::default();
    let lent = rest.clone();
    let mut response = next(request.map(|body| Body::new(Lent { body, rest: lent }))).await;
    let rest = rest.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(rest) = rest
        && (waits || !ends_soon(rest).await)
    {
        response
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Reads the rest of a body; whether that reached its end.
async fn ends_soon(mut rest: Body) -> bool {
    let mut left = DISCARDED_BYTES;
    let read = async {
        loop {
            let frame = std::future::poll_fn(|context| Pin::new(&mut rest).poll_frame(context)).await;
            match frame {
                None => return true,
                Some(Err(_)) => return false,
                Some(Ok(frame)) => {
                    let bytes = frame.data_ref().map_or(0, Bytes::len);
                    match left.checked_sub(bytes) {
                        Some(less) => left = less,
                        None => return false,
                    }
                }
            }
        }
    };
    tokio::time::timeout(DISCARDED_WITHIN, read)
        .await
        .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;
    use futures::stream::{self, StreamExt};
    use std::convert::Infallible;

    async fn says_close(body: Body, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder();
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = discard(request.body(body).unwrap(), async |_| "refused".into_response()).await;
        response.headers().contains_key(CONNECTION)
    }

    fn pieces(count: usize) -> stream::Iter<impl Iterator<Item = Result<Bytes, Infallible>>> {
        stream::iter((0..count).map(|_| Ok(Bytes::from_static(&[7; 64 << 10]))))
    }

    #[tokio::test]
    async fn a_connection_ends_where_more_is_left_than_is_read() {
        assert!(!says_close(Body::empty(), &[]).await);
        assert!(!says_close(Body::from_stream(pieces(16)), &[]).await);
        assert!(says_close(Body::from_stream(pieces(17)), &[]).await);
        let hangs = pieces(1).chain(stream::pending());
        assert!(says_close(Body::from_stream(hangs), &[]).await);
        let waits = Body::from_stream(pieces(1));
        assert!(says_close(waits, &[("expect", "100-continue")]).await);
    }
}
