//! One file an operation: its request, its answer, its handler and its documentation. The tree mirrors the URLs.

pub(crate) mod health;
