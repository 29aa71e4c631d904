//! The tools: the arguments of each, and the request that it makes.

mod read;
mod write;

use crate::domain::ids::{MemoryId, VaultId};
use crate::mcp::backend::{Backend, Fixed, RouteRequest, json};
use crate::mcp::failure::Failure;
use http::Method;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use rmcp::schemars::JsonSchema;
use rmcp::schemars::generate::SchemaSettings;
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// Every tool, in the order in which they are listed.
fn definitions() -> [Definition; 11] {
    [
        Definition {
            name: "memory_read",
            title: "Read a memory",
            description: include_str!("../texts/memory_read.md"),
            arguments: schema_of::<read::Document>(),
            always: &["vault_id", "memory_id", "context", "version"],
            hints: reads(),
            of_memory: true,
        },
        Definition {
            name: "memory_prompt",
            title: "Assemble a prompt",
            description: include_str!("../texts/memory_prompt.md"),
            arguments: schema_of::<read::Prompt>(),
            always: &["text", "tokens", "parts", "dropped"],
            hints: reads(),
            of_memory: true,
        },
        Definition {
            name: "memory_edit",
            title: "Edit a memory",
            description: include_str!("../texts/memory_edit.md"),
            arguments: schema_of::<write::Edit>(),
            always: &["update_id", "status", "version", "operations", "rejected"],
            hints: writes(),
            of_memory: true,
        },
        Definition {
            name: "memory_write",
            title: "Write a whole memory",
            description: include_str!("../texts/memory_write.md"),
            arguments: schema_of::<write::Text>(),
            always: &["vault_id", "memory_id", "version", "unchanged"],
            hints: writes().idempotent(true),
            of_memory: true,
        },
        Definition {
            name: "memory_update",
            title: "Have a memory updated",
            description: include_str!("../texts/memory_update.md"),
            arguments: schema_of::<write::Update>(),
            always: &["update_id", "status"],
            hints: writes().open_world(true),
            of_memory: true,
        },
        Definition {
            name: "memory_consolidate",
            title: "Propose what a memory no longer needs",
            description: include_str!("../texts/memory_consolidate.md"),
            arguments: schema_of::<write::Consolidation>(),
            always: &["update_id", "status", "operations", "rejected"],
            hints: writes().open_world(true),
            of_memory: true,
        },
        Definition {
            name: "memory_record",
            title: "Record a task, a decision or the status",
            description: include_str!("../texts/memory_record.md"),
            arguments: schema_of::<write::Record>(),
            always: &["version"],
            hints: writes(),
            of_memory: true,
        },
        Definition {
            name: "memory_handoff",
            title: "Read the handoff",
            description: include_str!("../texts/memory_handoff.md"),
            arguments: schema_of::<write::Handoff>(),
            always: &["handoff_id", "markdown", "freshness"],
            hints: writes().idempotent(true),
            of_memory: true,
        },
        Definition {
            name: "memory_history",
            title: "See what changed",
            description: include_str!("../texts/memory_history.md"),
            arguments: schema_of::<read::History>(),
            always: &["view"],
            hints: reads(),
            of_memory: true,
        },
        Definition {
            name: "memory_search",
            title: "Search memories",
            description: include_str!("../texts/memory_search.md"),
            arguments: schema_of::<read::Search>(),
            always: &["items", "next_cursor"],
            hints: reads(),
            of_memory: false,
        },
        Definition {
            name: "memory_list",
            title: "List memories",
            description: include_str!("../texts/memory_list.md"),
            arguments: schema_of::<read::List>(),
            always: &["items", "next_cursor"],
            hints: reads(),
            of_memory: false,
        },
    ]
}

/// Every tool, for a client without fixed vault and memory.
fn all() -> &'static [Tool] {
    static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
    TOOLS.get_or_init(|| definitions().into_iter().map(Definition::tool).collect())
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
pub(super) async fn run<B: Backend>(
    name: &str,
    call: Call<'_, B>,
    arguments: JsonObject,
) -> Option<CallToolResult> {
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
    Some(done.map_or_else(Failure::into_result, Done::into_result))
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

/// A call of a tool.
pub(super) struct Call<'c, B> {
    backend: &'c B,
    context: &'c RequestContext<RoleServer>,
    fixed: Fixed,
}

