//! Runs of `/update` and `/operations`: `M/updates`.

pub(crate) mod review;
pub(crate) mod runs;
pub(crate) mod view;
