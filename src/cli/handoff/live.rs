//! The service's current state of the handoff, requested with a short timeout.

use super::copy::{NoCopy, Workspace};
use crate::cli::client::{Exit, Failure, MemoryRef, Method, Service, ServiceArgs};
use clap::Args;
use serde_json::Value;
use std::time::Duration;

/// The timeout of the request, unless `--timeout` is given.
const ANSWER_TIME: Duration = Duration::from_millis(300);

/// For a memory that does not exist: a refresh would be refused.
const WRITE_FIRST: &str = "write the memory with `working-memory put`, `update` or `operations`, then run \
                                      `working-memory refresh`";

/// Options of commands that can work without the service.
#[derive(Debug, Args)]
pub(super) struct LiveArgs {
    /// Use only the local copy; without this the service is asked first, for at most 300 ms (or --timeout).
    #[arg(long)]
    offline: bool,
    #[command(flatten)]
    pub(super) service: ServiceArgs,
}

/// The source of the answer.
#[derive(Debug)]
pub(super) enum Checked {
    /// The service, with its response.
    Service(Value),
    /// The service, which has no handoff of the memory.
    NoHandoff,
    /// The service, which has no such memory: it was deleted, or never written.
    NoMemory,
    /// Only the copy on this machine, and why.
    Local(String),
}

impl Checked {
    /// The name of the source in JSON.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Local(_) => "local",
            _ => "service",
        }
    }

    /// Why the service did not answer, if it did not.
    pub(super) fn unchecked_because(&self) -> Option<&str> {
        match self {
            Self::Local(why) => Some(why),
            _ => None,
        }
    }

    /// The failure where there is no copy.
    pub(super) fn failure(&self, none: NoCopy, memory_ref: &MemoryRef, workspace: &Workspace) -> Failure {
        let MemoryRef { vault, memory } = memory_ref;
        match self {
            Self::NoMemory => Failure::not_found(format!(
                "memory {memory} of vault {vault} has not been written yet, or was deleted; {WRITE_FIRST}"
            )),
            _ => workspace.failure(none, memory_ref),
        }
    }

    /// What to do about a copy that is stale.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            Self::NoMemory => WRITE_FIRST,
            _ => "run `working-memory refresh`",
        }
    }
}

impl LiveArgs {
    /// Requests the service's newest handoff.
    ///
    /// # Errors
    /// The options, the environment or a file name no service or memory.
    pub(super) async fn handoff(&self) -> Result<Checked, Failure> {
        Ok(match self.ask(&["handoff"]).await? {
            // It may be the handoff that does not exist.
            Checked::NoMemory => match self.status().await? {
                Checked::NoMemory => Checked::NoMemory,
                _ => Checked::NoHandoff,
            },
            checked => checked,
        })
    }

    /// Requests its freshness.
    ///
    /// # Errors
    /// As [`LiveArgs::handoff`].
    pub(super) async fn status(&self) -> Result<Checked, Failure> {
        Ok(match self.ask(&["handoff", "status"]).await? {
            Checked::Service(status) if status["handoff_id"].is_null() => Checked::NoHandoff,
            checked => checked,
        })
    }

    /// Requests what `set-status` wrote; `None` if the service does not answer, or there is no such memory.
    ///
    /// # Errors
    /// As [`LiveArgs::handoff`].
    pub(super) async fn aim(&self) -> Result<Option<Value>, Failure> {
        Ok(match self.ask(&["window"]).await? {
            Checked::Service(mut window) => Some(window["status"].take()),
            _ => None,
        })
    }

    /// A 404 is that of the memory, unless the route knows better.
    async fn ask(&self, below: &[&str]) -> Result<Checked, Failure> {
        if self.offline {
            return Ok(Checked::Local("--offline".to_owned()));
        }
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        let answered = service.of_memory(Method::GET, below)?.send_once().await;
        Ok(match answered.and_then(|answer| answer.json()) {
            Ok(answer) => Checked::Service(answer),
            Err(failure) if failure.exit == Exit::NotFound => Checked::NoMemory,
            Err(failure) => Checked::Local(failure.sentence),
        })
    }
}
