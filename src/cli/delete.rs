//! `working-memory delete`: deletes a memory with everything that belongs to it, permanently.

use super::client::{Failure, Look, Method, Output, Service, ServiceArgs, confirm};
use clap::Args;
use serde_json::json;

/// Arguments of `delete`.
#[derive(Debug, Args)]
pub struct Delete {
    /// Delete it only if the newest version is still this one (its context_id).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Delete {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let memory_ref = service.memory_ref()?;
        let what = format!("memory {} of vault {}", memory_ref.memory, memory_ref.vault);
        // A memory that does not exist needs no confirmation.
        let there = service.of_memory(Method::GET, &[])?.send().await?;
        let head: serde_json::Value = there.json()?;
        let goes = match head["version"].as_i64().unwrap_or_default() {
            0 => "its prompt items (it has no document)".to_owned(),
            versions => format!("its versions up to {versions}"),
        };
        confirm(&format!("Delete {what} with {goes} permanently?"), self.yes)?;
        service
            .of_memory(Method::DELETE, &[])?
            .if_match(self.if_match.as_deref())?
            .send()
            .await?;
        let mut out = Output::new();
        if self.service.is_raw() {
            let done =
                json!({ "deleted": memory_ref.memory.as_str(), "vault_id": memory_ref.vault.as_str() });
            out.text(&done.to_string());
        } else {
            out.text("deleted ").styled(Look::Id, memory_ref.memory.as_str());
        }
        out.end().write()
    }
}
