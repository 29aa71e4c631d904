//! `M/handoff` and `M/handoffs`

pub(crate) mod read;
pub(crate) mod refresh;
pub(crate) mod view;
