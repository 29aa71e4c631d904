//! Tests against real servers and the real program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod architecture;
mod embedded;
mod harness;
mod health;
mod idempotency;
mod life;
mod openapi;
mod pipeline;
mod process;
mod rebuild;
mod retention;
mod routes;
mod transfer;
mod with_postgres;
