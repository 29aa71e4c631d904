//! Parses the command line and runs its command.

use super::commands::{Cli, Command};
use super::{client, help, hook, openapi};
use clap::FromArgMatches as _;
use std::process::ExitCode;
use std::time::Duration;

/// The exit code of an invalid command line.
const USAGE: u8 = 2;

/// Parses the command line and runs its command to the end.
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
        // Client commands decide themselves whether to start a runtime: some need no threads.
        Command::Client(command) => return command.run(help::command),
        other => other,
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let sentence = format!("cannot start: {error}");
            return client::print_failure(client::Exit::Failed, &sentence, None);
        }
    };
    let code = runtime.block_on(async {
        match command {
            Command::Health(command) => command.run().await,
            Command::Serve(command) => Box::pin(command.run()).await,
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
    // A blocking read from a terminal cannot be cancelled, and its result is no longer needed.
    runtime.shutdown_timeout(Duration::from_millis(100));
    code
}

/// Reports an invalid command line or prints help, in the requested format.
fn misused(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && client::wants_json(std::env::args_os()) {
        let _ = client::print_failure(client::Exit::Usage, error.to_string().trim_end(), None);
    } else {
        // If standard error cannot be written, there is no way to report it.
        let _ = error.print();
    }
    let is_usage_error = error.use_stderr() && !hook::is_meant(std::env::args_os());
    ExitCode::from(if is_usage_error { USAGE } else { 0 })
}