impl<'c, B: Backend> Call<'c, B> {
    pub(super) fn new(backend: &'c B, context: &'c RequestContext<RoleServer>) -> Self {
        Self {
            fixed: backend.fixed(&context.extensions),
            backend,
            context,
        }
    }

    /// Vault and memory, removed from the arguments.
    fn place(&self, arguments: &mut JsonObject) -> Result<Place, Failure> {
        Ok(Place {
            vault: self.fixed.vault(arguments)?,
            memory: self.fixed.memory(arguments)?,
        })
    }

    /// The vault of a tool that works on all its memories. It may be called with the memory that is fixed.
    fn vault(&self, arguments: &mut JsonObject) -> Result<VaultId, Failure> {
        if arguments.contains_key("memory") {
            self.fixed.memory(arguments)?;
        }
        self.fixed.vault(arguments)
    }

    /// Sends a request and parses the JSON of the response, which must be a success.
    async fn json(&self, ask: RouteRequest) -> Result<Value, Failure> {
        json(self.backend, &self.context.extensions, ask).await
    }
}

/// The memory of a call.
struct Place {
    vault: VaultId,
    memory: MemoryId,
}

impl Place {
    /// A request below the memory.
    fn ask(&self, method: Method, below: &[&str]) -> RouteRequest {
        let path = ["vaults", self.vault.as_str(), "memories", self.memory.as_str()];
        RouteRequest::new(method, &[&path, below].concat())
    }
}

/// The result of a tool.
struct Done {
    /// Its structured content.
    structured: Value,
    /// The member that is a text for the model: it comes before the JSON, which then omits it.
    text: Option<&'static str>,
}

impl From<Value> for Done {
    fn from(structured: Value) -> Self {
        Self {
            structured,
            text: None,
        }
    }
}

impl Done {
    fn with_text(structured: Value, member: &'static str) -> Self {
        Self {
            structured,
            text: Some(member),
        }
    }

    fn into_result(self) -> CallToolResult {
        let Self { structured, text } = self;
        let mut content = Vec::new();
        let mut rest = structured.clone();
        if let Some(name) = text
            && let Some(members) = rest.as_object_mut()
        {
            // A handoff's manifest repeats its lines.
            members.remove("manifest");
            let text = members.remove(name);
            let text = text.as_ref().and_then(Value::as_str).unwrap_or_default();
            content.push(ContentBlock::text(text));
        }
        content.push(ContentBlock::text(rest.to_string()));
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(structured);
        result
    }
}

/// The definition of a tool.
struct Definition {
    name: &'static str,
    title: &'static str,
    /// When to use it, when not, and one example; at most 1,000 characters.
    description: &'static str,
    /// Its arguments besides vault and memory.
    arguments: JsonObject,
    /// The members that its structured content always has; it is the JSON of a route.
    always: &'static [&'static str],
    hints: ToolAnnotations,
    /// Whether it works on one memory, not a whole vault.
    of_memory: bool,
}

/// The schema of a type, without references.
fn schema_of<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.remove("description");
    std::mem::take(schema.ensure_object())
}

impl Definition {
    fn tool(self) -> Tool {
        let mut input = self.arguments;
        let mut common = vec![("vault", "The vault (tenant) that the memory is in.")];
        if self.of_memory {
            common.push(("memory", "The memory: one agent's, project's or task's document."));
        }
        let mut properties = JsonObject::new();
        let mut required: Vec<Value> = Vec::new();
        for (name, description) in common {
            properties.insert(
                name.to_owned(),
                json!({ "type": "string", "description": description }),
            );
            required.push(name.into());
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
            ("required".to_owned(), json!(self.always)),
        ]);
        Tool::new(self.name, self.description.trim_end(), Arc::new(input))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(self.hints)
    }
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
                assert!(
                    schema["description"].is_string(),
                    "{name}.{argument} says nothing"
                );
            }
        }
    }
}
