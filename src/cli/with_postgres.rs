//! `working-memory with-postgres`: runs any command with a private PostgreSQL server. And the embedded database of a command:
//! in this process or, as root, in a process of another account that runs `with-postgres`.

use super::client::note;
use super::run::Stop;
use crate::storage::embedded::folder::new_name;
use crate::storage::embedded::{Account, EmbeddedOptions, EmbeddedServer};
use clap::Args;
use rustix::process::{Pid, Signal};
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Arguments of `with-postgres`.
///
/// The server is a temporary one in a temporary folder unless a folder is given.
#[derive(Debug, Args)]
pub struct WithPostgres {
    /// Keep the cluster in this folder, durably, instead of a temporary one.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The maximum number of connections of the server.
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_connections: u32,
    /// The command to run, with its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

impl WithPostgres {
    /// Runs the command and exits with its code (128 plus the signal's number if a signal ended it, 125 if the
    /// server cannot be started, 126 or 127 if the command cannot be run).
    pub(super) async fn run(self) -> ExitCode {
        let mut stop = match Stop::listen() {
            Ok(stop) => stop,
            Err(error) => return failed(125, &error),
        };
        let throw_away = self.data_dir.is_none();
        let is_root = rustix::process::geteuid().is_root();
        let data_dir = self
            .data_dir
            .clone()
            .unwrap_or_else(|| new_name(&std::env::temp_dir()));
        let options = EmbeddedOptions {
            data_dir: data_dir.clone(),
            throw_away,
            max_connections: self.max_connections,
        };
        let code = self.run_with(options, &mut stop).await;
        // As root, the process of the other account has a folder of its own.
        if throw_away && !is_root {
            remove(&data_dir).await;
        }
        code
    }

    async fn run_with(&self, options: EmbeddedOptions, stop: &mut Stop) -> ExitCode {
        let started = tokio::select! {
            started = Embedded::start(options) => started,
            signal = stop.wait() => return ExitCode::from(128 + signal.as_raw() as u8),
        };
        let server = match started {
            Ok(server) => server,
            Err(error) => return failed(125, &*error),
        };
        let code = match self.spawn(&server.url()) {
            Ok(child) => wait(child, stop).await,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => failed(127, &error),
            Err(error) => failed(126, &error),
        };
        match server.stop().await {
            Ok(()) => code,
            Err(error) => failed(125, &*error),
        }
    }

    fn spawn(&self, url: &str) -> std::io::Result<Child> {
        let (program, arguments) = self
            .command
            .split_first()
            .ok_or(std::io::ErrorKind::InvalidInput)?;
        Command::new(program)
            .args(arguments)
            // Each would lead a service to another database than this one.
            .env_remove("WORKING_MEMORY__DATABASE__URL")
            .env_remove("WORKING_MEMORY__DATABASE__LISTEN_URL")
            .env_remove("WORKING_MEMORY__DATABASE__REPLICA_URL")
            .env("DATABASE_URL", url)
            .spawn()
            .map_err(|error| {
                let why = format!("cannot run {}: {error}", program.display());
                std::io::Error::new(error.kind(), why)
            })
    }
}

/// Waits for the command, and forwards signals to it.
async fn wait(mut child: Child, stop: &mut Stop) -> ExitCode {
    let pid = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    // A Ctrl-C at the terminal goes to the whole foreground process group, so the command already has it.
    let interrupted_by_terminal = std::io::stdin().is_terminal();
    loop {
        tokio::select! {
            status = child.wait() => return match status {
                Ok(status) => ExitCode::from(exit_code(status)),
                Err(error) => failed(125, &error),
            },
            signal = stop.wait() => {
                if let Some(pid) = pid && !(signal == Signal::INT && interrupted_by_terminal) {
                    // If it has just ended, the next `wait` returns that.
                    let _ = rustix::process::kill_process(pid, signal);
                }
            }
        }
    }
}

/// The exit code as a shell reports it.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Removes the temporary folder. A server whose start was interrupted is shutting down and may still write there, so
/// removing is retried a few times.
async fn remove(data_dir: &Path) {
    for _ in 0..100 {
        if !data_dir.exists() || fs::remove_dir_all(data_dir).is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn failed(code: u8, error: &dyn std::error::Error) -> ExitCode {
    note(&format!("working-memory: {error}"));
    ExitCode::from(code)
}

/// What the other process runs: it prints the URL, and ends when its input ends, as with this process.
const TELL_AND_WAIT: &str = "echo \"$DATABASE_URL\"; read -r _";

/// A running embedded server.
pub(super) enum Embedded {
    /// In this process.
    Own(EmbeddedServer),
    /// In `with-postgres` of another account, and its URL. That process ends when its input ends, however this one does.
    OfAccount(Child, String),
}

impl Embedded {
    /// Starts it. With `throw_away` the other process chooses a temporary folder of its own.
    pub(super) async fn start(options: EmbeddedOptions) -> Result<Self, Box<dyn Error>> {
        let data_dir = (!options.throw_away).then_some(&*options.data_dir);
        let Some(account) = Account::instead_of_root(data_dir)? else {
            return Ok(Self::Own(EmbeddedServer::start(options).await?));
        };
        let mut child = with_postgres_of(&account, data_dir, options.max_connections)?;
        let mut url = String::new();
        if let Some(printed) = child.stdout.take() {
            BufReader::new(printed).read_line(&mut url).await?;
        }
        if url.pop() != Some('\n') {
            // It has said why.
            child.wait().await?;
            return Err("the embedded database did not start".into());
        }
        Ok(Self::OfAccount(child, url))
    }

    pub(super) fn url(&self) -> String {
        match self {
            Self::Own(server) => server.url(),
            Self::OfAccount(_, url) => url.clone(),
        }
    }

    pub(super) async fn stop(self) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Own(server) => server.stop().await?,
            Self::OfAccount(mut child, _) => {
                drop(child.stdin.take());
                child.wait().await?;
            }
        }
        Ok(())
    }
}

/// Runs `with-postgres` as another account.
fn with_postgres_of(
    account: &Account,
    data_dir: Option<&Path>,
    max_connections: u32,
) -> Result<Child, Box<dyn Error>> {
    let mut command = Command::from(account.this_program());
    command.arg("with-postgres");
    if let Some(data_dir) = data_dir {
        let data_dir = std::path::absolute(data_dir)?;
        account.make_data_dir(&data_dir)?;
        command.arg("--data-dir").arg(data_dir);
    }
    command.args(["--max-connections", &max_connections.to_string()]);
    command.args(["--", "/bin/sh", "-c", TELL_AND_WAIT]);
    // Ctrl-C at the terminal must reach only this process, which ends it last.
    command.process_group(0).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let failed = |error: std::io::Error| format!("cannot run this program as {}: {error}", account.name());
    Ok(command.spawn().map_err(failed)?)
}
