//! The command line: one file per command.
#![expect(clippy::print_stderr, reason = "a command line talks to its user on stderr")]

mod api;
mod bring;
mod client;
mod doctor;
mod edit;
mod folder;
mod handoff;
mod help;
mod hook;
mod init;
mod keys;
mod mcp;
mod offline;
mod routes;
mod run;
mod serve;
mod show;
mod sync;
mod transfer;
mod window;
mod with_postgres;

pub use run::{Cli, Command, run};
