//! `working-memory sections`: lists the headings of a document.

use super::client::{Failure, List, Look, Method, Output, PageArgs, Service, ServiceArgs};
use clap::Args;
use serde::Deserialize;

/// Arguments of `sections`.
#[derive(Debug, Args)]
pub struct Sections {
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Section {
    title: String,
    level: usize,
    start: u64,
    end: u64,
    section: Option<String>,
}

impl Sections {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = self.page.of(service.of_memory(Method::GET, &["sections"])?);
        let answer = call.send().await?;
        if self.service.is_raw() {
            return answer.print_json();
        }
        let list: List<Section> = answer.json()?;
        let mut out = Output::new();
        for section in &list.items {
            // A level is one of six; larger values in a response are clamped.
            out.text(&"  ".repeat(section.level.clamp(1, 6) - 1))
                .styled(Look::Strong, &section.title)
                .styled(
                    Look::Dim,
                    &format!(" {} bytes", section.end.saturating_sub(section.start)),
                );
            if let Some(name) = &section.section {
                out.text(" managed: ").styled(Look::Id, name);
            }
            out.end();
        }
        out.write()?;
        list.print_rest();
        Ok(())
    }
}
