//! The real program: `serve` with an embedded database in a folder of its own.

mod deleted;
mod disk;
mod embeddings;
mod exactly_once;
mod failover;
mod first_start;
pub(crate) mod keys;
pub(crate) mod program;
mod queue;
mod refusals;
mod replica;
mod secrets;
mod serve;
mod starting;
mod traces;
