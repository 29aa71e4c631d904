//! `memory_handoff`

use super::call::{Call, Done};
use super::definition::{Definition, string, writes};
use crate::mcp::arguments;
use crate::mcp::backend::{Backend, Method};
use crate::mcp::failure::Failure;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const NAME: &str = "memory_handoff";

pub(super) fn definition() -> Definition {
    Definition {
        name: NAME,
        title: "Read the handoff",
        description: "Read the handoff of a memory: a page for whoever continues the work, made from the records that \
            changed lately, each line with the record it rests on, and whether it is still fresh. Use it when you take \
            over or resume work, before memory_read; with refresh: true when it is missing or stale (nothing is made \
            while it is fresh), with window for another time than the last two hours. Do not use it as the source of \
            what to edit, nor for facts that are older than its window: memory_read has the document. A refresh needs \
            a key that may write. Example: {\"vault\": \"acme\", \"memory\": \"parser-agent\", \"refresh\": true, \"window\": \"24h\"}",
        arguments: json!({
            "refresh": { "type": "boolean", "description": "Make a new one if the newest is stale or missing." },
            "window": string("How far back it looks, such as 6h or PT6H; goes with refresh."),
        }),
        required: &[],
        output: json!({
            "handoff_id": { "type": "string" },
            "vault_id": { "type": "string" },
            "memory_id": { "type": "string" },
            "markdown": { "type": "string", "description": "The page." },
            "freshness": { "type": "object", "properties": { "status": { "type": "string", "enum": ["missing", "stale", "fresh"] } } },
            "generated_at": { "type": "string" },
            "window": { "type": "string" },
            "base_version": { "type": "integer", "description": "The newest version when it was made." },
        }),
        always: &["handoff_id", "markdown", "freshness"],
        hints: writes().idempotent(true),
        of_memory: true,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default)]
    refresh: bool,
    window: Option<String>,
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    let Arguments { refresh, window } = arguments::read(arguments)?;
    let ask = match (refresh, window) {
        (true, window) => place
            .ask(Method::Post, &["handoff", "refresh"])
            .maybe("window", window),
        (false, None) => place.ask(Method::Get, &["handoff"]),
        (false, Some(_)) => {
            return Err(Failure::new(
                "window goes with refresh: a handoff that is there already keeps its window",
                "Call again with refresh: true, or without window.",
            ));
        }
    };
    let structured = call.json(ask).await?;
    let markdown = structured
        .get("markdown")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Ok(Done {
        text: Some((markdown.to_owned(), &["markdown", "manifest"])),
        structured,
    })
}
