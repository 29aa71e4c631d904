//! `working-memory put`: puts a document as the newest version of a memory.

use super::client::{Failure, Look, Method, Output, Service, ServiceArgs, ServiceResponse, note, read};
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;

/// Arguments of `put`.
#[derive(Debug, Args)]
pub struct Put {
    /// The document; standard input for `-`.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// Put it only if the newest version is still this one (its context_id; `*`: any, but there must be one).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    /// Put it also if it drops most of the document, which the service would otherwise reject.
    #[arg(long)]
    confirm_collapse: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

/// The response to a put or restore.
#[derive(Debug, Deserialize)]
struct Made {
    version: i64,
    context_id: String,
    unchanged: bool,
    #[serde(default)]
    warnings: Vec<Warning>,
}

#[derive(Debug, Deserialize)]
struct Warning {
    detail: String,
    #[serde(default)]
    records: Vec<String>,
}

impl Put {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let answer = service
            .of_memory(Method::PUT, &["context"])?
            .maybe("confirm", self.confirm_collapse.then_some("collapse"))
            .if_match(self.if_match.as_deref())?
            .text(read(&self.file)?)
            .send()
            .await?;
        print(&answer, self.service.is_raw())
    }
}

/// Prints the response of a request that put a text as the newest version.
pub(super) fn print(answer: &ServiceResponse, json: bool) -> Result<(), Failure> {
    if json {
        return answer.print_json();
    }
    let made: Made = answer.json()?;
    let mut out = Output::new();
    out.text("version ").styled(Look::Id, &made.version.to_string());
    out.text(if made.unchanged { ", unchanged" } else { "" });
    out.styled(Look::Dim, &format!(" ({})", made.context_id)).end();
    out.write()?;
    for warning in &made.warnings {
        let records = match warning.records.as_slice() {
            [] => String::new(),
            records => format!(": {}", records.join(", ")),
        };
        note(&format!("warning: {}{records}", warning.detail));
    }
    Ok(())
}
