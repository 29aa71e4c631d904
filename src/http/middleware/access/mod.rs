//! Authentication, authorization and rate limits. They need only the head of a request.
//!
//! A request is authenticated by a valid key, unless the service requires none (see [`gate`]). Then, in this order: a
//! vault outside the key's scope is answered like one that does not exist (404), whatever the request; an insufficient
//! role is 403 (see [`policy`]); a request above the rate limit is 429.

mod check;
mod gate;
mod policy;
pub(crate) mod session;

pub(super) use check::{check, check_again};
pub(crate) use gate::{Admission, Gate};
pub(crate) use policy::{document, document_route};
