//! `M/updates`

mod get;
mod list;
