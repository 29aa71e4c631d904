//! Working memory for agents.
pub mod cli;
pub mod domain;
pub mod storage;
