//! The tools: one file each, with what a model is told of it and the request that it makes.

mod edit;
mod handoff;
mod history;
mod list;
mod prompt;
mod read;
mod record;
mod search;
mod update;
mod write;

use super::arguments;
use super::backend::{Answer, Ask, Backend, Method};
use super::failure::Failure;
use super::fixed::Fixed;
use crate::domain::ids::{MemoryId, VaultId};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// What a model is told of a tool.
struct Definition {
    name: &'static str,
    title: &'static str,
    /// When to use it, when not, and one example; at most 1,000 characters.
    description: &'static str,
    /// Its arguments besides vault and memory, by name.
    arguments: Value,
    /// Those that have to be given.
    required: &'static [&'static str],
    /// Members of its structured content, by name.
    output: Value,
    /// Those that are always there.
    always: &'static [&'static str],
    hints: ToolAnnotations,
    /// Whether it is about one memory, not a whole vault.
    of_memory: bool,
}

/// A call of a tool.
pub(super) struct Call<'c, B> {
    backend: &'c B,
    context: &'c RequestContext<RoleServer>,
    fixed: Fixed,
}

/// What a tool came to.
struct Done {
    /// Its structured content.
    structured: Value,
    /// A text that says the same to a model and stands before the JSON; the members named are left out of that.
    text: Option<(String, &'static [&'static str])>,
}

impl From<Value> for Done {
    fn from(structured: Value) -> Self {
        Self {
            structured,
            text: None,
        }
    }
}

impl<'c, B: Backend> Call<'c, B> {
    pub(super) fn new(backend: &'c B, context: &'c RequestContext<RoleServer>) -> Self {
        Self {
            fixed: backend.fixed(&context.extensions),
            backend,
            context,
        }
    }

    /// Vault and memory, taken out of the arguments.
    fn place(&self, arguments: &mut JsonObject) -> Result<Place, Failure> {
        Ok(Place {
            vault: self.fixed.vault(arguments)?,
            memory: self.fixed.memory(arguments)?,
        })
    }

    /// The vault of a tool that is about all its memories.
    fn vault(&self, arguments: &mut JsonObject) -> Result<VaultId, Failure> {
        self.fixed.ignore_memory(arguments)?;
        self.fixed.vault(arguments)
    }

    /// Asks, and takes a success only.
    async fn ask(&self, ask: Ask) -> Result<Answer, Failure> {
        let answer = self.backend.ask(&self.context.extensions, ask).await?;
        match answer.is_success() {
            true => Ok(answer),
            false => Err(Failure::of_answer(&answer)),
        }
    }

    /// Asks for a version of a document.
    async fn document(&self, ask: Ask) -> Result<Value, Failure> {
        let document = self.backend.document(&self.context.extensions, ask).await?;
        document.map_err(|refused| Failure::of_answer(&refused))
    }

    /// The same, and reads JSON.
    async fn json(&self, ask: Ask) -> Result<Value, Failure> {
        read_json(&self.ask(ask).await?)
    }
}

fn read_json(answer: &Answer) -> Result<Value, Failure> {
    serde_json::from_slice(&answer.body).map_err(|_| {
        Failure::new(
            "the answer of the memory service cannot be read",
            "Tell the user: what answers may be another version than this one.",
        )
    })
}

/// The memory that a call is about.
struct Place {
    vault: VaultId,
    memory: MemoryId,
}

impl Place {
    /// A request to something of it.
    fn ask(&self, method: Method, below: &[&str]) -> Ask {
        let path = ["vaults", self.vault.as_str(), "memories", self.memory.as_str()];
        Ask::new(method, &[&path, below].concat())
    }
}

/// Every tool, in the order in which they are listed.
fn definitions() -> [Definition; 10] {
    [
        read::definition(),
        prompt::definition(),
        edit::definition(),
        write::definition(),
        update::definition(),
        record::definition(),
        handoff::definition(),
        history::definition(),
        search::definition(),
        list::definition(),
    ]
}

