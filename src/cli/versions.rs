//! `working-memory versions`: lists the versions of a memory, newest first.

use super::client::{Failure, List, Method, PageArgs, Service, ServiceArgs, Table, when};
use clap::Args;
use serde::Deserialize;

/// Arguments of `versions`.
#[derive(Debug, Args)]
pub struct Versions {
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Entry {
    version: i64,
    context_id: String,
    actor_id: String,
    source: String,
    bytes: u64,
    creation_time: String,
    #[serde(default)]
    redacted: bool,
}

impl Versions {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = self.page.of(service.of_memory(Method::GET, &["contexts"])?);
        let answer = call.send().await?;
        if self.service.is_raw() {
            return answer.print_json();
        }
        let list: List<Entry> = answer.json()?;
        let table = Table::new().number("VERSION").id("CONTEXT_ID").column("ACTOR");
        let mut table = table.column("SOURCE").number("BYTES").column("MADE");
        for entry in &list.items {
            let redacted = if entry.redacted { ", redacted" } else { "" };
            table.row([
                entry.version.to_string(),
                entry.context_id.clone(),
                entry.actor_id.clone(),
                format!("{}{redacted}", entry.source),
                entry.bytes.to_string(),
                when(&entry.creation_time),
            ]);
        }
        list.print(&table, "no versions")
    }
}
