//! The command line as it is written: the commands and what stands before them.

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
    Client(ClientCommand),
}
