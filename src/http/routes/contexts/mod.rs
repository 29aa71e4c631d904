//! The document of a memory and its versions: `M/context`, `M/contexts`.

pub(crate) mod diff;
pub(crate) mod get;
pub(crate) mod latest;
pub(crate) mod list;
pub(crate) mod older;
pub(crate) mod put;
pub(super) mod view;
