//! Working memory for agents.
pub mod clock;
pub mod domain;
pub mod http;
pub mod telemetry;
