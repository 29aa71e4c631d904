//! `working-memory memories`: lists the memories of a vault.

use super::client::{Failure, List, Method, PageArgs, Service, ServiceArgs, Table, when};
use crate::domain::ids::MemoryId;
use clap::Args;
use serde::Deserialize;

/// Arguments of `memories`.
#[derive(Debug, Args)]
pub struct Memories {
    /// Only those whose id begins with this.
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
        if self.service.is_raw() {
            return answer.print_json();
        }
        let list: List<Entry> = answer.json()?;
        let table = Table::new().id("MEMORY").number("VERSION");
        let mut table = table.number("BYTES").column("CHANGED");
        for entry in &list.items {
            table.row([
                entry.memory_id.clone(),
                entry.version.to_string(),
                entry.bytes.to_string(),
                when(&entry.changed_at),
            ]);
        }
        list.print(&table, "the vault has no memories")
    }
}
