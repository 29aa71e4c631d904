//! `working-memory blame`: which version added each line, and its author.

use super::client::{Failure, Look, Method, Output, Service, ServiceArgs};
use crate::domain::ids::ContextId;
use clap::Args;

/// Arguments of `blame`.
#[derive(Debug, Args)]
pub struct Blame {
    /// The version: its number or its context_id; the newest without it.
    #[arg(value_name = "REF")]
    version: Option<ContextId>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Blame {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = service
            .of_memory(Method::GET, &["blame"])?
            .maybe("ref", self.version.as_ref());
        if self.service.is_raw() {
            return call.send().await?.print_json();
        }
        let answer = call.accept("text/plain").send().await?;
        let mut out = Output::new();
        for line in answer.text()?.split_inclusive('\n') {
            match line.split_once(" | ") {
                Some((origin, text)) => out.styled(Look::Dim, origin).text(" | ").text(text),
                None => out.text(line),
            };
        }
        out.write()
    }
}
