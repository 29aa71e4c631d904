//! `working-memory items`: parts of system prompts, one category at a time.

use super::client::{
    Call, Failure, Look, Method, Output, PageArgs, Service, ServiceArgs, read, read_text, text,
};
use super::lists::{Show, print};
use crate::domain::text::single_blanks;
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::PathBuf;

/// The commands below `items`.
#[derive(Debug, Subcommand)]
pub enum Items {
    /// Add one item at the end of its category.
    Add(AddItem),
    /// Replace a whole category with one text.
    Put(PutItems),
    /// List items.
    List(ListItems),
    /// Remove an item, or a whole category.
    Remove(RemoveItem),
}

/// Arguments of `items add`.
#[derive(Debug, Args)]
pub struct AddItem {
    /// The category.
    #[arg(long, value_name = "CATEGORY")]
    category: String,
    /// The text; standard input for `-`.
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    /// Metadata of its component, a JSON object.
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// The time from which it is no longer shown, such as 2026-12-31T00:00:00Z.
    #[arg(long, value_name = "TIME")]
    expires_at: Option<DateTime<Utc>>,
    #[command(flatten)]
    scope: Scope,
    #[command(flatten)]
    service: ServiceArgs,
}

/// Arguments of `items put`.
#[derive(Debug, Args)]
pub struct PutItems {
    /// The category.
    #[arg(long, value_name = "CATEGORY")]
    category: String,
    /// The text; standard input for `-`.
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    scope: Scope,
    #[command(flatten)]
    service: ServiceArgs,
}

/// Arguments of `items list`.
#[derive(Debug, Args)]
pub struct ListItems {
    /// Only this category.
    #[arg(long, value_name = "CATEGORY")]
    category: Option<String>,
    #[command(flatten)]
    scope: Scope,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

/// Arguments of `items remove`.
#[derive(Debug, Args)]
pub struct RemoveItem {
    /// The item.
    #[arg(
        value_name = "ITEM_ID",
        required_unless_present = "category",
        conflicts_with = "category"
    )]
    item_id: Option<String>,
    /// All items of this category.
    #[arg(long, value_name = "CATEGORY")]
    category: Option<String>,
    #[command(flatten)]
    scope: Scope,
    #[command(flatten)]
    service: ServiceArgs,
}

/// The owner of the items.
#[derive(Debug, Args)]
struct Scope {
    /// The items of the vault, which apply to all its memories, instead of the memory's own.
    #[arg(long)]
    vault_wide: bool,
}

impl Scope {
    fn call<'s>(&self, service: &'s Service, method: Method, below: &[&str]) -> Result<Call<'s>, Failure> {
        let path = [&["items"], below].concat();
        if self.vault_wide {
            service.of_vault(method, &path)
        } else {
            service.of_memory(method, &path)
        }
    }
}

impl Items {
    pub(super) async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Add(command) => command.run().await,
            Self::Put(command) => command.run().await,
            Self::List(command) => command.run().await,
            Self::Remove(command) => command.run().await,
        }
    }
}

/// An item to add; the metadata is sent as it was written, with all digits.
#[derive(Debug, Serialize)]
struct NewItem<'n> {
    category: &'n str,
    content: &'n str,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'n RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<DateTime<Utc>>,
}

impl AddItem {
    async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let metadata: Option<&RawValue> = match &self.metadata {
            Some(text) => Some(
                serde_json::from_str(text)
                    .map_err(|error| Failure::usage(format!("--metadata is not JSON: {error}")))?,
            ),
            None => None,
        };
        let content = read_text(&self.file)?;
        let body = NewItem {
            category: &self.category,
            content: &content,
            metadata,
            expires_at: self.expires_at,
        };
        let call = self.scope.call(&service, Method::POST, &[])?;
        let answer = call.json(&body)?.send().await?;
        answer.print(self.service.is_json(), |out, item| {
            out.text("added ").styled(Look::Id, &text(item, "item_id"));
        })
    }
}

impl PutItems {
    async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = self.scope.call(&service, Method::PUT, &[&self.category])?;
        let answer = call.text(read(&self.file)?).send().await?;
        answer.print(self.service.is_json(), |out, body| {
            let unchanged = body["unchanged"].as_bool().unwrap_or(false);
            out.styled(Look::Id, &self.category);
            out.text(if unchanged { " unchanged" } else { " replaced" });
        })
    }
}

impl ListItems {
    async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = self.scope.call(&service, Method::GET, &[])?;
        let call = call.maybe("category", self.category.as_ref());
        let answer = self.page.of(call).send().await?;
        print(&answer, self.service.is_json(), &Show::Entries(item), "no items")
    }
}

fn item(out: &mut Output, item: &Value) {
    out.styled(Look::Id, &text(item, "item_id"))
        .text(" ")
        .styled(Look::Strong, &text(item, "category"));
    if let Some(time) = item["expires_at"].as_str() {
        out.styled(Look::Dim, &format!(" until {time}"));
    }
    out.text(": ").text(&single_blanks(&text(item, "content"))).end();
}

impl RemoveItem {
    async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let below: Vec<&str> = self.item_id.as_deref().into_iter().collect();
        let call = self.scope.call(&service, Method::DELETE, &below)?;
        let answer = call.maybe("category", self.category.as_ref()).send().await?;
        let Some(id) = &self.item_id else {
            return answer.print(self.service.is_json(), |out, body| {
                let removed = body["removed"].as_u64().unwrap_or_default();
                let category = self.category.as_deref().unwrap_or_default();
                out.text(&format!("removed {removed} of "))
                    .styled(Look::Id, category);
            });
        };
        // The service returns no body; with --json an empty object is printed.
        let mut out = Output::new();
        match self.service.is_json() {
            true => out.text("{}"),
            false => out.text("removed ").styled(Look::Id, id),
        };
        out.end().write()
    }
}
