//! The tools: the arguments of each, and the request that it makes.

mod read;
mod write;

use crate::domain::ids::VaultId;
use crate::mcp::backend::{Call, Fixed, Place, read_arguments};
use crate::mcp::failure::Failure;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use rmcp::schemars::JsonSchema;
use rmcp::schemars::generate::SchemaSettings;
use rmcp::schemars::transform::RestrictFormats;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// Every tool, in the order in which they are listed, for a client without fixed vault and memory.
fn all() -> &'static [Tool] {
    static TOOLS: OnceLock<[Tool; 11]> = OnceLock::new();
    TOOLS.get_or_init(|| {
        [
            tool::<read::Document>(
                "memory_read",
                "Read a memory",
                include_str!("../texts/memory_read.md"),
                &["vault_id", "memory_id", "context", "version"],
                reads(),
            ),
            tool::<read::Prompt>(
                "memory_prompt",
                "Assemble a prompt",
                include_str!("../texts/memory_prompt.md"),
                &["text", "tokens", "parts", "dropped"],
                reads(),
            ),
            tool::<write::Edit>(
                "memory_edit",
                "Edit a memory",
                include_str!("../texts/memory_edit.md"),
                &["update_id", "status", "version", "operations", "rejected"],
                writes(),
            ),
            tool::<write::Text>(
                "memory_write",
                "Write a whole memory",
                include_str!("../texts/memory_write.md"),
                &["vault_id", "memory_id", "version", "unchanged"],
                writes().idempotent(true),
            ),
            tool::<write::Update>(
                "memory_update",
                "Have a memory updated",
                include_str!("../texts/memory_update.md"),
                &["update_id", "status"],
                writes().open_world(true),
            ),
            tool::<write::Consolidation>(
                "memory_consolidate",
                "Propose what a memory no longer needs",
                include_str!("../texts/memory_consolidate.md"),
                &["update_id", "status", "operations", "rejected"],
                writes().open_world(true),
            ),
            tool::<write::Record>(
                "memory_record",
                "Record a task, a decision or the status",
                include_str!("../texts/memory_record.md"),
                &["version"],
                writes(),
            ),
            tool::<write::Handoff>(
                "memory_handoff",
                "Read the handoff",
                include_str!("../texts/memory_handoff.md"),
                &["handoff_id", "markdown", "freshness"],
                writes().idempotent(true),
            ),
            tool::<read::History>(
                "memory_history",
                "See what changed",
                include_str!("../texts/memory_history.md"),
                &["view"],
                reads(),
            ),
            tool::<read::Search>(
                "memory_search",
                "Search memories",
                include_str!("../texts/memory_search.md"),
                &["items", "next_cursor"],
                reads(),
            ),
            tool::<read::List>(
                "memory_list",
                "List memories",
                include_str!("../texts/memory_list.md"),
                &["items", "next_cursor"],
                reads(),
            ),
        ]
    })
}

/// Every tool, in the form listed for a client.
pub(super) fn list(fixed: &Fixed) -> Vec<Tool> {
    let is_fixed = |name: &Value| match name.as_str() {
        Some("vault") => fixed.vault.is_some(),
        Some("memory") => fixed.memory.is_some(),
        _ => false,
    };
    let mut tools = all().to_vec();
    for tool in &mut tools {
        let schema = Arc::make_mut(&mut tool.input_schema);
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|name| !is_fixed(name));
        }
    }
    tools
}

/// One tool.
pub(super) fn get(name: &str) -> Option<Tool> {
    all().iter().find(|tool| tool.name == name).cloned()
}

/// Runs a tool; `None` if there is none with this name.
pub(super) async fn run(name: &str, call: Call<'_>, mut arguments: JsonObject) -> Option<CallToolResult> {
    // A member that is null counts as missing.
    arguments.retain(|_, value| !value.is_null());
    let done = match name {
        "memory_read" => read::call_document(call, arguments).await,
        "memory_prompt" => read::call_prompt(call, arguments).await,
        "memory_edit" => write::call_edit(call, arguments).await,
        "memory_write" => write::call_text(call, arguments).await,
        "memory_update" => Box::pin(write::call_update(call, arguments)).await,
        "memory_consolidate" => Box::pin(write::call_consolidate(call, arguments)).await,
        "memory_record" => write::call_record(call, arguments).await,
        "memory_handoff" => write::call_handoff(call, arguments).await,
        "memory_history" => read::call_history(call, arguments).await,
        "memory_search" => read::call_search(call, arguments).await,
        "memory_list" => read::call_list(call, arguments).await,
        _ => return None,
    };
    Some(done.unwrap_or_else(Failure::into_result))
}

/// The result of a call of an unknown tool: a tool error, so that the model reads it and can
/// choose another.
pub(super) fn unknown(name: &str) -> CallToolResult {
    let names: Vec<_> = all().iter().map(|tool| &*tool.name).collect();
    let failure = Failure::new(
        format!("there is no tool {name:.100}"),
        format!("Call one of: {}.", names.join(", ")),
    );
    failure.into_result()
}

