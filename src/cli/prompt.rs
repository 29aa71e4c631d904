//! `working-memory prompt`: prints the assembled prompt of a memory.

use super::client::{Failure, Method, Output, Service, ServiceArgs};
use clap::Args;

/// Arguments of `prompt`.
#[derive(Debug, Args)]
pub struct Prompt {
    /// The maximum number of tokens; whole parts and the oldest records are dropped beyond it.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    max_tokens: Option<u32>,
    /// Only these parts, separated by commas.
    #[arg(long, value_name = "PARTS")]
    include: Option<String>,
    /// Without these parts, separated by commas.
    #[arg(long, value_name = "PARTS")]
    exclude: Option<String>,
    /// The time zone of the date and time, such as Europe/Berlin.
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Prompt {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = service
            .of_memory(Method::GET, &["prompt"])?
            .maybe("max_tokens", self.max_tokens)
            .maybe("include", self.include.as_ref())
            .maybe("exclude", self.exclude.as_ref())
            .maybe("timezone", self.timezone.as_ref());
        if self.service.is_raw() {
            return call.send().await?.print_json();
        }
        let answer = call.accept("text/plain").send().await?;
        Output::new().text(answer.text()?).write()
    }
}
