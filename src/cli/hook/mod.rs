//! `working-memory hook …`: what coding agents run automatically when sessions begin and end.
//!
//! A hook must not stop an agent: every error is printed on standard error, a hook ends
//! within [`DEADLINE`], and always with 0. Nobody sees which address it calls, so an address that only a file in
//! the folder names is not used, unless it is on this machine.

mod briefing;
mod input;
mod position;
mod session;
mod transcript;

use self::input::Input;
use super::client::{Failure, Service, ServiceArgs, note};
use clap::{Args, Subcommand};
use std::time::Duration;

/// The time limit of a hook, unless `--timeout` is given. Hosts wait for it.
const DEADLINE: Duration = Duration::from_secs(5);

/// Which hook.
#[derive(Debug, Subcommand)]
pub enum Hook {
    /// A session begins: print its memory and handoff, at most 10,000 characters.
    SessionStart(Arguments),
    /// A session ends: update the memory with the messages since the last time.
    SessionEnd(Arguments),
    /// Like session-end, before the host shortens the conversation.
    PreCompact(Arguments),
    /// Like session-end, when an answer is complete, for hosts that do not report the end of a session.
    Stop(Arguments),
}

/// Arguments of all hooks.
#[derive(Debug, Args)]
#[command(after_help = "Reads the host's JSON from standard input. Exits with 0 in every case.")]
pub struct Arguments {
    #[command(flatten)]
    service: ServiceArgs,
}

impl Hook {
    /// Never fails.
    pub(super) async fn run(self) -> Result<(), Failure> {
        let (Self::SessionStart(arguments)
        | Self::SessionEnd(arguments)
        | Self::PreCompact(arguments)
        | Self::Stop(arguments)) = &self;
        let args = &arguments.service;
        let deadline = args.timeout().unwrap_or(DEADLINE);
        let work = async {
            let input = Input::of_process().await?;
            input.enter_folder();
            let service = Service::unattended(args, deadline)?;
            match &self {
                Self::SessionStart(_) => session::start(&service, &input).await,
                _ => session::end(&service, &input).await,
            }
        };
        let late = || Failure::failed(format!("gave up after {} s", deadline.as_secs()));
        let done = tokio::time::timeout(deadline, work).await;
        if let Err(failure) = done.unwrap_or_else(|_| Err(late())) {
            note(&format!("working-memory: {}", failure.sentence));
        }
        Ok(())
    }
}

/// Whether a command line is that of a hook, which exits with 0 also if it cannot be parsed: other codes would stop
/// some hosts.
pub(super) fn is_meant(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> bool {
    arguments.nth(1).is_some_and(|command| command == "hook")
}
