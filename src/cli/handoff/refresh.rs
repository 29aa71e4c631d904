//! `working-memory refresh`: lets the service refresh the handoff, and copies it here.

use super::copy::Copy;
use super::git;
use super::home::Workspace;
use super::manifest::{Handoff, Local};
use super::time::Window;
use super::write::write;
use crate::cli::client::{Failure, Method, Output, Service, ServiceArgs};
use crate::clock::{Clock as _, SystemClock};
use clap::Args;
use serde_json::{Map, Value};
use std::time::Duration;

/// A model may write the handoff, which takes time.
const ANSWER_TIME: Duration = Duration::from_secs(600);

/// Arguments of `refresh`.
#[derive(Debug, Args)]
pub struct Refresh {
    /// Make a new one also if it is fresh.
    #[arg(long)]
    force: bool,
    /// The window, such as 6h, 90m or 2d; the service's `handoff.window` without it.
    #[arg(long, value_name = "TIME")]
    window: Option<Window>,
    /// Do not send the git branch and the changed files of this folder.
    #[arg(long)]
    no_workspace: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Refresh {
    pub(in crate::cli) async fn run(self) -> Result<(), Failure> {
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        let (memory_ref, workspace) = (service.memory_ref()?, Workspace::of_process()?);
        let mut body = Map::new();
        if !self.no_workspace
            && let Some(snapshot) = git::snapshot().await
        {
            body.insert("workspace".to_owned(), snapshot.to_json());
        }
        let answer = service
            .of_memory(Method::POST, &["handoff", "refresh"])?
            .flag("force", self.force)
            .maybe("window", self.window)
            .json(&Value::Object(body))?
            .send()
            .await?;
        let handoff: Handoff = answer.json()?;
        let local = Local::of(&handoff, service.url().as_str(), SystemClock.now());
        let kept = Copy::read(&workspace, &memory_ref).ok();
        let kept = kept
            .filter(|copy| copy.local.handoff_id == local.handoff_id && copy.local.sha256 == local.sha256);
        let (done, path) = match kept {
            Some(copy) => ("fresh, nothing to do", copy.path),
            None => {
                let path = write(&workspace, &memory_ref, &handoff, &local)?;
                let done = if handoff.refreshed {
                    "refreshed"
                } else {
                    "fresh, copied"
                };
                (done, path)
            }
        };
        if self.service.is_json() {
            return answer.print_json();
        }
        let path = path.display().to_string();
        Output::new().text(done).text(": ").text(&path).end().write()
    }
}
