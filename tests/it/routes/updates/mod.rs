//! `M/updates`

mod get;
mod list;
mod review;
