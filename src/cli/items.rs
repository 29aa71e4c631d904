//! `working-memory items`: parts of system prompts, one category at a time.

use super::client::{
    Call, Failure, List, Look, Method, Output, PageArgs, Service, ServiceArgs, one_line, read,
};
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// The commands below `items`.
#[derive(Debug, Subcommand)]
pub enum Items {
    /// Replace a whole category with one text.
    Put(PutItems),
    /// List items.
    List(ListItems),
    /// Remove an item.
    Remove(RemoveItem),
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
    #[arg(value_name = "ITEM_ID")]
    item_id: String,
    #[command(flatten)]
    scope: Scope,
    #[command(flatten)]
    service: ServiceArgs,
}

/// Whose items they are.
#[derive(Debug, Args)]
struct Scope {
    /// Those of the vault, which every memory in it has, instead of the memory's own.
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

#[derive(Debug, Deserialize)]
struct Item {
    item_id: String,
    category: String,
    content: String,
    expires_at: Option<String>,
}

impl Items {
    pub(super) async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Put(command) => command.run().await,
            Self::List(command) => command.run().await,
            Self::Remove(command) => command.run().await,
        }
    }
}

impl PutItems {
    async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = self.scope.call(&service, Method::PUT, &[&self.category])?;
        let answer = call.text(read(&self.file)?).send().await?;
        if self.service.json {
            return answer.print_json();
        }
        let body: Value = answer.json()?;
        let unchanged = body["unchanged"].as_bool().unwrap_or(false);
        let mut out = Output::new();
        out.styled(Look::Id, &self.category);
        out.text(if unchanged { " unchanged" } else { " replaced" });
        out.end().write()
    }
}

impl ListItems {
    async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = self.scope.call(&service, Method::GET, &[])?;
        let call = call.maybe("category", self.category.as_ref());
        let answer = self.page.of(call).send().await?;
        if self.service.json {
            return answer.print_json();
        }
        let list: List<Item> = answer.json()?;
        let mut out = Output::new();
        for item in &list.items {
            out.styled(Look::Id, &item.item_id)
                .text(" ")
                .styled(Look::Strong, &item.category);
            if let Some(time) = &item.expires_at {
                out.styled(Look::Dim, &format!(" until {time}"));
            }
            out.text(": ").text(&one_line(&item.content)).end();
        }
        out.write()?;
        list.tell_rest();
        Ok(())
    }
}

impl RemoveItem {
    async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = self.scope.call(&service, Method::DELETE, &[&self.item_id])?;
        let answer = call.send().await?;
        if self.service.json {
            return answer.print_json();
        }
        let mut out = Output::new();
        out.text("removed ").styled(Look::Id, &self.item_id).end().write()
    }
}
