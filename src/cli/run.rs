//! Reading the command line and running its command.

use super::commands::{Cli, Command};
use super::{client, help, hook, openapi};
use clap::FromArgMatches as _;
use std::process::ExitCode;
use std::time::Duration;

/// What a process ends with whose command line is wrong.
const USAGE: u8 = 2;

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
        Command::Client(command) => return command.run(help::command),
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
            Command::Client(command) => command.run(help::command),
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
