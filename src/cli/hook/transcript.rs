//! The messages of a session, read from the transcripts of hosts: Claude Code, Codex, Cursor.
//!
//! The formats are the hosts' own and change. Unknown lines are ignored, and all sizes are limited.

use serde_json::{Value, json};
use std::cell::Cell;

/// The maximum size of the messages of one update as JSON, in bytes; of more, the newest.
const MOST_BYTES: usize = 768 * 1024;

/// The maximum number of messages of one update.
const MOST_MESSAGES: usize = 2_000;

/// The maximum size of a text, and of a tool's arguments or result, in bytes.
const MOST_OF_TEXT: usize = 16 * 1024;
const MOST_OF_TOOL: usize = 2 * 1024;

/// The maximum size of the request that names a session, in bytes.
const MOST_OF_REQUEST: usize = 300;

/// The content of a part of a transcript.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The messages, oldest first, in the format of `/update`.
    pub(super) messages: Vec<Value>,
    /// The user's first request, in one line.
    pub(super) request: Option<String>,
    /// What is not in the messages.
    pub(super) lost: Lost,
}

/// How much of a transcript is not sent.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost {
    /// Lines that are no JSON.
    pub(super) unreadable_lines: usize,
    /// Messages older than those that one update takes.
    pub(super) older_messages: usize,
    /// Texts, arguments and results of which only the beginning is sent.
    pub(super) cut_texts: usize,
}

/// Parses these lines. Where there is too much, the newest counts.
pub(super) fn parse(lines: &[u8]) -> Conversation {
    let cuts = Cuts::default();
    let mut lost = Lost::default();
    let mut all: Vec<(Value, usize)> = Vec::new();
    for line in lines
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
    {
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            lost.unreadable_lines += 1;
            continue;
        };
        for message in cuts.messages_of(&line) {
            all.push((message, cuts.0.take()));
        }
    }
    let request = all.iter().find_map(|(message, _)| request_of(message));
    let mut room = MOST_BYTES;
    let newest = all.iter().rev().take(MOST_MESSAGES).take_while(|(message, _)| {
        let size = message.to_string().len() + 1;
        room = room.saturating_sub(size);
        room > 0
    });
    lost.older_messages = all.len() - newest.count();
    let newest = all.split_off(lost.older_messages);
    lost.cut_texts = newest.iter().map(|(_, cut)| cut).sum();
    let messages = newest.into_iter().map(|(message, _)| message).collect();
    Conversation {
        messages,
        request,
        lost,
    }
}

/// Reads lines, and counts the texts that were cut.
#[derive(Debug, Default)]
struct Cuts(Cell<usize>);

impl Cuts {
    /// The messages of one line.
    fn messages_of(&self, line: &Value) -> Vec<Value> {
        let text = |value: &Value, name: &str| {
            value
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let is = |name: &str| line.get(name) == Some(&Value::Bool(true));
        // Of Claude Code: messages between subagents, generated texts, and summaries.
        if is("isSidechain") || is("isMeta") || is("isCompactSummary") {
            return Vec::new();
        }
        let kind = line.get("type").and_then(Value::as_str);
        // Codex stores items of OpenAI's responses.
        if let (Some("response_item"), Some(item)) = (kind, line.get("payload")) {
            return match item.get("type").and_then(Value::as_str) {
                Some("message") => self.spoken(&text(item, "role"), item.get("content")),
                Some("function_call" | "custom_tool_call") => {
                    let input = item.get("arguments").or_else(|| item.get("input"));
                    vec![self.call(&text(item, "name"), input.unwrap_or(&Value::Null))]
                }
                Some("function_call_output" | "custom_tool_call_output") => {
                    vec![self.result(item.get("output"))]
                }
                _ => Vec::new(),
            };
        }
        // Claude Code stores much more than messages, such as its requests. Cursor has no kinds.
        if !matches!(kind, None | Some("user" | "assistant" | "message")) {
            return Vec::new();
        }
        let message = line
            .get("message")
            .filter(|message| message.is_object())
            .unwrap_or(line);
        let role = [message, line]
            .map(|part| text(part, "role"))
            .into_iter()
            .find(|role| !role.is_empty());
        self.spoken(&role.unwrap_or_default(), message.get("content"))
    }

    /// The messages of a user's or assistant's entry: its texts and calls in one, each result of a tool in its own.
    fn spoken(&self, role: &str, content: Option<&Value>) -> Vec<Value> {
        if !["user", "assistant"].contains(&role) {
            return Vec::new();
        }
        let mut parts = Vec::new();
        let mut messages = Vec::new();
        match content {
            Some(Value::String(text)) => parts.extend(self.text_part(text)),
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
                    match text("type") {
                        "text" | "input_text" | "output_text" => parts.extend(self.text_part(text("text"))),
                        "tool_use" => {
                            let input = block.get("input").unwrap_or(&Value::Null);
                            parts.push(json!({ "type": "tool_use", "name": self.name(text("name")), "input": self.bounded(input) }));
                        }
                        "tool_result" => messages.push(self.result(block.get("content"))),
                        "image" | "input_image" => parts.push(json!({ "type": "text", "text": "[image]" })),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        if !parts.is_empty() {
            messages.push(json!({ "role": role, "content": parts }));
        }
        messages
    }

    /// A user's or assistant's text; `None` for what a host inserted.
    fn text_part(&self, text: &str) -> Option<Value> {
        let mut text = text.to_owned();
        for tag in OF_HOSTS {
            text = without(&text, &format!("<{tag}>"), &format!("</{tag}>"));
        }
        let text = self.cut(text.trim(), MOST_OF_TEXT);
        // Codex sends the project's instructions as a user's message.
        let is_written = !text.trim().is_empty() && !text.starts_with("# AGENTS.md");
        is_written.then(|| json!({ "type": "text", "text": text }))
    }

    fn call(&self, tool: &str, input: &Value) -> Value {
        let part = json!({ "type": "tool_use", "name": self.name(tool), "input": self.bounded(input) });
        json!({ "role": "assistant", "content": [part] })
    }

    fn name(&self, tool: &str) -> String {
        let name = self.cut(tool, 128);
        if name.trim().is_empty() {
            "tool".to_owned()
        } else {
            name
        }
    }

    /// A tool's arguments, or their beginning.
    fn bounded(&self, input: &Value) -> Value {
        let text = input.to_string();
        match input {
            Value::Object(_) if text.len() <= MOST_OF_TOOL && !text.contains("\\u0000") => input.clone(),
            Value::String(text) => json!({ "input": self.cut(text, MOST_OF_TOOL) }),
            _ => json!({ "input": self.cut(&text, MOST_OF_TOOL) }),
        }
    }

    fn result(&self, content: Option<&Value>) -> Value {
        let text = match content {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(blocks)) => {
                let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            Some(other) => other.to_string(),
            None => String::new(),
        };
        json!({ "role": "tool", "content": self.cut(&text, MOST_OF_TOOL) })
    }

    /// The beginning of a text, without NUL, which no service accepts.
    fn cut(&self, text: &str, most: usize) -> String {
        let end = text.floor_char_boundary(most);
        let mut kept = text[..end].replace('\0', "");
        if end < text.len() {
            kept.push('…');
            self.0.update(|cut| cut + 1);
        }
        kept
    }
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
    Some(Cuts::default().cut(line, MOST_OF_REQUEST))
}

#[cfg(test)]
mod tests;
