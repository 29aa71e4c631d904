//! Configuration: one file a section, defaults as functions, unknown keys refused.

pub mod llm;
