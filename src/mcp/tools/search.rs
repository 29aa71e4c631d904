//! `memory_search`

use super::call::{Call, Done};
use super::definition::{Definition, cursor, page, reads, string};
use crate::mcp::arguments;
use crate::mcp::backend::{Backend, Method, RouteRequest};
use crate::mcp::failure::Failure;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

pub(super) const NAME: &str = "memory_search";

pub(super) fn definition() -> Definition {
    Definition {
        name: NAME,
        title: "Search memories",
        description: "Find the memories of a vault whose newest document has certain words or, where the service has an \
            embedding model, means something like them; best first, each with a marked extract. With memory it looks \
            inside that one memory and finds its records, archived ones too with status. Use it when you do not know \
            which memory holds something, or to see whether somebody met a problem before. Write the words a document \
            would hold, as in a web search: \"two words\" for words next to each other, or between alternatives, -word \
            to leave out. Do not use it to read a whole memory (memory_read). \
            Example: {\"vault\": \"acme\", \"query\": \"migration lock_timeout -draft\", \"limit\": 5}",
        arguments: json!({
            "query": string("The words to search for; at most 1,000 bytes."),
            "memory": string("Look inside this memory only; all memories of the vault without it."),
            "mode": { "type": "string", "enum": ["text", "semantic", "hybrid"], "description": "By words, by meaning, or by both; what the service can do without it." },
            "kind": { "type": "string", "enum": ["KL", "VC", "T", "D"], "description": "Only records of this kind: learnings, snippets, tasks or decisions." },
            "status": { "type": "string", "enum": ["active", "archived", "all"], "description": "Which records; active without it. Archived ones of a whole vault are found by meaning only." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 500, "description": "How many to show at once; 50 without it." },
            "cursor": cursor(),
        }),
        required: &["query"],
        output: page(
            "What was found: memory_id, version, rank, an extract as HTML with the words in <mark>, and the record_id, status and section it is of.",
        ),
        always: &["items", "next_cursor"],
        hints: reads(),
        of_memory: false,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
    mode: Option<String>,
    kind: Option<String>,
    status: Option<String>,
    limit: Option<u64>,
    cursor: Option<String>,
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let ask = match arguments.contains_key("memory") {
        true => call.place(&mut arguments)?.ask(Method::Get, &["search"]),
        false => {
            let vault = call.vault(&mut arguments)?;
            RouteRequest::new(Method::Get, &["vaults", vault.as_str(), "search"])
        }
    };
    let Arguments {
        query,
        mode,
        kind,
        status,
        limit,
        cursor,
    } = arguments::read(arguments)?;
    let ask = ask
        .query("q", query)
        .maybe("mode", mode)
        .maybe("kind", kind)
        .maybe("status", status)
        .maybe("limit", limit)
        .maybe("cursor", cursor)
        // So that the agent's own latest writes are found.
        .query("consistent", true);
    Ok(call.json(ask).await?.into())
}