/// Every tool, for a client of which nothing is fixed.
fn all() -> &'static [Tool] {
    static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
    TOOLS.get_or_init(|| definitions().into_iter().map(Definition::tool).collect())
}

/// Every tool, as a client is shown it.
pub(super) fn list(fixed: &Fixed) -> Vec<Tool> {
    let is_fixed = |name: &Value| match name.as_str() {
        Some("vault") => fixed.vault.is_some(),
        Some("memory") => fixed.memory.is_some(),
        _ => false,
    };
    let mut tools = all().to_vec();
    if fixed.vault.is_some() || fixed.memory.is_some() {
        for tool in &mut tools {
            let schema = Arc::make_mut(&mut tool.input_schema);
            if let Some(Value::Array(required)) = schema.get_mut("required") {
                required.retain(|name| !is_fixed(name));
            }
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
        read::NAME => read::call(call, arguments).await,
        prompt::NAME => prompt::call(call, arguments).await,
        edit::NAME => edit::call(call, arguments).await,
        write::NAME => write::call(call, arguments).await,
        update::NAME => Box::pin(update::call(call, arguments)).await,
        record::NAME => record::call(call, arguments).await,
        handoff::NAME => handoff::call(call, arguments).await,
        history::NAME => history::call(call, arguments).await,
        search::NAME => search::call(call, arguments).await,
        list::NAME => list::call(call, arguments).await,
        _ => return None,
    };
    Some(match done {
        Ok(done) => done.into_result(),
        Err(failure) => failure.into_result(),
    })
}

/// The result of a call of a tool that there is not: told as a failure of a tool, so that the model reads it and can
/// choose another.
pub(super) fn unknown(name: &str) -> CallToolResult {
    let names: Vec<_> = all().iter().map(|tool| &*tool.name).collect();
    let failure = Failure::new(
        format!("there is no tool {name:.100}"),
        format!("Call one of: {}.", names.join(", ")),
    );
    failure.into_result()
}

/// The result of a call whose arguments are no object.
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

impl Done {
    fn into_result(self) -> CallToolResult {
        let Self { structured, text } = self;
        let content = match text {
            None => vec![ContentBlock::text(structured.to_string())],
            Some((text, left_out)) => {
                let mut rest = JsonObject::new();
                for (name, value) in structured.as_object().into_iter().flatten() {
                    if !left_out.contains(&name.as_str()) {
                        rest.insert(name.clone(), value.clone());
                    }
                }
                vec![
                    ContentBlock::text(text),
                    ContentBlock::text(Value::Object(rest).to_string()),
                ]
            }
        };
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(structured);
        result
    }
}

impl Definition {
    fn tool(self) -> Tool {
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

fn string(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// A text that may be null.
fn text_or_null() -> Value {
    json!({ "type": ["string", "null"] })
}

/// The arguments of a page.
fn cursor() -> Value {
    string("next_cursor of the page before, to get the page behind it; leave out for the first.")
}

/// A page of a list.
fn page(items: &str) -> Value {
    json!({
        "items": { "type": "array", "description": items, "items": { "type": "object" } },
        "next_cursor": { "type": ["string", "null"], "description": "Send it as cursor for the next page; null on the last." },
    })
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
            for (argument, schema) in tool.input_schema["properties"].as_object().unwrap() {
                assert!(
                    schema["description"].is_string(),
                    "{name}.{argument} says nothing"
                );
            }
        }
    }

    #[test]
    fn what_is_fixed_need_not_be_given() {
        let fixed = Fixed {
            vault: Some("v".parse().unwrap()),
            memory: None,
        };
        for tool in list(&fixed) {
            let required = tool.input_schema["required"].as_array().unwrap();
            assert!(!required.contains(&json!("vault")), "{}", tool.name);
        }
        let open = list(&Fixed::default());
        assert!(open.iter().all(|tool| {
            tool.input_schema["required"]
                .as_array()
                .unwrap()
                .contains(&json!("vault"))
        }));
        assert_eq!(open.len(), 10);
    }
}
