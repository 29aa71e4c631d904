//! `working-memory approve` and `reject`: the decision about a proposal.

use super::client::{Failure, Look, Method, Output, Service, ServiceArgs};
use super::update;
use crate::domain::ids::UpdateId;
use clap::Args;
use serde::Deserialize;
use serde_json::json;

/// Arguments of `approve`.
#[derive(Debug, Args)]
pub struct Approve {
    /// The proposal, as `updates --status proposed` lists it.
    #[arg(value_name = "UPDATE_ID")]
    update_id: UpdateId,
    /// Only the operations with these numbers, such as 0,2. All of them without it.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    operations: Option<Vec<u32>>,
    /// A comment for the log.
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// Approve it only if the newest version is still this one (its context_id).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

/// Arguments of `reject`.
#[derive(Debug, Args)]
pub struct Reject {
    /// The proposal, as `updates --status proposed` lists it.
    #[arg(value_name = "UPDATE_ID")]
    update_id: UpdateId,
    /// The reason, for the author of the proposal.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Rejected {
    update_id: String,
    status: String,
}

impl Approve {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let mut body = json!({});
        if let Some(operations) = &self.operations {
            body["operations"] = json!(operations);
        }
        if let Some(comment) = &self.comment {
            body["comment"] = json!(comment);
        }
        let answer = service
            .of_memory(Method::POST, &["updates", self.update_id.as_str(), "approve"])?
            .if_match(self.if_match.as_deref())?
            .json(&body)?
            .send()
            .await?;
        update::print(&answer, self.service.is_raw())
    }
}

impl Reject {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let answer = service
            .of_memory(Method::POST, &["updates", self.update_id.as_str(), "reject"])?
            .json(&json!({ "reason": self.reason }))?
            .send()
            .await?;
        if self.service.is_raw() {
            return answer.print_json();
        }
        let rejected: Rejected = answer.json()?;
        let mut out = Output::new();
        out.styled(Look::Id, &rejected.update_id)
            .text(&format!(" is {}", rejected.status))
            .end();
        out.write()
    }
}
