//! Working memory for agents.
pub mod config;
pub mod domain;
pub mod llm;
