//! Who may come in: API keys, and the sessions of the dashboard.

pub mod keys;
pub mod sessions;
