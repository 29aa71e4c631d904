//! The description of a tool for a model, and the schemas of its arguments and its structured content.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::sync::Arc;

/// The definition of a tool.
pub(super) struct Definition {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// When to use it, when not, and one example; at most 1,000 characters.
    pub(super) description: &'static str,
    /// Its arguments besides vault and memory, by name.
    pub(super) arguments: Value,
    /// The required arguments.
    pub(super) required: &'static [&'static str],
    /// Members of its structured content, by name.
    pub(super) output: Value,
    /// The members that are always present.
    pub(super) always: &'static [&'static str],
    pub(super) hints: ToolAnnotations,
    /// Whether it works on one memory, not a whole vault.
    pub(super) of_memory: bool,
}

impl Definition {
    pub(super) fn tool(self) -> Tool {
        let mut properties = JsonObject::new();
        let mut required = vec!["vault"];
        properties.insert(
            "vault".to_owned(),
            string("The vault (tenant) that the memory is in."),
        );
        if self.of_memory {
            required.push("memory");
            properties.insert(
                "memory".to_owned(),
                string("The memory: one agent's, project's or task's document."),
            );
        }
        required.extend(self.required);
        if let Value::Object(arguments) = self.arguments {
            properties.extend(arguments);
        }
        let input = object(Value::Object(properties), &required, false);
        let output = object(self.output, self.always, true);
        Tool::new(self.name, self.description, input)
            .with_title(self.title)
            .with_raw_output_schema(output)
            .with_annotations(self.hints)
    }
}

/// The schema of an object.
fn object(properties: Value, required: &[&str], more: bool) -> Arc<JsonObject> {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), json!(required));
    if !more {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
    Arc::new(schema)
}

pub(super) fn string(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// A text that may be null.
pub(super) fn text_or_null() -> Value {
    json!({ "type": ["string", "null"] })
}

/// The arguments of a page.
pub(super) fn cursor() -> Value {
    string("next_cursor of the page before, to get the page behind it; leave out for the first.")
}

/// A page of a list.
pub(super) fn page(items: &str) -> Value {
    json!({
        "items": { "type": "array", "description": items, "items": { "type": "object" } },
        "next_cursor": { "type": ["string", "null"], "description": "Send it as cursor for the next page; null on the last." },
    })
}

/// Hints of a tool that only reads.
pub(super) fn reads() -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false)
}

/// Hints of a tool that writes: nothing is lost by it, since every version stays.
pub(super) fn writes() -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(false)
}
