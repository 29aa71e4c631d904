//! What a request of the HTTP interface is answered with.

use bytes::Bytes;
use futures::stream::BoxStream;

/// An answer with its whole body.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Its status.
    pub(crate) status: u16,
    /// `ETag`.
    pub(crate) etag: Option<String>,
    /// `Retry-After`.
    pub(crate) retry_after: Option<String>,
    /// Its body.
    pub(crate) body: Bytes,
}

impl Answer {
    /// Whether what was asked for was done.
    pub(super) fn is_success(&self) -> bool {
        (200..=299).contains(&self.status)
    }
}

/// An answer of which more may come.
pub(crate) enum Opened {
    /// It did not succeed.
    Refused(Answer),
    /// Its pieces.
    Stream(BoxStream<'static, Result<Bytes, Away>>),
}

/// Nobody answers; the sentence says who is missing and what would help.
#[derive(Debug)]
pub(crate) struct Away(pub(crate) String);
