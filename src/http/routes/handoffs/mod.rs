//! `M/handoffs`

pub(crate) mod get;
pub(crate) mod list;
