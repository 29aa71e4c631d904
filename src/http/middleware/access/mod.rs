//! Who may do what: before anything of a request is read but its head.
//!
//! A request is let in with a key that is taken, or at a service that asks for none (see [`gate`]). Then, in this
//! order: a vault that the key does not reach is answered as one that is not there (404), whatever is asked of it; a
//! role that does not suffice is 403 (see [`policy`]); more requests than the rate are 429.

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
