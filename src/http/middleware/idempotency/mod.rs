//! `Idempotency-Key`: a PUT or POST runs once, and every retry with its key gets its answer.
//!
//! A retry is the same request: method, path, query, body, media type, actor and preconditions. Another request with
//! the key is 422. While the first one runs a retry waits for it, on this instance or another; the first one runs
//! to its end also when its client goes away. If its process dies, a retry that waits notices that the claim is not
//! renewed any more and runs in its place, or answers from what was saved (`routes::recovered`): what a request saves is
//! written down under its claim by the transaction that saves it, or its answer is, so it is saved once whatever dies.
//!
//! Kept are answers that running again would not better: 2xx, and 4xx other than 408, 409, 413 and 429. Those and
//! 5xx say that the same request may pass later, so the retry runs.

mod document;
mod fingerprint;
mod key;
mod once;

pub(crate) use document::document;
pub(crate) use key::IDEMPOTENCY_KEY;
pub(crate) use once::AnswerAbout;
pub(super) use once::once;
