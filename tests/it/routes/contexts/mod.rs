//! `M/context`, `M/contexts`

mod diff;
mod latest;
mod put;
mod redact;
mod restore;
