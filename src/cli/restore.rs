//! `working-memory restore`: makes an old version the newest again.

use super::client::{Failure, Method, Service, ServiceArgs};
use super::put;
use crate::domain::ids::ContextId;
use clap::Args;

/// Arguments of `restore`.
#[derive(Debug, Args)]
pub struct Restore {
    /// The version: its number or its context_id.
    #[arg(value_name = "REF")]
    version: ContextId,
    /// Restore it only if the newest version is still this one (its context_id).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Restore {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let answer = service
            .of_memory(Method::POST, &["contexts", self.version.as_str(), "restore"])?
            .if_match(self.if_match.as_deref())?
            .send()
            .await?;
        put::print(&answer, self.service.is_raw())
    }
}
