//! Runs of `/update` and `/operations`: `M/updates`.

pub(crate) mod approve;
pub(crate) mod cancel;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod reject;
pub(crate) mod view;
