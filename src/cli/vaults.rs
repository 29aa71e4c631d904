//! `working-memory vaults`: lists the vaults that the key reaches.

use super::client::{Failure, List, Method, PageArgs, Service, ServiceArgs, Table, when};
use clap::Args;
use serde::Deserialize;

/// Arguments of `vaults`.
#[derive(Debug, Args)]
pub struct Vaults {
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Entry {
    vault_id: String,
    memories: i64,
    changed_at: String,
}

impl Vaults {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = self.page.of(service.call(Method::GET, &["v1", "vaults"])?);
        let answer = call.send().await?;
        if self.service.is_raw() {
            return answer.print_json();
        }
        let list: List<Entry> = answer.json()?;
        let mut table = Table::new().id("VAULT").number("MEMORIES").column("CHANGED");
        for entry in &list.items {
            table.row([
                entry.vault_id.clone(),
                entry.memories.to_string(),
                when(&entry.changed_at),
            ]);
        }
        list.print(&table, "no vault has a memory yet")
    }
}
