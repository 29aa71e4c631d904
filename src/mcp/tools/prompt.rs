//! `memory_prompt`

use super::call::{Call, Done};
use super::definition::{Definition, reads, string};
use crate::mcp::arguments;
use crate::mcp::backend::{Backend, Method};
use crate::mcp::failure::Failure;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const NAME: &str = "memory_prompt";

pub(super) fn definition() -> Definition {
    Definition {
        name: NAME,
        title: "Assemble a prompt",
        description: "Assemble a system prompt from a memory: rules and other items of the vault and the memory, then \
            the document's parts, what changes least first, cut to a number of tokens. Use it instead of memory_read \
            when you brief another agent, or when the memory may be larger than the tokens you can spare. Do not use \
            it to edit or quote the document: parts may be left out (dropped names them). include and exclude take \
            names of parts separated by commas: rules, user_information, tool_guidance, free, key_learnings, \
            verbatim_context, decisions, active_context, recent_tasks, workflow, current_progress, datetime. \
            Example: {\"vault\": \"acme\", \"memory\": \"parser-agent\", \"max_tokens\": 2000, \"exclude\": \"datetime\"}",
        arguments: json!({
            "include": string("Only these parts, separated by commas."),
            "exclude": string("None of these parts, separated by commas."),
            "max_tokens": { "type": "integer", "minimum": 1, "description": "How many tokens it may have; what matters least is left out." },
            "timezone": string("The IANA time zone of the date and time, such as Europe/Berlin; UTC without it."),
            "query": string("What the prompt is for: under a budget, records that matter to it are kept before others."),
        }),
        required: &[],
        output: json!({
            "text": { "type": "string", "description": "The prompt." },
            "tokens": { "type": "integer" },
            "parts": { "type": "array", "items": { "type": "object" } },
            "dropped": { "type": "array", "items": { "type": "object" }, "description": "What max_tokens left out." },
            "version": { "type": ["integer", "null"] },
            "prefix_hash": { "type": "string" },
        }),
        always: &["text", "tokens", "parts", "dropped"],
        hints: reads(),
        of_memory: true,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    include: Option<Names>,
    exclude: Option<Names>,
    max_tokens: Option<u64>,
    timezone: Option<String>,
    query: Option<String>,
}

/// Names separated by commas, or a list of them, which some models write.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    Text(String),
    List(Vec<String>),
}

impl Names {
    fn joined(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::List(names) => names.join(","),
        }
    }
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    let Arguments {
        include,
        exclude,
        max_tokens,
        timezone,
        query,
    } = arguments::read(arguments)?;
    let ask = place
        .ask(Method::Get, &["prompt"])
        .maybe("include", include.map(Names::joined))
        .maybe("exclude", exclude.map(Names::joined))
        .maybe("max_tokens", max_tokens)
        .maybe("timezone", timezone)
        .maybe("query", query);
    let structured = call.json(ask).await?;
    let text = structured.get("text").and_then(Value::as_str).unwrap_or_default();
    Ok(Done {
        text: Some((text.to_owned(), &["text"])),
        structured,
    })
}
