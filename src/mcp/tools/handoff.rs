//! `memory_handoff`

use super::definition::{Definition, schema_of, writes};
use super::{Call, Done};
use crate::mcp::arguments;
use crate::mcp::backend::Backend;
use crate::mcp::failure::Failure;
use http::Method;
use rmcp::model::JsonObject;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Make a new one if the newest is stale or missing.
    #[serde(default)]
    refresh: bool,
    /// How far back it looks, such as 6h or PT6H; goes with refresh.
    window: Option<String>,
}

pub(super) fn handoff() -> Definition {
    Definition {
        name: "memory_handoff",
        title: "Read the handoff",
        description: "Read the handoff of a memory: a page for whoever continues the work, made from the records that \
            changed lately, each line with the record it rests on, and whether it is still fresh. Use it when you take \
            over or resume work, before memory_read; with refresh: true when it is missing or stale (nothing is made \
            while it is fresh), with window for another time than the last two hours. Do not use it as the source of \
            what to edit, nor for facts that are older than its window: memory_read has the document. A refresh needs \
            a key that may write. Example: {\"vault\": \"acme\", \"memory\": \"parser-agent\", \"refresh\": true, \"window\": \"24h\"}",
        arguments: schema_of::<Arguments>(),
        always: &["handoff_id", "markdown", "freshness"],
        hints: writes().idempotent(true),
        of_memory: true,
    }
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    let Arguments { refresh, window } = arguments::read(arguments)?;
    let ask = match (refresh, window) {
        (true, window) => place
            .ask(Method::POST, &["handoff", "refresh"])
            .maybe("window", window),
        (false, None) => place.ask(Method::GET, &["handoff"]),
        (false, Some(_)) => {
            return Err(Failure::new(
                "window goes with refresh: a handoff that is there already keeps its window",
                "Call again with refresh: true, or without window.",
            ));
        }
    };
    Ok(Done::with_text(call.json(ask).await?, "markdown"))
}
