//! `memory_read`

use super::call::{Call, Done};
use super::definition::{Definition, reads, string};
use crate::mcp::arguments;
use crate::mcp::backend::{Backend, Method};
use crate::mcp::failure::Failure;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const NAME: &str = "memory_read";

pub(super) fn definition() -> Definition {
    Definition {
        name: NAME,
        title: "Read a memory",
        description: "Read the document of a memory: what an agent knows of its work from earlier sessions. Use it at \
            the start of a session, before you edit, and whenever you need what was learned, decided or left open; \
            with section to save tokens, with version or as_of (an RFC 3339 time) to see how it was. Do not use it to \
            find out which memory holds something (memory_search) or what changed (memory_history); to get a system \
            prompt within a token budget use memory_prompt. Answers the text and its version number, which \
            memory_write takes as if_version. \
            Example: {\"vault\": \"acme\", \"memory\": \"parser-agent\", \"section\": \"Key Learnings\"}",
        arguments: json!({
            "section": string("Only this section: its title, such as Key Learnings, or progress, learnings, verbatim, status, tasks, decisions."),
            "version": { "type": "integer", "minimum": 1, "description": "This version instead of the newest." },
            "as_of": string("The version that was the newest at this time, such as 2026-11-22T08:00:00Z. Not together with version."),
        }),
        required: &[],
        output: json!({
            "vault_id": { "type": "string" },
            "memory_id": { "type": "string" },
            "context": { "type": "string", "description": "The text." },
            "version": { "type": "integer" },
            "context_id": { "type": "string" },
            "actor_id": { "type": "string", "description": "Who made this version." },
            "creation_time": { "type": "string" },
            "source": { "type": "string" },
            "bytes": { "type": "integer" },
            "estimated_tokens": { "type": "integer" },
            "percent_of_cap": { "type": "number" },
        }),
        always: &["vault_id", "memory_id", "context", "version"],
        hints: reads(),
        of_memory: true,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    section: Option<String>,
    version: Option<u64>,
    as_of: Option<String>,
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    let Arguments {
        section,
        version,
        as_of,
    } = arguments::read(arguments)?;
    let ask = match version {
        Some(_) if as_of.is_some() => {
            return Err(Failure::argument(
                "version or as_of",
                "version and as_of cannot be given together: each names a version",
            ));
        }
        Some(version) => place.ask(Method::Get, &["contexts", &version.to_string()]),
        None => place.ask(Method::Get, &["context"]).maybe("as_of", as_of),
    };
    let structured = call.document(ask.maybe("section", section)).await?;
    let text = structured
        .get("context")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Ok(Done {
        text: Some((text.to_owned(), &["context"])),
        structured,
    })
}
