//! The description of a tool for a model. The schema of its arguments is that of their type.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use rmcp::schemars::JsonSchema;
use rmcp::schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use std::sync::Arc;

/// The definition of a tool.
pub(super) struct Definition {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// When to use it, when not, and one example; at most 1,000 characters.
    pub(super) description: &'static str,
    /// Its arguments besides vault and memory.
    pub(super) arguments: JsonObject,
    /// The members that its structured content always has; it is the JSON of a route.
    pub(super) always: &'static [&'static str],
    pub(super) hints: ToolAnnotations,
    /// Whether it works on one memory, not a whole vault.
    pub(super) of_memory: bool,
}

/// The schema of a type, without references.
pub(super) fn schema_of<T: JsonSchema>() -> JsonObject {
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
    pub(super) fn tool(self) -> Tool {
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
        Tool::new(self.name, self.description, Arc::new(input))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(self.hints)
    }
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
