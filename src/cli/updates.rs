//! `working-memory updates`: lists the runs of a vault; with `--status proposed` the proposals that wait for approval.

use super::client::{Failure, List, Look, Method, Output, PageArgs, Service, ServiceArgs, when};
use clap::Args;
use serde::Deserialize;
use serde_json::Value;

/// Arguments of `updates`.
#[derive(Debug, Args)]
pub struct Updates {
    /// Only those with this status, such as proposed, invalid or failed.
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Entry {
    update_id: String,
    memory_id: String,
    status: String,
    actor_id: String,
    created_at: String,
    outcome: Value,
}

impl Updates {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = service
            .of_vault(Method::GET, &["updates"])?
            .maybe("status", self.status.as_ref());
        let answer = self.page.of(call).send().await?;
        if self.service.is_raw() {
            return answer.print_json();
        }
        let list: List<Entry> = answer.json()?;
        let mut out = Output::new();
        for (index, entry) in list.items.iter().enumerate() {
            if index > 0 {
                out.end();
            }
            out.styled(Look::Id, &entry.update_id)
                .text(&format!(" {} in {}", entry.status, entry.memory_id))
                .styled(
                    Look::Dim,
                    &format!(" {} {}", when(&entry.created_at), entry.actor_id),
                )
                .end()
                .indented("  ", outcome_text(&entry.outcome));
        }
        out.write()?;
        list.print_rest();
        Ok(())
    }
}

/// The outcome of a run, in words.
fn outcome_text(outcome: &Value) -> &str {
    let text = outcome["log"].as_str().or_else(|| outcome["problem"].as_str());
    text.unwrap_or_default()
}
