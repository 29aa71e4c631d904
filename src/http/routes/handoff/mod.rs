//! `M/handoff`

pub(crate) mod get;
pub(crate) mod refresh;
pub(crate) mod status;
pub(crate) mod view;
