//! The command line: one file a command.
#![expect(clippy::print_stderr, reason = "a command line talks to its user on stderr")]

mod approve;
mod blame;
mod client;
mod completions;
mod decision;
mod delete;
mod diff;
mod doctor;
mod edit;
mod embeddings;
mod events;
mod export;
mod get;
mod handoff;
mod health;
mod help;
mod hook;
mod import;
mod init;
mod items;
mod keys;
mod log;
mod man;
mod mcp;
mod memories;
mod migrate;
mod offline;
mod openapi;
mod operations;
mod progress;
mod prompt;
mod put;
mod rebuild_records;
mod records;
mod redact;
mod restore;
mod search;
mod sections;
mod serve;
mod set_status;
mod sync;
mod task;
mod tree;
mod update;
mod updates;
mod usage;
mod vaults;
mod versions;
mod window;
mod with_postgres;

pub use client::Color;

use crate::config::{Config, ConfigError};
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::{FromArgMatches as _, Parser, Subcommand};

/// What a process ends with that failed, and one whose command line is wrong.
const FAILED: u8 = 1;
const USAGE: u8 = 2;

/// Working memory for agents: versioned context documents on PostgreSQL.
#[derive(Debug, Parser)]
#[command(name = "working-memory", version, about)]
pub struct Cli {
    /// When to colour the output.
    #[arg(long, value_enum, value_name = "WHEN", global = true, default_value_t = Color::Auto)]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service.
    Serve(serve::Serve),
    /// Bring a database's schema up to date, or take it back.
    Migrate(migrate::Migrate),
    /// Write a vault to a file of JSON Lines.
    Export(export::Export),
    /// Read such a file into a vault.
    Import(import::Import),
    /// Make, list, revoke and rotate API keys.
    Keys(keys::Keys),
    /// Make records and their history anew from the versions.
    RebuildRecords(rebuild_records::RebuildRecords),
    /// Tell how far searches by meaning are indexed, or index them anew.
    Embeddings(embeddings::Embeddings),
    /// Print the OpenAPI document.
    Openapi,
    /// Ask a running service whether it is ready; exits with 0 if so.
    Health(health::Health),
    /// Run a command with DATABASE_URL set to a private PostgreSQL server of its own.
    WithPostgres(with_postgres::WithPostgres),
    /// The commands that ask a running service.
    #[command(flatten)]
    Client(client::command::ClientCommand),
}

/// Reads the command line and runs its command to the end.
pub fn run() -> ExitCode {
    let parsed = help::command().try_get_matches();
    let command = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(line) => {
            client::set_color(line.color);
            line.command
        }
        Err(error) => return misused(&error),
    };
    let command = match command {
        // Starts no threads: what asks nobody is over before they would be there.
        Command::Client(command) => return command.run(),
        other => other,
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("working-memory: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(async {
        match command {
            Command::Health(command) => command.run().await,
            Command::Serve(command) => command.run().await,
            Command::Migrate(command) => command.run().await,
            Command::Export(command) => command.run().await,
            Command::Import(command) => command.run().await,
            Command::Keys(command) => command.run().await,
            Command::RebuildRecords(command) => command.run().await,
            Command::Embeddings(command) => command.run().await,
            Command::Openapi => openapi::run(),
            Command::WithPostgres(command) => command.run().await,
            Command::Client(command) => command.run(),
        }
    });
    // A read from a terminal cannot be broken off, and nobody waits for it any more.
    runtime.shutdown_timeout(Duration::from_millis(100));
    code
}

/// A command line that is none, or that asks for help, in the form that it asks for.
fn misused(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && client::wants_json(std::env::args_os()) {
        client::tell_failure(USAGE, error.to_string().trim_end(), None);
    } else {
        // Nobody is there to be told that nobody is there.
        let _ = error.print();
    }
    let is_told = error.use_stderr() && !hook::is_meant(std::env::args_os());
    ExitCode::from(if is_told { USAGE } else { 0 })
}

/// Tells the user what went wrong.
fn fail(error: &dyn Display) -> ExitCode {
    client::tell_failure(FAILED, &error.to_string(), None);
    ExitCode::FAILURE
}

/// The configuration of this process.
fn load_config(file: Option<&Path>) -> Result<Config, ConfigError> {
    // A variable that is not UTF-8 cannot be one of the service's.
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Config::load(file, environment)
}
