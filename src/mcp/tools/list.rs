//! `memory_list`

use super::call::{Call, Done};
use super::definition::{Definition, cursor, page, reads, string};
use crate::mcp::arguments;
use crate::mcp::backend::{Backend, Method, RouteRequest};
use crate::mcp::failure::Failure;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

pub(super) const NAME: &str = "memory_list";

pub(super) fn definition() -> Definition {
    Definition {
        name: NAME,
        title: "List memories",
        description: "List the memories of a vault by name, with their newest version, size and time of change. Use it \
            to find the name of a memory, or to see whether one exists before you begin it. Do not use it to find a \
            memory by what it says (memory_search), and do not list on every turn: names change rarely. A vault that \
            nothing was written to has no memories; one with version 0 has items for prompts and no document yet. \
            Example: {\"vault\": \"acme\", \"prefix\": \"parser\"}",
        arguments: json!({
            "prefix": string("Only memories whose name begins like this."),
            "cursor": cursor(),
        }),
        required: &[],
        output: page("Memories: memory_id, version, bytes, created_at, changed_at."),
        always: &["items", "next_cursor"],
        hints: reads(),
        of_memory: false,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    prefix: Option<String>,
    cursor: Option<String>,
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let vault = call.vault(&mut arguments)?;
    let Arguments { prefix, cursor } = arguments::read(arguments)?;
    let ask = RouteRequest::new(Method::Get, &["vaults", vault.as_str(), "memories"])
        .maybe("prefix", prefix.filter(|prefix| !prefix.is_empty()))
        .maybe("cursor", cursor);
    Ok(call.json(ask).await?.into())
}
