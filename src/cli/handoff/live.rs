//! What the service says of the handoff right now, asked for only as long as nobody notices the wait.

use super::manifest::Freshness;
use crate::cli::client::{Answer, Exit, Failure, Method, Service, ServiceArgs};
use chrono::{DateTime, Utc};
use clap::Args;
use serde::Deserialize;
use std::time::Duration;

/// How long the service has to answer, where `--timeout` says nothing else.
const ANSWER_TIME: Duration = Duration::from_millis(300);

/// Options of what asks the service and can do without.
#[derive(Debug, Args)]
pub(super) struct LiveArgs {
    /// Answer from the local copy alone; without this the service is asked first and has 300 ms (or --timeout).
    #[arg(long)]
    offline: bool,
    #[command(flatten)]
    pub(super) service: ServiceArgs,
}

/// Who was asked.
#[derive(Debug)]
pub(super) enum Checked<T> {
    /// The service, and what it said; `None` if it has no handoff of the memory.
    Service(Option<T>),
    /// Only the copy on this machine, and why.
    Local(String),
}

/// What `GET M/handoff/status` says, as far as it is used here.
#[derive(Debug, Deserialize)]
pub(super) struct LiveStatus {
    /// Whether the service's handoff can be relied on.
    #[serde(flatten)]
    pub(super) freshness: Freshness,
    /// The service's newest handoff.
    pub(super) handoff_id: Option<String>,
    /// The moment it shows.
    pub(super) generated_at: Option<DateTime<Utc>>,
}

impl<T> Checked<T> {
    /// Its name in JSON.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Service(_) => "service",
            Self::Local(_) => "local",
        }
    }
}

/// What `set-status` wrote.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Aim {
    /// What is aimed at.
    pub(super) goal: Option<String>,
    /// What stands in the way.
    pub(super) blocker: Option<String>,
    /// When this or the recent tasks and decisions last changed.
    pub(super) updated: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Window {
    status: Aim,
}

impl LiveArgs {
    /// Asks for the service's newest handoff.
    ///
    /// # Errors
    /// The options, the environment or a file name no service or memory.
    pub(super) async fn handoff(&self) -> Result<Checked<Answer>, Failure> {
        self.ask(&["handoff"]).await
    }

    /// Asks how fresh that is.
    ///
    /// # Errors
    /// As [`LiveArgs::handoff`].
    pub(super) async fn status(&self) -> Result<Checked<LiveStatus>, Failure> {
        Ok(match self.ask(&["handoff", "status"]).await? {
            Checked::Local(why) => Checked::Local(why),
            Checked::Service(None) => Checked::Service(None),
            Checked::Service(Some(answer)) => match answer.json::<LiveStatus>() {
                Ok(status) => Checked::Service(Some(status).filter(|status| status.handoff_id.is_some())),
                Err(failure) => Checked::Local(failure.sentence),
            },
        })
    }

    /// Asks what `set-status` wrote; `None` if the service does not answer, or there is no such memory.
    ///
    /// # Errors
    /// As [`LiveArgs::handoff`].
    pub(super) async fn aim(&self) -> Result<Option<Aim>, Failure> {
        Ok(match self.ask(&["window"]).await? {
            Checked::Service(Some(answer)) => answer.json::<Window>().ok().map(|window| window.status),
            Checked::Service(None) | Checked::Local(_) => None,
        })
    }

    async fn ask(&self, below: &[&str]) -> Result<Checked<Answer>, Failure> {
        if self.offline {
            return Ok(Checked::Local("--offline".to_owned()));
        }
        let service = Service::waiting(&self.service, ANSWER_TIME)?;
        let answered = service.of_memory(Method::GET, below)?.send_once().await;
        Ok(match answered {
            Ok(answer) => Checked::Service(Some(answer)),
            Err(failure) if failure.exit == Exit::NotFound => Checked::Service(None),
            Err(failure) => Checked::Local(failure.sentence),
        })
    }
}
