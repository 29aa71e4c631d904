//! The messages of a session, read from the transcripts of hosts: Claude Code, Codex, Cursor.
//!
//! The formats are the hosts' own and change. Unknown lines are ignored, and all sizes are limited.

use crate::cli::client::whole_pairs;
use serde_json::{Value, json};

/// The maximum size of the messages of one update as JSON, in bytes; of more, the newest.
const MOST_BYTES: usize = 768 * 1024;

/// The maximum number of messages of one update.
const MOST_MESSAGES: usize = 2_000;

/// The maximum size of a text, and of a tool's arguments or result, in bytes.
const MOST_OF_TEXT: usize = 16 * 1024;
const MOST_OF_TOOL: usize = 2 * 1024;

/// The maximum number of brackets in a tool's arguments: no service reads JSON that is nested deeper than 128.
const MOST_NESTED: usize = 100;

/// The maximum size of the request that names a session, in bytes.
const MOST_OF_REQUEST: usize = 300;

/// The content of a part of a transcript.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The messages, oldest first, in the format of `/update`.
    pub(super) messages: Vec<Value>,
    /// The number of older messages, for which there is no room.
    pub(super) skipped: usize,
    /// The user's first request, in one line.
    pub(super) request: Option<String>,
}

/// Parses these lines. Where there is too much, the newest counts.
pub(super) fn parse(lines: &[u8]) -> Conversation {
    let lines = lines.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| read(line).ok());
    let mut all: Vec<Value> = lines.flat_map(|line| messages_of(&line)).collect();
    let request = all.iter().find_map(request_of);
    let mut room = MOST_BYTES;
    let newest = all.iter().rev().take(MOST_MESSAGES).take_while(|message| {
        let size = message.to_string().len() + 1;
        room = room.saturating_sub(size);
        room > 0
    });
    let skipped = all.len() - newest.count();
    Conversation {
        messages: all.split_off(skipped),
        skipped,
        request,
    }
}

/// A line as JSON.
fn read(line: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(line).or_else(|_| serde_json::from_slice(&whole_pairs(line)))
}

/// A member that is a text; empty without one.
fn member<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// The messages of one line.
fn messages_of(line: &Value) -> Vec<Value> {
    // Of Claude Code: messages between subagents, generated texts, and summaries.
    let inserted = ["isSidechain", "isMeta", "isCompactSummary"];
    if inserted.iter().any(|name| line[*name] == true) {
        return Vec::new();
    }
    let kind = line["type"].as_str();
    // Codex stores items of OpenAI's responses.
    if let (Some("response_item"), Some(item)) = (kind, line.get("payload")) {
        return match member(item, "type") {
            "message" => spoken(member(item, "role"), &item["content"]),
            "function_call" | "custom_tool_call" => {
                let input = item.get("arguments").unwrap_or(&item["input"]);
                vec![json!({ "role": "assistant", "content": [call(member(item, "name"), input)] })]
            }
            "function_call_output" | "custom_tool_call_output" => vec![result(&item["output"])],
            _ => Vec::new(),
        };
    }
    // Claude Code stores much more than messages, such as its requests. Cursor has no kinds.
    if !matches!(kind, None | Some("user" | "assistant" | "message")) {
        return Vec::new();
    }
    let message = line.get("message").filter(|message| message.is_object());
    let message = message.unwrap_or(line);
    let role = match member(message, "role") {
        "" => member(line, "role"),
        role => role,
    };
    spoken(role, &message["content"])
}

/// The messages of a user's or assistant's entry: its texts and calls in one, each result of a tool in its own.
fn spoken(role: &str, content: &Value) -> Vec<Value> {
    if !["user", "assistant"].contains(&role) {
        return Vec::new();
    }
    let (mut parts, mut messages) = (Vec::new(), Vec::new());
    if let Value::String(text) = content {
        parts.extend(text_part(text));
    }
    for block in content.as_array().into_iter().flatten() {
        match member(block, "type") {
            "text" | "input_text" | "output_text" => parts.extend(text_part(member(block, "text"))),
            "tool_use" => parts.push(call(member(block, "name"), &block["input"])),
            "tool_result" => messages.push(result(&block["content"])),
            "image" | "input_image" => parts.push(json!({ "type": "text", "text": "[image]" })),
            _ => {}
        }
    }
    if !parts.is_empty() {
        messages.push(json!({ "role": role, "content": parts }));
    }
    messages
}

/// A user's or assistant's text; `None` for what a host inserted.
fn text_part(text: &str) -> Option<Value> {
    let mut text = text.to_owned();
    for tag in OF_HOSTS {
        text = without(&text, &format!("<{tag}>"), &format!("</{tag}>"));
    }
    let text = cut(text.trim(), MOST_OF_TEXT);
    // Codex sends the project's instructions as a user's message.
    let is_written = !text.trim().is_empty() && !text.starts_with("# AGENTS.md");
    is_written.then(|| json!({ "type": "text", "text": text }))
}

/// A call of a tool, with its arguments or their beginning.
fn call(tool: &str, input: &Value) -> Value {
    let name = Some(cut(tool, 128)).filter(|name| !name.trim().is_empty());
    let text = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
    let input = match input {
        Value::Object(_)
            if text.len() <= MOST_OF_TOOL
                && !text.contains("\\u0000")
                && text.matches(['{', '[']).count() <= MOST_NESTED =>
        {
            input.clone()
        }
        _ => json!({ "input": cut(&text, MOST_OF_TOOL) }),
    };
    json!({ "type": "tool_use", "name": name.as_deref().unwrap_or("tool"), "input": input })
}

fn result(content: &Value) -> Value {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    };
    json!({ "role": "tool", "content": cut(&text, MOST_OF_TOOL) })
}

/// The beginning of a text, without NUL, which no service accepts.
fn cut(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    let mut kept = text[..end].replace('\0', "");
    if end < text.len() {
        kept.push('…');
    }
    kept
}

/// Elements that hosts insert into a user's text.
const OF_HOSTS: [&str; 8] = [
    "system-reminder",
    "environment_context",
    "user_instructions",
    "local-command-stdout",
    "local-command-caveat",
    "command-name",
    "command-message",
    "command-args",
];

/// The text without the parts between these delimiters. An opening delimiter that is not closed is ordinary text.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        let Some((_, after)) = after.split_once(close) else {
            break;
        };
        kept.push_str(before);
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The first line of a user's request.
fn request_of(message: &Value) -> Option<String> {
    if message.get("role")? != "user" {
        return None;
    }
    let text = message.get("content")?.get(0)?.get("text")?.as_str()?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(cut(line, MOST_OF_REQUEST))
}

#[cfg(test)]
mod tests;
