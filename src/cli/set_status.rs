//! `working-memory set-status`: what is being worked for, and what stands in the way.

use super::client::{Failure, Method, Service, ServiceArgs};
use super::task;
use clap::Args;
use serde_json::json;

/// Arguments of `set-status`.
#[derive(Debug, Args)]
pub struct SetStatus {
    /// What is being worked for.
    #[arg(long, value_name = "TEXT")]
    goal: String,
    /// What stands in the way; nothing without it.
    #[arg(long, value_name = "TEXT")]
    blocker: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl SetStatus {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let mut body = json!({"goal": self.goal});
        if let Some(blocker) = self.blocker {
            body["blocker"] = blocker.into();
        }
        let call = service.of_memory(Method::PUT, &["status"])?;
        task::print(&call.json(&body)?.send().await?, self.service.json, "status set")
    }
}
