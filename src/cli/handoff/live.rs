//! The service's current state of the handoff, requested with a short timeout.

use super::copy::NoCopy;
use super::home::Workspace;
use super::manifest::Freshness;
use crate::cli::client::{Exit, Failure, MemoryRef, Method, Service, ServiceArgs, ServiceResponse};
use chrono::{DateTime, Utc};
use clap::Args;
use serde::Deserialize;
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
pub(super) enum Checked<T> {
    /// The service, with its response.
    Service(T),
    /// The service, which has no handoff of the memory.
    NoHandoff,
    /// The service, which has no such memory: it was deleted, or never written.
    NoMemory,
    /// Only the copy on this machine, and why.
    Local(String),
}

/// The response of `GET M/handoff/status`, as far as it is used here.
#[derive(Debug, Deserialize)]
pub(super) struct LiveStatus {
    /// The freshness of the service's handoff.
    #[serde(flatten)]
    pub(super) freshness: Freshness,
    /// The id of the service's newest handoff.
    pub(super) handoff_id: Option<String>,
    /// The time it was made.
    pub(super) generated_at: Option<DateTime<Utc>>,
}

impl<T> Checked<T> {
    /// The name of the source in JSON.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Service(_) | Self::NoHandoff | Self::NoMemory => "service",
            Self::Local(_) => "local",
        }
    }

    /// Why the service did not answer, if it did not.
    pub(super) fn unchecked_because(&self) -> Option<&str> {
        match self {
            Self::Service(_) | Self::NoHandoff | Self::NoMemory => None,
            Self::Local(why) => Some(why),
        }
    }

    /// The failure where there is no copy.
    pub(super) fn failure(&self, none: NoCopy, memory_ref: &MemoryRef, workspace: &Workspace) -> Failure {
        let MemoryRef { vault, memory } = memory_ref;
        match self {
            Self::NoMemory => Failure::not_found(format!(
                "memory {memory} of vault {vault} has not been written yet, or was deleted; {WRITE_FIRST}"
            )),
            Self::Service(_) | Self::NoHandoff | Self::Local(_) => none.failure(memory_ref, workspace),
        }
    }

    /// What to do about a copy that is stale.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            Self::NoMemory => WRITE_FIRST,
            Self::Service(_) | Self::NoHandoff | Self::Local(_) => "run `working-memory refresh`",
        }
    }
}

/// What `set-status` wrote.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Aim {
    /// The goal.
    pub(super) goal: Option<String>,
    /// The blocker.
    pub(super) blocker: Option<String>,
    /// When this or the recent tasks and decisions last changed.
    pub(super) updated: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Window {
    status: Aim,
}

impl LiveArgs {
    /// Requests the service's newest handoff.
    ///
    /// # Errors
    /// The options, the environment or a file name no service or memory.
    pub(super) async fn handoff(&self) -> Result<Checked<ServiceResponse>, Failure> {
        Ok(match self.ask(&["handoff"]).await? {
            Checked::NoMemory => match self.status().await? {
                Checked::NoMemory => Checked::NoMemory,
                Checked::Service(_) | Checked::NoHandoff | Checked::Local(_) => Checked::NoHandoff,
            },
            checked => checked,
        })
    }

    /// Requests its freshness.
    ///
    /// # Errors
    /// As [`LiveArgs::handoff`].
    pub(super) async fn status(&self) -> Result<Checked<LiveStatus>, Failure> {
        Ok(match self.ask(&["handoff", "status"]).await? {
            Checked::Local(why) => Checked::Local(why),
            Checked::NoMemory => Checked::NoMemory,
            Checked::NoHandoff => Checked::NoHandoff,
            Checked::Service(answer) => match answer.json::<LiveStatus>() {
                Ok(status) if status.handoff_id.is_none() => Checked::NoHandoff,
                Ok(status) => Checked::Service(status),
                Err(failure) => Checked::Local(failure.sentence),
            },
        })
    }

    /// Requests what `set-status` wrote; `None` if the service does not answer, or there is no such memory.
    ///
    /// # Errors
    /// As [`LiveArgs::handoff`].
    pub(super) async fn aim(&self) -> Result<Option<Aim>, Failure> {
        Ok(match self.ask(&["window"]).await? {
            Checked::Service(answer) => answer.json::<Window>().ok().map(|window| window.status),
            Checked::NoHandoff | Checked::NoMemory | Checked::Local(_) => None,
        })
    }

    /// A 404 is that of the memory, unless the route knows better.
    async fn ask(&self, below: &[&str]) -> Result<Checked<ServiceResponse>, Failure> {
        if self.offline {
            return Ok(Checked::Local("--offline".to_owned()));
        }
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        let answered = service.of_memory(Method::GET, below)?.send_once().await;
        Ok(match answered {
            Ok(answer) => Checked::Service(answer),
            Err(failure) if failure.exit == Exit::NotFound => Checked::NoMemory,
            Err(failure) => Checked::Local(failure.sentence),
        })
    }
}
