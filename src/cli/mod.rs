//! The command line: one file per command.
#![expect(clippy::print_stderr, reason = "a command line talks to its user on stderr")]

mod api;
mod client;
mod commands;
mod completions;
mod doctor;
mod documents;
mod edit;
mod embedded;
mod embeddings;
mod export;
mod folder;
mod handoff;
mod health;
mod help;
mod hook;
mod import;
mod init;
mod items;
mod keys;
mod lists;
mod man;
mod mcp;
mod migrate;
mod offline;
mod openapi;
mod process;
mod progress;
mod rebuild_records;
mod run;
mod serve;
mod stop;
mod sync;
mod updates;
mod window;
mod window_entries;
mod with_postgres;

pub use client::Color;
pub use commands::{Cli, Command};
pub use run::run;
