//! `working-memory get`: prints the document of a memory.

use super::client::{Failure, Method, Output, Service, ServiceArgs};
use crate::domain::ids::ContextId;
use clap::Args;

/// Arguments of `get`.
#[derive(Debug, Args)]
pub struct Get {
    /// Only this section: `progress`, `learnings`, … or the title of a heading.
    #[arg(long, value_name = "SECTION")]
    section: Option<String>,
    /// The version that was the newest at this time (RFC 3339).
    #[arg(long, value_name = "TIME", conflicts_with = "version")]
    as_of: Option<String>,
    /// This version: its number or its context_id.
    #[arg(long, value_name = "REF")]
    version: Option<ContextId>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Get {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = match &self.version {
            Some(version) => service.of_memory(Method::GET, &["contexts", version.as_str()])?,
            None => service.of_memory(Method::GET, &["context"])?,
        };
        let call = call
            .maybe("section", self.section.as_ref())
            .maybe("as_of", self.as_of.as_ref());
        if self.service.is_raw() {
            return call.send().await?.print_json();
        }
        let answer = call.accept("text/plain").send().await?;
        Output::new().text(answer.text()?).write()
    }
}
