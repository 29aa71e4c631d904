//! `M/updates`

mod review;
