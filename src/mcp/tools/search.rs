//! `memory_search`

use super::{Call, Definition, Done, arguments, cursor, page, reads, string};
use crate::mcp::backend::{Ask, Backend, Method};
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
            embedding model, means something like them; best first, each with a marked extract. Use it when you do not know which memory holds something, or to see whether somebody met \
            a problem before. Write the words a document would hold, as in a web search: \"two words\" for words next \
            to each other, or between alternatives, -word to leave out. Do not use it to read a memory whose name you \
            know (memory_read), nor for archived records (memory_history, view records). \
            Example: {\"vault\": \"acme\", \"query\": \"migration lock_timeout -draft\", \"limit\": 5}",
        arguments: json!({
            "query": string("The words to search for; at most 1,000 bytes."),
            "limit": { "type": "integer", "minimum": 1, "maximum": 500, "description": "How many to show at once; 50 without it." },
            "cursor": cursor(),
        }),
        required: &["query"],
        output: page(
            "Documents: memory_id, version, rank, an extract as HTML with the words in <mark>, and the record_id and section it is of.",
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
    limit: Option<u64>,
    cursor: Option<String>,
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let vault = call.vault(&mut arguments)?;
    let Arguments { query, limit, cursor } = arguments::read(arguments)?;
    let ask = Ask::new(Method::Get, &["vaults", vault.as_str(), "search"])
        .query("q", query)
        .maybe("limit", limit)
        .maybe("cursor", cursor)
        // What an agent wrote a moment ago is found.
        .query("consistent", true);
    Ok(call.json(ask).await?.into())
}
