//! The response to a request of the HTTP interface.

use bytes::Bytes;
use futures::stream::BoxStream;

/// A response with its whole body.
#[derive(Debug)]
pub(crate) struct RouteResponse {
    /// Its status.
    pub(crate) status: u16,
    /// `ETag`.
    pub(crate) etag: Option<String>,
    /// `Retry-After`.
    pub(crate) retry_after: Option<String>,
    /// Its body.
    pub(crate) body: Bytes,
}

impl RouteResponse {
    /// Whether the status is a success.
    pub(super) fn is_success(&self) -> bool {
        (200..=299).contains(&self.status)
    }
}

/// The response to a streaming request.
pub(crate) enum StreamResponse {
    /// Another status than a success.
    Refused(RouteResponse),
    /// The pieces of the body.
    Stream(BoxStream<'static, Result<Bytes, Unreachable>>),
}

/// The service cannot be reached; the message says which address and what to do.
#[derive(Debug)]
pub(crate) struct Unreachable(pub(crate) String);
