//! `working-memory log`: the changes, in words.

use super::client::{Failure, List, Look, Method, Output, PageArgs, Service, ServiceArgs, when};
use clap::Args;
use serde::Deserialize;

/// Arguments of `log`.
#[derive(Debug, Args)]
pub struct Log {
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Entry {
    version: i64,
    actor_id: String,
    creation_time: String,
    source: String,
    log: String,
}

impl Log {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = self.page.of(service.of_memory(Method::GET, &["log"])?);
        let answer = call.send().await?;
        if self.service.is_raw() {
            return answer.print_json();
        }
        let list: List<Entry> = answer.json()?;
        let mut out = Output::new();
        for (index, entry) in list.items.iter().enumerate() {
            if index > 0 {
                out.end();
            }
            out.styled(Look::Id, &format!("version {}", entry.version))
                .styled(
                    Look::Dim,
                    &format!(
                        " {} {} {}",
                        when(&entry.creation_time),
                        entry.actor_id,
                        entry.source
                    ),
                )
                .end()
                .indented("  ", &entry.log);
        }
        out.write()?;
        list.print_rest();
        Ok(())
    }
}
