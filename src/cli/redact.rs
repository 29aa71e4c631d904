//! `working-memory redact`: removes the text of an old version permanently.

use super::client::{Failure, Look, Method, Output, Service, ServiceArgs, confirm};
use crate::domain::ids::ContextId;
use clap::Args;
use serde::Deserialize;
use serde_json::json;

/// Arguments of `redact`.
#[derive(Debug, Args)]
pub struct Redact {
    /// The version: its number or its context_id. The newest cannot be redacted.
    #[arg(value_name = "REF")]
    version: ContextId,
    /// The reason; it is shown in place of the text, so it must not repeat the redacted text.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Redact it only if the newest version is still this one (its context_id).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Redacted {
    version: i64,
    redacted_sha256: Option<String>,
}

impl Redact {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let memory_ref = service.memory_ref()?;
        confirm(
            &format!(
                "Remove the text of version {} of memory {} of vault {} permanently, with everything that quotes it?",
                self.version, memory_ref.memory, memory_ref.vault
            ),
            self.yes,
        )?;
        let answer = service
            .of_memory(Method::POST, &["contexts", self.version.as_str(), "redact"])?
            .if_match(self.if_match.as_deref())?
            .json(&json!({ "reason": self.reason }))?
            .send()
            .await?;
        if self.service.is_raw() {
            return answer.print_json();
        }
        let redacted: Redacted = answer.json()?;
        let mut out = Output::new();
        out.text("redacted version ")
            .styled(Look::Id, &redacted.version.to_string());
        if let Some(sha256) = &redacted.redacted_sha256 {
            out.styled(Look::Dim, &format!(" (its SHA-256 was {sha256})"));
        }
        out.end().write()
    }
}
