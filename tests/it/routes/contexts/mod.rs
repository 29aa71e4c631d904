//! `M/context`, `M/contexts`

mod diff;
mod get;
mod latest;
mod put;
mod redact;
mod restore;
