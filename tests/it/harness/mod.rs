//! Every test has its own service: a database copied from a migrated template, and a clock that the test controls.
//!
//! The database server is the one of `DATABASE_URL`, which `working-memory with-postgres` sets.

mod answer;
mod clock;
mod database;
mod embeddings;
mod memory;
mod pair;
mod patience;
mod relay;
mod requests;
mod scripted_model;
mod service;
mod terminal;

pub(crate) use answer::{Answer, OPERATIONS, each, has, holds, lacks, rows};
pub(crate) use clock::TestClock;
pub(crate) use database::Database;
pub(crate) use embeddings::EmbeddingServer;
pub(crate) use memory::Memory;
pub(crate) use pair::Pair;
pub(crate) use patience::eventually;
pub(crate) use relay::{Relay, Target};
pub(crate) use scripted_model::{Scripted, Step};
pub(crate) use service::{Service, scripted, task_of};
pub(crate) use terminal::terminal;
