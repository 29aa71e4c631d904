//! Integration tests against real servers and the real program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod architecture;
mod bounds;
mod bring;
mod citus;
mod cli;
mod dashboard;
mod distribute;
mod distribution;
mod embedded;
mod events;
mod every_table;
mod exactly_once;
mod failing_vaults;
mod gathered;
mod given_up;
mod harness;
mod head_cache;
mod idempotency;
mod life;
mod mcp;
mod memory_tool;
mod migrations;
mod observability;
mod openapi;
mod pipeline;
mod process;
mod quality;
mod queue;
mod rebuild;
mod retention;
mod routes;
mod transactions;
mod transfer;
mod with_postgres;
