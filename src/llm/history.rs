//! Converts messages in the forms of OpenAI's and Anthropic's APIs to plain text messages.
//!
//! Only members with content are read: `role`, `content` (null, a text or a list of parts), `tool_calls`,
//! `function_call` and `refusal`. Other members, such as `id`, `usage` or `cache_control`, are ignored, so that a
//! client can send its history unchanged. A tool result inside a message becomes a separate message with the role
//! `tool`: the output of a tool must not be read as the words of the message's author.

use super::ConversationMessage;
use serde_json::Value;

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
    if !message.is_object() {
        return Err(InvalidMessage::new(at, "must be an object with role and content"));
    }
    let role = needed(at, message, "role")?;
    if role.trim().is_empty() {
        return Err(InvalidMessage::new(format!("{at}.role"), "must not be blank"));
    }
    let mut parts = Vec::new();
    let has_calls = ["tool_calls", "function_call", "refusal"]
        .iter()
        .any(|name| message.get(name).is_some_and(|value| !value.is_null()));
    let is_silent = match message.get("content") {
        None if has_calls => true,
        None => {
            let problem = "missing field `content`; only a message with tool_calls may omit it";
            return Err(InvalidMessage::new(at, problem));
        }
        Some(Value::Null) => has_calls,
        Some(Value::Array(written)) => {
            for (index, part) in written.iter().enumerate() {
                parts.push(read_part(&format!("{at}.content[{index}]"), part)?);
            }
            !written.is_empty()
        }
        Some(_) => {
            let text = needed(at, message, "content")?;
            parts.push(Part::Text(text.to_owned()));
            text.is_empty() && has_calls
        }
    };
    parts.extend(text(at, message, "refusal")?.map(|text| Part::Text(text.to_owned())));
    for (index, called) in list(at, message, "tool_calls")?.iter().enumerate() {
        let called = tool_call(&format!("{at}.tool_calls[{index}]"), called)?;
        parts.push(Part::Text(called));
    }
    if let Some(called) = message.get("function_call").filter(|called| !called.is_null()) {
        let called = call(&format!("{at}.function_call"), called, "arguments")?;
        parts.push(Part::Text(called));
    }
    let said = say(role, parts, read);
    // An empty message is kept, unless all of its parts were omitted.
    if !said && !is_silent {
        read.push(said_by(role, String::new()));
    }
    Ok(())
}

/// Adds the parts of a message: texts one a line, and each tool result as a message between them. `false` if they say nothing.
fn say(role: &str, parts: Vec<Part>, read: &mut Vec<ConversationMessage>) -> bool {
    let begun = read.len();
    let mut is_text_open = false;
    for part in parts {
        match part {
            Part::Result(content) => {
                read.push(said_by(TOOL, content));
                is_text_open = false;
            }
            Part::Text(text) if text.is_empty() => {}
            Part::Text(text) => {
                match read.last_mut().filter(|_| is_text_open) {
                    Some(message) if message.content.ends_with('\n') => message.content.push_str(&text),
                    Some(message) => message.content.extend(["\n", &text]),
                    None => read.push(said_by(role, text)),
                }
                is_text_open = true;
            }
        }
    }
    read.len() > begun
}

fn said_by(role: &str, content: String) -> ConversationMessage {
    ConversationMessage {
        role: role.to_owned(),
        content,
    }
}

/// A tool call of OpenAI's current form.
fn tool_call(at: &str, called: &Value) -> Result<String, InvalidMessage> {
    let kind = text(at, called, "type")?.unwrap_or("function");
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

/// A text, if it is there and not null.
fn text<'m>(at: &str, members: &'m Value, name: &str) -> Result<Option<&'m str>, InvalidMessage> {
    let field = format!("{at}.{name}");
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            refuse_nul(&field, text)?;
            Ok(Some(text))
        }
        Some(_) => Err(InvalidMessage::new(field, "must be a text")),
    }
}

/// A text that has to be there.
fn needed<'m>(at: &str, members: &'m Value, name: &str) -> Result<&'m str, InvalidMessage> {
    text(at, members, name)?.ok_or_else(|| InvalidMessage::new(at, format!("missing field `{name}`")))
}

/// A list; empty if it is missing or null.
fn list<'m>(at: &str, members: &'m Value, name: &str) -> Result<&'m [Value], InvalidMessage> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(values)) => Ok(values),
        Some(_) => {
            let field = format!("{at}.{name}");
            Err(InvalidMessage::new(field, "must be a list or null"))
        }
    }
}

/// A message that cannot be read. The texts are safe to return to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct InvalidMessage {
    /// The path of the member: `messages[3].content[1].type`.
    pub field: String,
    /// What is wrong and what is expected.
    pub problem: String,
}

impl InvalidMessage {
    fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

/// Rejects NUL: the run is stored in PostgreSQL, whose texts cannot contain it.
fn refuse_nul(field: &str, text: &str) -> Result<(), InvalidMessage> {
    match text.find('\0') {
        Some(at) => {
            let problem = format!("contains a NUL character at byte {at}; remove it");
            Err(InvalidMessage::new(field, problem))
        }
        None => Ok(()),
    }
}

/// The maximum length of the name of a tool or file, in characters.
const NAME_CHARS: usize = 128;

/// Members that contain bytes, or data that only the provider can read.
const OPAQUE: [&str; 7] = [
    "data",
    "file_data",
    "b64_json",
    "signature",
    "encrypted_content",
    "encrypted_index",
    "encrypted_stdout",
];

/// The supported types of parts, separated by commas.
pub const KNOWN: &str = "text, input_text, output_text, refusal, image, image_url, input_image, audio, input_audio, \
                     video, video_url, file, input_file, document, container_upload, search_result, tool_use, \
                     server_tool_use, mcp_tool_use, tool_result, mcp_tool_result, web_search_tool_result, \
                     web_fetch_tool_result, code_execution_tool_result, bash_code_execution_tool_result, \
                     text_editor_code_execution_tool_result, thinking, redacted_thinking, reasoning";

/// The result of reading a part.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// Text of the message's author; empty if the part is left out.
    Text(String),
    /// Text of a tool result.
    Result(String),
}

