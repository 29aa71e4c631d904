//! Working memory for agents.
pub mod domain;
