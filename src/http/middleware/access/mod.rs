//! Authentication, authorization and rate limits. They need only the head of a request.
//!
//! A request is authenticated by a valid key, unless the service requires none (see [`gate`]). Then, in this order: a
//! vault outside the key's scope is answered like one that does not exist (404), whatever the request; an insufficient
//! role is 403 (see [`policy`]); a request above the rate limit is 429.

mod admission;
mod check;
mod credentials;
mod document;
mod gate;
mod policy;
mod refused;
pub(crate) mod session;

pub(crate) use admission::Admission;
pub(super) use check::{check, check_again};
pub(crate) use document::{document, document_route};
pub(crate) use gate::Gate;
