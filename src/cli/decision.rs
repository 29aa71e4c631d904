//! `working-memory decision`: records a decision and its reason.

use super::client::{Failure, Method, Service, ServiceArgs};
use super::task;
use crate::domain::ids::RecordId;
use clap::Args;
use serde_json::json;

/// Arguments of `decision`.
#[derive(Debug, Args)]
pub struct Decision {
    /// What was decided.
    #[arg(value_name = "DECISION")]
    decision: String,
    /// The reason; recommended.
    #[arg(long, value_name = "REASON")]
    because: Option<String>,
    /// The decision that this one replaces, such as D-3.
    #[arg(long, value_name = "ID")]
    supersedes: Option<RecordId>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Decision {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let mut body = json!({"decision": self.decision});
        if let Some(reason) = self.because {
            body["reason"] = reason.into();
        }
        if let Some(id) = self.supersedes {
            body["supersedes"] = id.to_string().into();
        }
        let call = service.of_memory(Method::POST, &["decisions"])?;
        task::print(
            &call.json(&body)?.send().await?,
            self.service.is_raw(),
            "recorded",
        )
    }
}
