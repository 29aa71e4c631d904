//! `M/context`, `M/contexts`

mod diff;
mod get;
mod latest;
mod list;
mod put;
mod redact;
mod restore;
