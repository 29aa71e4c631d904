//! `memory_write`

use super::call::{Call, Done, Place};
use super::definition::{Definition, string, writes};
use crate::mcp::arguments;
use crate::mcp::backend::{Backend, Method};
use crate::mcp::failure::Failure;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

pub(super) const NAME: &str = "memory_write";

pub(super) fn definition() -> Definition {
    Definition {
        name: NAME,
        title: "Write a whole memory",
        description: "Replace the whole document of a memory by a text; a memory that does not exist is made. Use it \
            to begin a memory, or to rewrite free sections such as Description, Preferences or Facts: read it first, \
            change what has to change, keep everything else word for word, and send the version you read as \
            if_version, so that nobody's change is lost (0: only if the memory does not exist). Do not use it to add \
            or retire single learnings, snippets or progress: memory_edit does that with less text and keeps the \
            reasons. Records (KL-…, VC-…, T-…, D-…) that the text leaves out are archived. Old versions stay readable. \
            Never write passwords, keys or tokens. \
            Example: {\"vault\": \"acme\", \"memory\": \"parser-agent\", \"text\": \"# Description\\nThe parser.\\n\", \
            \"if_version\": 7}",
        arguments: json!({
            "text": string("The whole new document, Markdown."),
            "if_version": { "type": "integer", "minimum": 0, "description": "Write only if this is still the newest version; 0: only if there is none." },
        }),
        required: &["text"],
        output: json!({
            "vault_id": { "type": "string" },
            "memory_id": { "type": "string" },
            "version": { "type": "integer", "description": "The newest version now." },
            "context_id": { "type": "string" },
            "unchanged": { "type": "boolean", "description": "The document was this already." },
            "bytes": { "type": "integer" },
            "percent_of_cap": { "type": "number" },
            "warnings": { "type": "array", "items": { "type": "object" }, "description": "What the text lost of the version before." },
        }),
        always: &["vault_id", "memory_id", "version", "unchanged"],
        hints: writes().idempotent(true),
        of_memory: true,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    text: String,
    if_version: Option<u64>,
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    let Arguments { text, if_version } = arguments::read(arguments)?;
    let mut ask = place.ask(Method::Put, &["context"]);
    match if_version {
        None => {}
        Some(0) => ask = ask.header("if-none-match", "*"),
        Some(version) => ask = ask.header("if-match", tag(&call, &place, version).await?),
    }
    Ok(call.json(ask.text(text)).await?.into())
}

/// The entity tag of a version.
async fn tag<B: Backend>(call: &Call<'_, B>, place: &Place, version: u64) -> Result<String, Failure> {
    let ask = place.ask(Method::Get, &["contexts", &version.to_string()]);
    match call.ask(ask).await {
        Ok(answer) => Ok(answer.etag.unwrap_or_default()),
        // Its text was redacted or pruned, so it is not the newest.
        Err(failure) if matches!(failure.status(), 404 | 410) => Err(Failure::new(
            format!("the memory has no version {version} that could be its newest"),
            "Nothing was changed. Read the memory with memory_read and use its version, or 0 to begin a memory.",
        )),
        Err(failure) => Err(failure),
    }
}
