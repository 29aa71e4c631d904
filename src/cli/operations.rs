//! `working-memory operations`: applies operations that an agent wrote itself, without a model.

use super::client::{Failure, Method, Service, ServiceArgs, read};
use super::update::{self, OnInvalid};
use crate::domain::ids::UpdateId;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `operations`.
#[derive(Debug, Args)]
pub struct Operations {
    /// The operations (docs/dsl.md); standard input for `-`.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// Dry run: save nothing.
    #[arg(long)]
    dry_run: bool,
    /// Save a proposal that waits for approval.
    #[arg(long, conflicts_with = "update_id")]
    propose: bool,
    /// What to do with faulty items.
    #[arg(long, value_enum, value_name = "WHAT")]
    on_invalid: Option<OnInvalid>,
    /// The maximum number of additions in each section.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=100))]
    max_additions: Option<u8>,
    /// The saved run that this finishes.
    #[arg(long, value_name = "UPDATE_ID")]
    update_id: Option<UpdateId>,
    /// Apply them only if the newest version is still this one (its context_id).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Operations {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let answer = service
            .of_memory(Method::POST, &["operations"])?
            .flag("dry_run", self.dry_run)
            .maybe("mode", self.propose.then_some("propose"))
            .maybe("on_invalid", self.on_invalid)
            .maybe("max_additions", self.max_additions)
            .maybe("update_id", self.update_id.as_ref())
            .if_match(self.if_match.as_deref())?
            .text(read(&self.file)?)
            .send()
            .await?;
        update::print(&answer, self.service.is_raw())
    }
}
