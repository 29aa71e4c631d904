//! Response bodies that hold a permit and a byte reservation until they are sent or dropped.

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The maximum size of a piece passed to the connection. The connection takes the next piece when most of the previous
/// one is sent, so the body ends here only shortly before it is completely sent.
const PIECE: usize = 64 << 10;

/// A body and what it holds.
pub(super) struct Held<T> {
    body: Body,
    /// The rest of a frame.
    rest: Bytes,
    _held: T,
}

impl<T: Send + Unpin + 'static> Held<T> {
    /// Wraps a body so that `held` is dropped together with it.
    pub(super) fn body(body: Body, held: T) -> Body {
        Body::new(Self {
            body,
            rest: Bytes::new(),
            _held: held,
        })
    }

    fn piece(&mut self) -> Frame<Bytes> {
        let length = PIECE.min(self.rest.len());
        Frame::data(self.rest.split_to(length))
    }
}

impl<T: Send + Unpin + 'static> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(self.piece())));
        }
        match ready!(Pin::new(&mut self.body).poll_frame(context)) {
            None => Poll::Ready(None),
            Some(Err(error)) => Poll::Ready(Some(Err(error.into()))),
            Some(Ok(frame)) => Poll::Ready(Some(Ok(match frame.into_data() {
                Ok(data) => {
                    self.rest = data;
                    self.piece()
                }
                Err(trailers) => trailers,
            }))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let remaining = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(remaining.lower() + rest);
        if let Some(upper) = remaining.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use std::sync::Arc;

    #[tokio::test]
    async fn what_is_held_goes_with_the_last_piece_and_no_byte_is_lost() {
        let held = Arc::new(());
        let sent = vec![7_u8; PIECE * 2 + 5];
        let mut body = Held::body(Body::from(sent.clone()), held.clone());
        assert_eq!(body.size_hint().exact(), Some(sent.len() as u64));
        let first = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        assert_eq!(first.unwrap().unwrap().into_data().unwrap().len(), PIECE);
        assert_eq!(Arc::strong_count(&held), 2);
        assert_eq!(body.size_hint().exact(), Some((PIECE + 5) as u64));
        assert_eq!(to_bytes(body, usize::MAX).await.unwrap().len(), PIECE + 5);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
