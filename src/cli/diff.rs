//! `working-memory diff`: the difference between two versions.

use super::client::{Failure, List, Method, Output, Service, ServiceArgs};
use crate::domain::ids::ContextId;
use clap::Args;
use serde::Deserialize;

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The version: its number or its context_id; the newest without it.
    #[arg(value_name = "REF")]
    version: Option<ContextId>,
    /// Compare with this version instead of the one before.
    #[arg(long, value_name = "REF")]
    base: Option<ContextId>,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Newest {
    context_id: ContextIdText,
}

/// An id returned by the service, checked before it becomes part of a URL.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct ContextIdText(ContextId);

impl TryFrom<String> for ContextIdText {
    type Error = crate::domain::ids::InvalidId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl Diff {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let version = match &self.version {
            Some(version) => version.clone(),
            None => newest(&service).await?,
        };
        let call = service
            .of_memory(Method::GET, &["contexts", version.as_str(), "diff"])?
            .maybe("base", self.base.as_ref());
        if self.service.is_raw() {
            return call.send().await?.print_json();
        }
        let answer = call.accept("text/plain").send().await?;
        Output::new().diff(answer.text()?).write()
    }
}

async fn newest(service: &Service) -> Result<ContextId, Failure> {
    let call = service.of_memory(Method::GET, &["contexts"])?.query("limit", "1");
    let list: List<Newest> = call.send().await?.json()?;
    let newest = list.items.into_iter().next();
    newest
        .map(|newest| newest.context_id.0)
        .ok_or_else(|| Failure::not_found("the memory has no version"))
}
