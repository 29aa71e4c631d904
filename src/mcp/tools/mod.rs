//! The tools: one file each, with its definition and the request that it makes.

mod call;
mod definition;
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

use super::backend::Backend;
use super::failure::Failure;
use super::fixed::Fixed;
pub(super) use call::Call;
use definition::Definition;
use rmcp::model::{CallToolResult, JsonObject, Tool};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
    fn a_fixed_argument_may_be_omitted() {
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
