//! The command line: one file a command.
#![expect(clippy::print_stderr, reason = "a command line talks to its user on stderr")]

mod health;
mod with_postgres;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Working memory for agents: versioned context documents on PostgreSQL.
#[derive(Debug, Parser)]
#[command(name = "working-memory", version, about)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Ask a running service whether it is ready; exits with 0 if so.
    Health(health::Health),
    /// Run a command with DATABASE_URL set to a private PostgreSQL server of its own.
    WithPostgres(with_postgres::WithPostgres),
}

/// Reads the command line and runs its command to the end.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("working-memory: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    runtime.block_on(async {
        match cli.command {
            Command::Health(command) => command.run().await,
            Command::WithPostgres(command) => command.run().await,
        }
    })
}
