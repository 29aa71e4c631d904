//! `working-memory get`, `blame`, `diff`, `prompt`, `put`, `restore`, `redact` and `delete`: a document and its versions.

use super::client::{
    Call, Failure, Look, MemoryRef, Method, Output, Service, ServiceArgs, ServiceResponse, confirm, note,
    read, text,
};
use crate::domain::ids::ContextId;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

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
        let Some(answer) = text_unless_json(call, &self.service).await? else {
            return Ok(());
        };
        Output::of_document().text(answer.text()?).write()
    }
}

/// A document as text; `None` if it was printed as JSON.
async fn text_unless_json(call: Call<'_>, args: &ServiceArgs) -> Result<Option<ServiceResponse>, Failure> {
    if args.is_json() {
        return call.send().await?.print_json().map(|()| None);
    }
    call.accept("text/plain").send().await.map(Some)
}

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
        let Some(answer) = text_unless_json(call, &self.service).await? else {
            return Ok(());
        };
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
        let Some(answer) = text_unless_json(call, &self.service).await? else {
            return Ok(());
        };
        Output::new().diff(answer.text()?).write()
    }
}

async fn newest(service: &Service) -> Result<ContextId, Failure> {
    let call = service.of_memory(Method::GET, &["contexts"])?.query("limit", "1");
    let list: Value = call.send().await?.json()?;
    let newest = list["items"][0]["context_id"].as_str();
    newest
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| Failure::not_found("the memory has no version"))
}

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
        let answer = call.send().await?;
        if self.service.is_json() {
            return answer.print_json();
        }
        let prompt: Value = answer.json()?;
        Output::of_document().text(&text(&prompt, "text")).write()?;
        let dropped = prompt["dropped"].as_array().into_iter().flatten();
        let dropped: Vec<String> = dropped.map(dropped_part).collect();
        if !dropped.is_empty() {
            note(&format!("left out for --max-tokens: {}", dropped.join(", ")));
        }
        Ok(())
    }
}

/// A part that the budget left out: its name, and which of its items and records if it is not left out as a whole.
fn dropped_part(part: &Value) -> String {
    let name = text(part, "name");
    if part["whole"] == true {
        return name;
    }
    let ids = ["items", "records"].map(|name| part[name].as_array());
    let ids = ids.into_iter().flatten().flatten();
    let ids: Vec<&str> = ids.filter_map(Value::as_str).collect();
    format!("{name} ({})", ids.join(" "))
}

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
        print_version(&answer, self.service.is_json())
    }
}

/// Arguments of `restore`.
#[derive(Debug, Args)]
pub struct Restore {
    /// The version: its number or its context_id.
    #[arg(value_name = "REF")]
    version: ContextId,
    /// Restore it only if the newest version is still this one (its context_id).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Restore {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let answer = service
            .of_memory(Method::POST, &["contexts", self.version.as_str(), "restore"])?
            .if_match(self.if_match.as_deref())?
            .send()
            .await?;
        print_version(&answer, self.service.is_json())
    }
}

/// Prints the response of a request that put a text as the newest version.
pub(super) fn print_version(answer: &ServiceResponse, json: bool) -> Result<(), Failure> {
    if json {
        return answer.print_json();
    }
    let made: Value = answer.json()?;
    let Some(version) = made["version"].as_i64() else {
        return Err(Failure::failed("the answer cannot be read: it has no version"));
    };
    let unchanged = made["unchanged"].as_bool().unwrap_or_default();
    let mut out = Output::new();
    out.text("version ").styled(Look::Id, &version.to_string());
    out.text(if unchanged { ", unchanged" } else { "" })
        .styled(Look::Dim, &format!(" ({})", text(&made, "context_id")))
        .end()
        .write()?;
    for warning in made["warnings"].as_array().into_iter().flatten() {
        let records = warning["records"].as_array().into_iter().flatten();
        let records: Vec<&str> = records.filter_map(Value::as_str).collect();
        let records = match records.as_slice() {
            [] => String::new(),
            records => format!(": {}", records.join(", ")),
        };
        note(&format!("warning: {}{records}", text(warning, "detail")));
    }
    Ok(())
}

/// Arguments of `redact`.
#[derive(Debug, Args)]
pub struct Redact {
    /// The version: its number or its context_id. The newest cannot be redacted.
    #[arg(value_name = "REF")]
    version: ContextId,
    /// The reason; it is shown in place of the text, so it must not repeat the redacted text.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Redact it only if the newest version is still this one (its context_id).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Redact {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let MemoryRef { vault, memory } = service.memory_ref()?;
        let question = format!(
            "Remove the text of version {} of memory {memory} of vault {vault} permanently, with everything that quotes it?",
            self.version
        );
        confirm(&question, self.yes)?;
        let answer = service
            .of_memory(Method::POST, &["contexts", self.version.as_str(), "redact"])?
            .if_match(self.if_match.as_deref())?
            .json(&json!({ "reason": self.reason }))?
            .send()
            .await?;
        answer.print(self.service.is_json(), |out, redacted| {
            out.text("redacted version ")
                .styled(Look::Id, &redacted["version"].to_string());
            if let Some(sha256) = redacted["redacted_sha256"].as_str() {
                out.styled(Look::Dim, &format!(" (its SHA-256 was {sha256})"));
            }
        })
    }
}

/// Arguments of `delete`.
#[derive(Debug, Args)]
pub struct Delete {
    /// Delete it only if the newest version is still this one (its context_id).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Delete {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let MemoryRef { vault, memory } = service.memory_ref()?;
        // A memory that does not exist needs no confirmation.
        let head: Value = service.of_memory(Method::GET, &[])?.send().await?.json()?;
        let goes = match head["version"].as_i64().unwrap_or_default() {
            0 => "its prompt items (it has no document)".to_owned(),
            versions => format!("its versions up to {versions}"),
        };
        let question = format!("Delete memory {memory} of vault {vault} with {goes} permanently?");
        confirm(&question, self.yes)?;
        service
            .of_memory(Method::DELETE, &[])?
            .if_match(self.if_match.as_deref())?
            .send()
            .await?;
        let mut out = Output::new();
        if self.service.is_json() {
            let done = json!({ "deleted": memory.as_str(), "vault_id": vault.as_str() });
            out.text(&done.to_string());
        } else {
            out.text("deleted ").styled(Look::Id, memory.as_str());
        }
        out.end().write()
    }
}