/// Reads a part. A plain string is accepted too, because some libraries send one.
fn read_part(at: &str, part: &Value) -> Result<Part, InvalidMessage> {
    if let Value::String(text) = part {
        refuse_nul(at, text)?;
        return Ok(Part::Text(text.clone()));
    }
    if !part.is_object() {
        return Err(InvalidMessage::new(at, "must be an object with a type"));
    }
    Ok(Part::Text(match needed(at, part, "type")? {
        "text" | "input_text" | "output_text" => needed(at, part, "text")?.to_owned(),
        "refusal" => needed(at, part, "refusal")?.to_owned(),
        "image" | "image_url" | "input_image" => "[image]".to_owned(),
        "audio" | "input_audio" => "[audio]".to_owned(),
        "video" | "video_url" => "[video]".to_owned(),
        "file" | "input_file" | "document" | "container_upload" => file(part),
        "search_result" => found(at, part)?,
        "tool_use" | "server_tool_use" | "mcp_tool_use" => call(at, part, "input")?,
        "tool_result" | "mcp_tool_result" => return result(at, part).map(Part::Result),
        "web_search_tool_result"
        | "web_fetch_tool_result"
        | "code_execution_tool_result"
        | "bash_code_execution_tool_result"
        | "text_editor_code_execution_tool_result" => return Ok(Part::Result(shown(part.get("content")))),
        "thinking" | "redacted_thinking" | "reasoning" => String::new(),
        other => {
            let problem = format!("{other:.64?} is not a known type of part; known are {KNOWN}");
            return Err(InvalidMessage::new(format!("{at}.type"), problem));
        }
    }))
}

/// A tool call as text: `[tool call NAME] {arguments}`.
fn call(at: &str, called: &Value, input: &str) -> Result<String, InvalidMessage> {
    let name = text(at, called, "name")?;
    let name =
        name.ok_or_else(|| InvalidMessage::new(format!("{at}.name"), "must be a text that names the tool"))?;
    let arguments = match called.get(input) {
        Some(Value::String(_)) => needed(at, called, input)?.to_owned(),
        value => shown(value),
    };
    let call = format!("[tool call {}] {arguments}", on_one_line(name));
    Ok(call.trim_end().to_owned())
}

/// A tool result as text. Parts that are not text are named instead.
fn result(at: &str, part: &Value) -> Result<String, InvalidMessage> {
    let content = match part.get("content") {
        Some(Value::Array(parts)) => inner(at, parts)?,
        _ => text(at, part, "content")?.unwrap_or_default().to_owned(),
    };
    Ok(match part.get("is_error") {
        Some(Value::Bool(true)) => format!("[error] {content}"),
        _ => content,
    })
}

fn found(at: &str, part: &Value) -> Result<String, InvalidMessage> {
    let named = ["title", "source"]
        .iter()
        .filter_map(|name| part.get(name)?.as_str())
        .map(on_one_line);
    let head = format!("[search result {}]", named.collect::<Vec<_>>().join(" "));
    match part.get("content") {
        Some(Value::Array(parts)) => Ok(format!("{head}\n{}", inner(at, parts)?)),
        _ => Ok(head),
    }
}

/// The parts inside a part. They cannot be nested further, which bounds the recursion.
fn inner(at: &str, parts: &[Value]) -> Result<String, InvalidMessage> {
    let parts = parts.iter().enumerate().map(|(index, part)| {
        let (Part::Text(text) | Part::Result(text)) = read_part(&format!("{at}.content[{index}]"), part)?;
        Ok(text)
    });
    let mut texts: Vec<String> = parts.collect::<Result<_, _>>()?;
    texts.retain(|text| !text.is_empty());
    Ok(texts.join("\n"))
}

fn file(part: &Value) -> String {
    let name = |of: &Value| {
        ["title", "filename", "name"]
            .iter()
            .find_map(|name| of.get(name)?.as_str().map(on_one_line))
    };
    match name(part).or_else(|| part.get("file").and_then(name)) {
        Some(name) if !name.is_empty() => format!("[file {name}]"),
        _ => "[file]".to_owned(),
    }
}

/// JSON as text, without the opaque members.
fn shown(value: Option<&Value>) -> String {
    fn without_opaque(value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(without_opaque),
            Value::Object(members) => {
                members.retain(|name, value| !(value.is_string() && OPAQUE.contains(&name.as_str())));
                members.values_mut().for_each(without_opaque);
            }
            _ => {}
        }
    }
    match value.cloned() {
        None | Some(Value::Null) => String::new(),
        Some(mut value) => {
            without_opaque(&mut value);
            value.to_string()
        }
    }
}

/// A name on one line, as written inside brackets.
fn on_one_line(name: &str) -> String {
    let shown = name.replace(|c: char| c.is_control() || "[]".contains(c), " ");
    let shown: String = shown.chars().take(NAME_CHARS).collect();
    shown.trim().to_owned()
}

#[cfg(test)]
mod tests;