/// The result of a call whose arguments are not an object.
pub(super) fn without_arguments(name: &str) -> CallToolResult {
    if get(name).is_none() {
        return unknown(name);
    }
    let failure = Failure::argument(
        "the arguments",
        "the arguments must be an object of named arguments",
    );
    failure.into_result()
}

impl Call<'_> {
    /// The memory of a call, and its other arguments.
    fn read<T: DeserializeOwned>(&self, mut arguments: JsonObject) -> Result<(Place, T), Failure> {
        let place = self.fixed.place(&mut arguments)?;
        Ok((place, read_arguments(arguments)?))
    }

    /// The vault of a tool that works on all its memories. It may be called with the memory that is fixed.
    fn vault(&self, arguments: &mut JsonObject) -> Result<VaultId, Failure> {
        if arguments.contains_key("memory") {
            self.fixed.memory(arguments)?;
        }
        self.fixed.vault(arguments)
    }
}

/// What a call of a tool came to.
type Outcome = Result<CallToolResult, Failure>;

/// A result whose member `name` is a text for the model: it comes before the JSON, which then omits it.
fn with_text(structured: Value, name: &str) -> CallToolResult {
    let mut rest = structured.clone();
    let mut text = None;
    if let Some(members) = rest.as_object_mut() {
        // A handoff's manifest repeats its lines.
        members.remove("manifest");
        text = members.remove(name);
    }
    let text = text.as_ref().and_then(Value::as_str).unwrap_or_default();
    let mut result = CallToolResult::structured(structured);
    result.content = vec![ContentBlock::text(text), ContentBlock::text(rest.to_string())];
    result
}

/// Arguments that tools have in common: which memory they are about.
const VAULT: (&str, &str) = ("vault", "The vault (tenant) that the memory is in.");
const MEMORY: (&str, &str) = ("memory", "The memory: one agent's, project's or task's document.");

/// The schema of a type, without references and formats such as `uint64`, which are not standard: strict clients refuse them.
fn schema_of<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let settings = settings.with_transform(RestrictFormats::default());
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.remove("description");
    std::mem::take(schema.ensure_object())
}

/// The tools that work on all memories of a vault.
const OF_VAULT: [&str; 2] = ["memory_search", "memory_list"];

/// A tool whose arguments are vault, memory and the members of `T`. `description` says when to use it, when not, and one example, in
/// at most 1,000 characters. `always` are the members that its structured content always has; it is the JSON of a route.
fn tool<T: JsonSchema>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    always: &[&str],
    hints: ToolAnnotations,
) -> Tool {
    let mut input = schema_of::<T>();
    let mut properties = JsonObject::new();
    let mut required: Vec<Value> = Vec::new();
    let is_of_memory = !OF_VAULT.contains(&name);
    for (argument, description) in [VAULT].into_iter().chain(is_of_memory.then_some(MEMORY)) {
        let property = json!({ "type": "string", "description": description });
        properties.insert(argument.to_owned(), property);
        required.push(argument.into());
    }
    if let Some(Value::Object(own)) = input.remove("properties") {
        properties.extend(own);
    }
    if let Some(Value::Array(own)) = input.remove("required") {
        required.extend(own);
    }
    input.insert("properties".to_owned(), properties.into());
    input.insert("required".to_owned(), required.into());
    let output = JsonObject::from_iter([
        ("type".to_owned(), json!("object")),
        ("required".to_owned(), json!(always)),
    ]);
    Tool::new(name, description.trim_end(), Arc::new(input))
        .with_title(title)
        .with_raw_output_schema(Arc::new(output))
        .with_annotations(hints)
}

/// Hints of a tool that only reads.
fn reads() -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false)
}

/// Hints of a tool that writes: nothing is lost by it, since every version stays.
fn writes() -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_enough_and_not_too_much() {
        for tool in all() {
            let name = &tool.name;
            let description = tool.description.as_deref().unwrap_or_default();
            let length = description.chars().count();
            assert!((200..=1_000).contains(&length), "{name}: {length} characters");
            assert!(description.contains("Example"), "{name} has no example");
            assert!(description.contains("not "), "{name} does not say when not");
            assert!(tool.title.is_some() && tool.annotations.is_some(), "{name}");
            assert_eq!(tool.output_schema.as_ref().unwrap()["type"], "object", "{name}");
            assert_eq!(tool.input_schema["type"], "object", "{name}");
            assert_eq!(tool.input_schema["additionalProperties"], false, "{name}");
            for (argument, schema) in tool.input_schema["properties"].as_object().unwrap() {
                let is_told = schema["description"].is_string();
                assert!(is_told, "{name}.{argument} says nothing");
            }
        }
    }
}
