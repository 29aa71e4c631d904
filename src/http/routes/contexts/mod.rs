//! The document of a memory and its versions: `M/context`, `M/contexts`.

pub(crate) mod diff;
pub(crate) mod get;
pub(crate) mod latest;
pub(crate) mod list;
pub(crate) mod put;
pub(crate) mod redact;
pub(crate) mod restore;
pub(super) mod view;
