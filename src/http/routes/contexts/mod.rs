//! The document of a memory and its versions: `M/context`, `M/contexts`.

pub(crate) mod diff;
pub(crate) mod put;
pub(crate) mod read;
pub(crate) mod views;
