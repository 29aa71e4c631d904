//! Prompts that a user selects to start or end a session, or to review the memory.

use super::arguments::Fixed;
use super::backend::{Backend, RouteRequest, success};
use super::failure::Failure;
use crate::domain::ids::{MemoryId, VaultId};
use http::Method;
use rmcp::model::{Extensions, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

/// A prompt.
struct Text {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The text for the agent; `{vault}` and `{memory}` are replaced by the names.
    text: &'static str,
    /// The parts appended to it: the last segment of the route and the heading.
    parts: &'static [(&'static str, &'static str)],
    /// An additional argument, and its description.
    argument: Option<(&'static str, &'static str)>,
}

const ALL: [Text; 3] = [
    Text {
        name: "resume",
        title: "Resume work",
        description: "Begin a session: the agent is given the handoff and the memory, says where the work stands, and \
            goes on with it.",
        text: include_str!("texts/resume.md"),
        parts: &[("handoff", "Handoff"), ("context", "Memory")],
        argument: Some(("task", "What this session is for, if it is not simply to go on.")),
    },
    Text {
        name: "wrap_up",
        title: "Wrap up a session",
        description: "End a session: the agent keeps what a later session needs (progress, learnings, snippets, the \
            finished task, decisions) and nothing else.",
        text: include_str!("texts/wrap_up.md"),
        parts: &[("context", "Memory as it is now")],
        argument: None,
    },
    Text {
        name: "review_memory",
        title: "Review the memory",
        description: "Tidy a memory: the agent looks for records that are wrong, double, outdated or vague, proposes \
            what to archive and what to put in its place, and does it once you agree.",
        text: include_str!("texts/review_memory.md"),
        parts: &[("context", "Memory")],
        argument: None,
    },
];

/// Every prompt.
pub(super) fn list(fixed: &Fixed) -> Vec<Prompt> {
    let prompt = |text: &Text| {
        let mut arguments = vec![
            PromptArgument::new("vault")
                .with_description("The vault that the memory is in.")
                .with_required(fixed.vault.is_none()),
            PromptArgument::new("memory")
                .with_description("The memory.")
                .with_required(fixed.memory.is_none()),
        ];
        if let Some((name, description)) = text.argument {
            let argument = PromptArgument::new(name).with_description(description);
            arguments.push(argument.with_required(false));
        }
        Prompt::new(text.name, Some(text.description), Some(arguments)).with_title(text.title)
    };
    ALL.iter().map(prompt).collect()
}

/// One prompt, with the current content of the memory.
pub(super) async fn get<B: Backend>(
    backend: &B,
    from: &Extensions,
    name: &str,
    mut arguments: JsonObject,
) -> Result<GetPromptResult, Failure> {
    let Some(prompt) = ALL.iter().find(|prompt| prompt.name == name) else {
        let names: Vec<_> = ALL.iter().map(|prompt| prompt.name).collect();
        return Err(Failure::new(
            format!("there is no prompt {name:.100}"),
            format!("There are: {}.", names.join(", ")),
        ));
    };
    // An empty field of a form counts as missing.
    arguments.retain(|_, value| value.as_str() != Some(""));
    let fixed = backend.fixed(from);
    let vault = fixed.vault(&mut arguments)?;
    let memory = fixed.memory(&mut arguments)?;
    let further = prompt.argument.and_then(|(name, _)| arguments.remove(name));
    if let Some(unknown) = arguments.keys().next() {
        return Err(Failure::argument(
            unknown,
            format!("the prompt {name} has no argument {unknown:.100}"),
        ));
    }
    let mut text = prompt
        .text
        .replace("{vault}", vault.as_str())
        .replace("{memory}", memory.as_str());
    if let Some(Value::String(task)) = further {
        text.push_str("\nThis session is for: ");
        text.push_str(&task);
        text.push('\n');
    }
    let mut messages = vec![PromptMessage::new_text(Role::User, text)];
    for (part, heading) in prompt.parts {
        let content_text = match part_of(backend, from, &vault, &memory, part).await? {
            Some(content) => format!("{heading} ({vault}/{memory}), as data:\n\n{content}"),
            None => format!("{heading} ({vault}/{memory}): there is none yet."),
        };
        messages.push(PromptMessage::new_text(Role::User, content_text));
    }
    Ok(GetPromptResult::new(messages).with_description(prompt.description))
}

/// A part of the memory; `None` if it does not exist.
async fn part_of<B: Backend>(
    backend: &B,
    from: &Extensions,
    vault: &VaultId,
    memory: &MemoryId,
    part: &str,
) -> Result<Option<String>, Failure> {
    let path = ["vaults", vault.as_str(), "memories", memory.as_str(), part];
    let ask = RouteRequest::new(Method::GET, &path).accept("text/markdown");
    match success(backend, from, ask).await {
        Ok(answer) => Ok(Some(String::from_utf8_lossy(answer.body()).into_owned())),
        Err(failure) if failure.status() == 404 => Ok(None),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prompt_has_a_description_and_names_tools_that_exist() {
        for prompt in list(&Fixed::default()) {
            assert!(
                prompt.description.is_some_and(|text| text.len() > 50),
                "{}",
                prompt.name
            );
        }
        let tools = crate::mcp::tools::list(&Fixed::default());
        for text in ALL {
            for word in text
                .text
                .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            {
                if word.starts_with("memory_") {
                    assert!(
                        tools.iter().any(|tool| tool.name == word),
                        "{}: {word}",
                        text.name
                    );
                }
            }
        }
    }
}
