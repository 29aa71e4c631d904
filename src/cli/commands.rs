//! The command line: the commands and the global options.

use super::client::{Color, command::ClientCommand};
use super::{embeddings, export, health, import, keys, migrate, rebuild_records, serve, with_postgres};
use clap::{Parser, Subcommand};

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
    /// Migrate a database's schema to the current version, or down to an older one.
    Migrate(migrate::Migrate),
    /// Write a vault to a file of JSON Lines.
    Export(export::Export),
    /// Import such a file into a vault.
    Import(import::Import),
    /// Create, list, revoke and rotate API keys.
    Keys(keys::Keys),
    /// Rebuild records and their history from the versions.
    RebuildRecords(rebuild_records::RebuildRecords),
    /// Show the state of the index for searches by meaning, or rebuild it.
    Embeddings(embeddings::Embeddings),
    /// Print the OpenAPI document.
    Openapi,
    /// Ask a running service whether it is ready; exits with 0 if so.
    Health(health::Health),
    /// Run a command with DATABASE_URL set to a private PostgreSQL server of its own.
    WithPostgres(with_postgres::WithPostgres),
    /// The commands that call a running service.
    #[command(flatten)]
    Client(ClientCommand),
}
