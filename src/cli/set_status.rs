//! `working-memory set-status`: writes the goal and the blocker.

use super::client::{Failure, Method, Service, ServiceArgs};
use super::task;
use clap::Args;

/// Arguments of `set-status`.
#[derive(Debug, Args)]
pub struct SetStatus {
    /// The goal; `none` clears it. Unchanged without this option.
    #[arg(long, value_name = "TEXT", required_unless_present = "blocker")]
    goal: Option<String>,
    /// The blocker; `none` clears it. Unchanged without this option.
    #[arg(long, value_name = "TEXT")]
    blocker: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl SetStatus {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let mut body = serde_json::Map::new();
        for (name, text) in [("goal", &self.goal), ("blocker", &self.blocker)] {
            if let Some(text) = text {
                body.insert(name.to_owned(), text.as_str().into());
            }
        }
        let call = service.of_memory(Method::PUT, &["status"])?;
        task::print(
            &call.json(&body)?.send().await?,
            self.service.is_raw(),
            "status set",
        )
    }
}
