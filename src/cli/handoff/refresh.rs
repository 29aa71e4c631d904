//! `working-memory refresh`: lets the service refresh the handoff, and copies it.

use super::copy::Workspace;
use super::git;
use crate::cli::client::{Failure, Method, Output, Service, ServiceArgs};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::handoff::Window;
use clap::Args;
use serde_json::{Value, json};
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
        let workspace = Workspace::of(service.memory_ref()?)?;
        let snapshot = match self.no_workspace {
            true => None,
            false => git::snapshot().await,
        };
        let request = snapshot.map_or_else(|| json!({}), |snapshot| json!({ "workspace": snapshot }));
        let answer = service
            .of_memory(Method::POST, &["handoff", "refresh"])?
            .flag("force", self.force)
            .maybe("window", self.window)
            .json(&request)
            .send()
            .await?;
        let body: Value = answer.json()?;
        let url = service.connection.url.as_str();
        let written = workspace.write(&body, url, SystemClock.now())?;
        if self.service.is_json() {
            return answer.print_json();
        }
        let done = match written {
            false => "fresh, nothing to do",
            true if body["refreshed"] == true => "refreshed",
            true => "fresh, copied",
        };
        let path = workspace.markdown().display().to_string();
        Output::new().text(done).text(": ").text(&path).end().write()
    }
}
