//! The parts of a message's content. A part that is not text is replaced by a short note; its bytes are never stored.

use super::invalid::{InvalidMessage, refuse_nul};
use serde_json::{Map, Value};

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

/// The supported types of parts, for error messages.
const KNOWN: &str = "text, input_text, output_text, refusal, image, image_url, input_image, audio, input_audio, \
                     video_url, file, input_file, document, container_upload, search_result, tool_use, \
                     server_tool_use, mcp_tool_use, tool_result, mcp_tool_result, web_search_tool_result, \
                     web_fetch_tool_result, code_execution_tool_result, bash_code_execution_tool_result, \
                     text_editor_code_execution_tool_result, thinking, redacted_thinking, reasoning";

/// The result of reading a part.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text of the message's author.
    Text(String),
    /// Text of a tool result.
    Result(String),
    /// Nothing; the part is omitted.
    LeftOut,
}

/// Reads a part. A plain string is accepted too, because some libraries send one.
pub(super) fn read(at: &str, part: &Value) -> Result<Part, InvalidMessage> {
    if let Value::String(text) = part {
        refuse_nul(at, text)?;
        return Ok(Part::Text(text.clone()));
    }
    let Value::Object(members) = part else {
        return Err(InvalidMessage::new(at, "must be an object with a type"));
    };
    let kind = match members.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(_) => return Err(InvalidMessage::new(format!("{at}.type"), "must be a text")),
        None => return Err(InvalidMessage::new(at, "missing field `type`")),
    };
    let text = match kind {
        "text" | "input_text" | "output_text" => text(at, members, "text")?,
        "refusal" => text(at, members, "refusal")?,
        "image" | "image_url" | "input_image" => "[image]".to_owned(),
        "audio" | "input_audio" => "[audio]".to_owned(),
        "video" | "video_url" => "[video]".to_owned(),
        "file" | "input_file" | "document" | "container_upload" => file(members),
        "search_result" => found(at, members)?,
        "tool_use" | "server_tool_use" | "mcp_tool_use" => call(at, part, "input")?,
        "tool_result" | "mcp_tool_result" => return result(at, members),
        "web_search_tool_result"
        | "web_fetch_tool_result"
        | "code_execution_tool_result"
        | "bash_code_execution_tool_result"
        | "text_editor_code_execution_tool_result" => return Ok(Part::Result(shown(members.get("content")))),
        "thinking" | "redacted_thinking" | "reasoning" => return Ok(Part::LeftOut),
        other => {
            let problem = format!("{other:.64?} is not a known type of part; known are {KNOWN}");
            return Err(InvalidMessage::new(format!("{at}.type"), problem));
        }
    };
    Ok(Part::Text(text))
}

/// A tool call as text: `[tool call NAME] {arguments}`.
pub(super) fn call(at: &str, called: &Value, input: &str) -> Result<String, InvalidMessage> {
    let field = format!("{at}.name");
    let Some(Value::String(name)) = called.get("name") else {
        return Err(InvalidMessage::new(field, "must be a text that names the tool"));
    };
    refuse_nul(&field, name)?;
    let arguments = match called.get(input) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => {
            refuse_nul(&format!("{at}.{input}"), text)?;
            text.clone()
        }
        value => shown(value),
    };
    let call = format!("[tool call {}] {arguments}", on_one_line(name));
    Ok(call.trim_end().to_owned())
}

fn text(at: &str, members: &Map<String, Value>, name: &str) -> Result<String, InvalidMessage> {
    let field = format!("{at}.{name}");
    match members.get(name) {
        Some(Value::String(text)) => {
            refuse_nul(&field, text)?;
            Ok(text.clone())
        }
        Some(_) => Err(InvalidMessage::new(field, "must be a text")),
        None => Err(InvalidMessage::new(at, format!("missing field `{name}`"))),
    }
}

/// A tool result as text. Parts that are not text are named instead.
fn result(at: &str, members: &Map<String, Value>) -> Result<Part, InvalidMessage> {
    let mut text_of_result = String::new();
    if members.get("is_error") == Some(&Value::Bool(true)) {
        text_of_result.push_str("[error] ");
    }
    match members.get("content") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => {
            refuse_nul(&format!("{at}.content"), text)?;
            text_of_result.push_str(text);
        }
        Some(Value::Array(parts)) => text_of_result.push_str(&inner(at, parts)?),
        Some(_) => {
            let field = format!("{at}.content");
            return Err(InvalidMessage::new(field, "must be a text or a list of parts"));
        }
    }
    Ok(Part::Result(text_of_result))
}

fn found(at: &str, members: &Map<String, Value>) -> Result<String, InvalidMessage> {
    let named = ["title", "source"]
        .iter()
        .filter_map(|name| members.get(*name)?.as_str())
        .map(on_one_line);
    let head = format!("[search result {}]", named.collect::<Vec<_>>().join(" "));
    match members.get("content") {
        Some(Value::Array(parts)) => Ok(format!("{head}\n{}", inner(at, parts)?)),
        _ => Ok(head),
    }
}

/// The parts inside a part. They cannot be nested further, which bounds the recursion.
fn inner(at: &str, parts: &[Value]) -> Result<String, InvalidMessage> {
    let mut texts = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        match read(&format!("{at}.content[{index}]"), part)? {
            Part::Text(text) | Part::Result(text) => texts.push(text),
            Part::LeftOut => {}
        }
    }
    Ok(texts.join("\n"))
}

fn file(members: &Map<String, Value>) -> String {
    let of = |members: &Map<String, Value>| {
        ["title", "filename", "name"]
            .iter()
            .find_map(|name| members.get(*name)?.as_str().map(on_one_line))
    };
    let inner = || members.get("file").and_then(Value::as_object).and_then(of);
    match of(members).or_else(inner) {
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
    name.chars()
        .map(|c| {
            if c.is_control() || "[]\0".contains(c) {
                ' '
            } else {
                c
            }
        })
        .take(NAME_CHARS)
        .collect::<String>()
        .trim()
        .to_owned()
}
