//! `M/records`

mod get;
mod list;
