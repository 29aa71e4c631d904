//! The command line: the commands and the global options, and their execution.

use crate::cli::client::{Exit, Failure};
use crate::cli::routes::RouteCommand;
use crate::cli::{
    api, bring, client, doctor, edit, handoff, help, hook, init, keys, mcp, offline, serve, sync, transfer,
    window, with_postgres,
};
use crate::config::{Config, ConfigError};
use crate::http::openapi_yaml;
use crate::storage::StorageError;
use clap::{ColorChoice, FromArgMatches as _, Parser, Subcommand};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

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
    let runtime = match Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(format!("cannot start: {error}").into()),
    };
    let done = runtime.block_on(Box::pin(command.run()));
    // A blocking read from a terminal cannot be cancelled, and its result is no longer needed.
    runtime.shutdown_timeout(Duration::from_millis(100));
    done.unwrap_or_else(fail)
}

/// Reports an invalid command line or prints help, in the requested format.
fn misused(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // If the help cannot be written, there is no way to report it.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    // One prefix for all errors.
    let text = error.to_string();
    let sentence = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    let exit = Failure::usage(sentence).end();
    match hook::is_meant(std::env::args_os()) {
        true => ExitCode::SUCCESS,
        false => exit,
    }
}

/// Prints the error and returns its exit code: 2 for a wrong setting or a wrong argument, otherwise 1.
fn fail(error: Box<dyn Error>) -> ExitCode {
    let is_url = matches!(error.downcast_ref(), Some(StorageError::InvalidUrl(_)));
    let exit = match is_url || error.is::<ConfigError>() {
        true => Exit::Usage,
        false => Exit::Failed,
    };
    match error.downcast::<Failure>() {
        Ok(failure) => failure.end(),
        Err(error) => Failure::new(exit, error.to_string()).end(),
    }
}

/// The configuration of this process.
pub(super) fn load_config(file: Option<&Path>) -> Result<Config, ConfigError> {
    load_config_with(file, [])
}

/// The same, with variables that count more than the environment's.
pub(super) fn load_config_with(
    file: Option<&Path>,
    options: impl IntoIterator<Item = (String, String)>,
) -> Result<Config, ConfigError> {
    // Not of clap, for which a variable is a given option, also beside options that exclude it. Empty counts as unset.
    let named = std::env::var_os("WORKING_MEMORY_CONFIG").filter(|name| !name.is_empty());
    let file = file.or(named.as_deref().map(Path::new));
    let mut environment = Vec::new();
    for (name, value) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        match value.into_string() {
            Ok(value) => environment.push((name, value)),
            // As unset it would lead to another database, for one.
            Err(_) if Config::reads(&name) => {
                return Err(ConfigError::Invalid(format!("the value of {name} is not UTF-8")));
            }
            Err(_) => {}
        }
    }
    Config::load(file, environment.into_iter().chain(options))
}

/// Working memory for agents: versioned context documents on PostgreSQL.
#[derive(Debug, Parser)]
#[command(name = "working-memory", version, about)]
pub struct Cli {
    /// Colour the output: auto (on a terminal, without NO_COLOR), always or never.
    #[arg(long, value_enum, value_name = "WHEN", global = true, default_value_t = ColorChoice::Auto, hide_possible_values = true, hide_default_value = true, display_order = 990)]
    pub color: ColorChoice,
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
    Migrate(offline::Migrate),
    /// Write a vault to a file of JSON Lines.
    Export(transfer::Export),
    /// Import such a file into a vault.
    Import(transfer::Import),
    /// Create, list, revoke and rotate API keys.
    Keys(keys::Keys),
    /// Rebuild records and their history from the versions.
    RebuildRecords(offline::RebuildRecords),
    /// Show the state of the index for searches by meaning, or rebuild it.
    Embeddings(offline::Embeddings),
    /// Print the OpenAPI document.
    Openapi,
    /// Ask a running service whether it is ready; exits with 0 if so.
    Health(doctor::Health),
    /// Run a command with DATABASE_URL set to a private PostgreSQL server of its own.
    WithPostgres(with_postgres::WithPostgres),
    /// Write which memory the work in this folder belongs to, and install the git hook.
    Init(init::Init),
    /// Report what is configured, reachable, active and insecure.
    Doctor(doctor::Doctor),
    /// Edit the document in an editor.
    Edit(edit::Edit),
    /// The commands that send one request.
    #[command(flatten)]
    Route(RouteCommand),
    /// Send any request to the service.
    Api(api::Api),
    /// Bring in what another system kept: files of CLAUDE.md, mem0, Letta and others.
    Bring(bring::Bring),
    /// The window and its archive as a folder of Markdown files.
    #[command(subcommand)]
    Window(window::Window),
    /// Synchronise a folder of Markdown files with the memory tool's files, in both directions.
    Sync(sync::Sync),
    /// Speak the Model Context Protocol on standard input and output, for agents' clients.
    Mcp(mcp::Mcp),
    /// Hooks that coding agents run when sessions begin and end.
    Hook(hook::Hook),
    /// Print the service's handoff, or else its local copy; exits with 8 if it is stale.
    Show(handoff::Show),
    /// Print whether the local copy of the handoff is fresh; exits with 8 if it is stale.
    Status(handoff::Status),
    /// Print the path of the local copy of the handoff.
    Path(handoff::Path),
    /// Let the service refresh the handoff if it is stale, and copy it here.
    Refresh(handoff::Refresh),
    /// Print completions for a shell.
    Completions(help::Completions),
    /// Print the manual page, in roff.
    Man(help::Man),
}

impl Command {
    async fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        match self {
            Self::Serve(command) => Box::pin(command.run()).await?,
            Self::Migrate(command) => command.run().await?,
            Self::Export(command) => command.run().await?,
            Self::Import(command) => command.run().await?,
            Self::Keys(command) => command.run().await?,
            Self::RebuildRecords(command) => command.run().await?,
            Self::Embeddings(command) => command.run().await?,
            Self::Openapi => client::Output::bytes(openapi_yaml().as_bytes())?,
            Self::Health(command) => command.run().await?,
            Self::WithPostgres(command) => return Ok(command.run().await),
            Self::Init(command) => command.run()?,
            Self::Doctor(command) => command.run().await?,
            Self::Edit(command) => command.run().await?,
            Self::Route(command) => command.run().await?,
            Self::Api(command) => command.run().await?,
            Self::Bring(command) => command.run().await?,
            Self::Window(command) => command.run().await?,
            Self::Sync(command) => command.run().await?,
            Self::Mcp(command) => command.run().await?,
            Self::Hook(command) => command.run().await?,
            Self::Show(command) => command.run().await?,
            Self::Status(command) => command.run().await?,
            Self::Path(command) => command.run()?,
            Self::Refresh(command) => command.run().await?,
            Self::Completions(command) => command.run(help::command())?,
            Self::Man(command) => command.run(help::command())?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// SIGINT and SIGTERM, with handlers installed before there is anything to clean up.
pub(super) struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    pub(super) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for one of them.
    pub(super) async fn wait(&mut self) -> rustix::process::Signal {
        tokio::select! {
            _ = self.interrupt.recv() => rustix::process::Signal::INT,
            _ = self.terminate.recv() => rustix::process::Signal::TERM,
        }
    }
}
