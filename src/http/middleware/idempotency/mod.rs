//! `Idempotency-Key`: a PUT or POST runs once, and every retry with its key receives the same response.
//!
//! A retry is the same request: method, path, query, body, media type sent, actor and preconditions. Another request with
//! the same key is 422. While the first request runs, a retry waits for it, on this or another instance. The first
//! request runs to its end even if its client disconnects. If its process dies, a waiting retry notices that the claim
//! is no longer renewed, and runs itself. The transaction that saves a change also stores the response under the claim,
//! so a change is saved only once and answered alike, whichever process dies.
//!
//! Stored are responses that a retry could not improve: 2xx, and 4xx other than 408, 409, 413 and 429. After those and
//! after 5xx the same request may succeed later, so a retry runs again.

mod document;
mod fingerprint;
mod key;
mod once;

pub(crate) use document::document;
pub(crate) use key::IDEMPOTENCY_KEY;
pub(crate) use once::AnswerAbout;
pub(super) use once::once;
