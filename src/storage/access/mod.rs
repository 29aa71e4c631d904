//! Authentication: API keys, and sessions of the dashboard.

pub mod keys;
pub mod sessions;
