//! `working-memory memories`: what memories a vault has.

use super::client::{Failure, List, Look, Method, Output, PageArgs, Service, ServiceArgs};
use crate::domain::ids::MemoryId;
use clap::Args;
use serde::Deserialize;

/// Arguments of `memories`.
#[derive(Debug, Args)]
pub struct Memories {
    /// Only those whose id begins so.
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<MemoryId>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Entry {
    memory_id: String,
    version: i64,
    bytes: u64,
    changed_at: String,
}

impl Memories {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = service
            .of_vault(Method::GET, &["memories"])?
            .maybe("prefix", self.prefix.as_ref());
        let answer = self.page.of(call).send().await?;
        if self.service.json {
            return answer.print_json();
        }
        let list: List<Entry> = answer.json()?;
        let width = list
            .items
            .iter()
            .map(|entry| entry.memory_id.len())
            .max()
            .unwrap_or(0);
        let mut out = Output::new();
        for entry in &list.items {
            let pad = " ".repeat(width.min(128).saturating_sub(entry.memory_id.len()));
            out.styled(Look::Id, &entry.memory_id).text(&format!(
                "{pad}  version {:<6} {:>7} bytes  {}",
                entry.version, entry.bytes, entry.changed_at
            ));
            out.end();
        }
        out.write()?;
        list.tell_rest();
        Ok(())
    }
}
