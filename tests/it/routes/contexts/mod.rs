//! `M/context`, `M/contexts`

mod get;
mod latest;
mod list;
mod put;
