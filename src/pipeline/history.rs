//! Converts messages in the forms of OpenAI's and Anthropic's APIs to plain text messages.
//!
//! Only members with content are read: `role`, `content` (null, a text or a list of parts), `tool_calls`,
//! `function_call` and `refusal`. Other members, such as `id`, `usage` or `cache_control`, are ignored, so that a
//! client can send its history unchanged. A tool result inside a message becomes a separate message with the role
//! `tool`: the output of a tool must not be read as the words of the message's author.

mod invalid;
mod part;

pub use invalid::InvalidMessage;

use crate::llm::ConversationMessage;
use invalid::refuse_nul;
use part::{Part, call};
use serde_json::{Map, Value};

/// The role of tool results.
const TOOL: &str = "tool";

/// Converts a conversation, oldest message first, in linear time.
///
/// # Errors
/// The first invalid message or part, with its path.
pub fn read(messages: &[Value]) -> Result<Vec<ConversationMessage>, InvalidMessage> {
    let mut read = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        read_message(&format!("messages[{index}]"), message, &mut read)?;
    }
    Ok(read)
}

fn read_message(
    at: &str,
    message: &Value,
    read: &mut Vec<ConversationMessage>,
) -> Result<(), InvalidMessage> {
    let Value::Object(members) = message else {
        return Err(InvalidMessage::new(at, "must be an object with role and content"));
    };
    let role = role(at, members)?;
    let mut reader = MessageReader {
        role,
        text: String::new(),
        says_something: false,
        read,
    };
    let has_calls = ["tool_calls", "function_call", "refusal"]
        .iter()
        .any(|name| members.get(*name).is_some_and(|value| !value.is_null()));
    let is_silent;
    match members.get("content") {
        None if has_calls => is_silent = true,
        None => {
            let problem = "missing field `content`; only a message with tool_calls may omit it";
            return Err(InvalidMessage::new(at, problem));
        }
        Some(Value::Null) => is_silent = has_calls,
        Some(Value::String(text)) => {
            refuse_nul(&format!("{at}.content"), text)?;
            is_silent = text.is_empty() && has_calls;
            reader.say(text);
        }
        Some(Value::Array(parts)) => {
            is_silent = !parts.is_empty();
            for (index, part) in parts.iter().enumerate() {
                match part::read(&format!("{at}.content[{index}]"), part)? {
                    Part::Text(text) => reader.say(&text),
                    Part::Result(text) => reader.result(text),
                    Part::LeftOut => {}
                }
            }
        }
        Some(_) => {
            let field = format!("{at}.content");
            return Err(InvalidMessage::new(
                field,
                "must be a text, a list of parts or null",
            ));
        }
    }
    if let Some(Value::String(refusal)) = members.get("refusal") {
        refuse_nul(&format!("{at}.refusal"), refusal)?;
        reader.say(refusal);
    }
    read_calls(at, members, &mut reader)?;
    reader.finish(is_silent);
    Ok(())
}

/// Reads the tool calls of an assistant, in OpenAI's current form and in the older `function_call`.
fn read_calls(
    at: &str,
    members: &Map<String, Value>,
    reader: &mut MessageReader<'_>,
) -> Result<(), InvalidMessage> {
    match members.get("tool_calls") {
        None | Some(Value::Null) => {}
        Some(Value::Array(calls)) => {
            for (index, called) in calls.iter().enumerate() {
                reader.say(&tool_call(&format!("{at}.tool_calls[{index}]"), called)?);
            }
        }
        Some(_) => {
            let field = format!("{at}.tool_calls");
            return Err(InvalidMessage::new(field, "must be a list or null"));
        }
    }
    match members.get("function_call") {
        None | Some(Value::Null) => {}
        Some(called) => reader.say(&call(&format!("{at}.function_call"), called, "arguments")?),
    }
    Ok(())
}

fn tool_call(at: &str, called: &Value) -> Result<String, InvalidMessage> {
    let kind = match called.get("type") {
        None | Some(Value::Null) => "function",
        Some(Value::String(kind)) => kind,
        Some(_) => return Err(InvalidMessage::new(format!("{at}.type"), "must be a text")),
    };
    let input = match kind {
        "function" => "arguments",
        "custom" => "input",
        other => {
            let problem =
                format!("{other:.64?} is not a known type of tool call; known are function and custom");
            return Err(InvalidMessage::new(format!("{at}.type"), problem));
        }
    };
    match called.get(kind) {
        Some(inner) => call(&format!("{at}.{kind}"), inner, input),
        None => Err(InvalidMessage::new(at, format!("missing field `{kind}`"))),
    }
}

fn role<'m>(at: &str, members: &'m Map<String, Value>) -> Result<&'m str, InvalidMessage> {
    let field = format!("{at}.role");
    match members.get("role") {
        None => Err(InvalidMessage::new(at, "missing field `role`")),
        Some(Value::String(role)) if role.trim().is_empty() => {
            Err(InvalidMessage::new(field, "must not be blank"))
        }
        Some(Value::String(role)) => {
            refuse_nul(&field, role)?;
            Ok(role)
        }
        Some(_) => Err(InvalidMessage::new(field, "must be a text")),
    }
}

/// One message while it is read. It is split where a tool result begins.
struct MessageReader<'r> {
    role: &'r str,
    text: String,
    says_something: bool,
    read: &'r mut Vec<ConversationMessage>,
}

impl MessageReader<'_> {
    /// Appends a piece on its own line.
    fn say(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(piece);
    }

    fn result(&mut self, content: String) {
        self.end();
        self.says_something = true;
        self.read.push(ConversationMessage {
            role: TOOL.to_owned(),
            content,
        });
    }

    fn end(&mut self) {
        if !self.text.is_empty() {
            self.says_something = true;
            self.read.push(ConversationMessage {
                role: self.role.to_owned(),
                content: std::mem::take(&mut self.text),
            });
        }
    }

    /// Ends the message. An empty message is kept, unless all of its parts were omitted (`is_silent`).
    fn finish(mut self, is_silent: bool) {
        self.end();
        if !self.says_something && !is_silent {
            self.read.push(ConversationMessage {
                role: self.role.to_owned(),
                content: String::new(),
            });
        }
    }
}

#[cfg(test)]
mod tests;
