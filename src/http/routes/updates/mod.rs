//! Runs of `/update` and `/operations`: `M/updates`.

pub(crate) mod get;
pub(crate) mod list;
mod view;
