//! Client of the OpenAI chat completions API and compatible servers.
//!
//! Responses are parsed leniently: unknown members are ignored; content may be a string, a list of parts or
//! null; usage may be missing. An unusable response is [`ModelError::BadAnswer`], never a panic.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use reqwest::Url;
use serde_json::{Map, Value, json};

use super::endpoint::{Client, Endpoint, MAX_RESPONSE_BYTES, below};
use crate::config::llm::{Constrain, RoleSettings};
use crate::domain::dsl::{self, structured};
use crate::domain::operation::FaultKind;

use super::{Answer, ChatMessage, Model, ModelError, Request};

/// A model served by a chat completions server.
#[derive(Debug)]
pub struct OpenAi {
    endpoint: Endpoint,
    settings: RoleSettings,
    /// OpenAI's newer models require `max_completion_tokens` and reject `max_tokens`, the only name that
    /// other servers know. The first rejection is remembered.
    newer_token_limit: AtomicBool,
}

impl OpenAi {
    /// Creates a model from settings; `base_url` is the part before `/chat/completions`.
    #[must_use]
    pub fn new(client: Client, base_url: &Url, settings: RoleSettings) -> Self {
        let url = below(base_url, &["chat", "completions"]);
        let newer = base_url.host_str() == Some("api.openai.com");
        let endpoint = Endpoint::new(client, url, MAX_RESPONSE_BYTES);
        Self {
            endpoint: endpoint.with_key("authorization", "Bearer ", settings.api_key.clone()),
            settings,
            newer_token_limit: AtomicBool::new(newer),
        }
    }

    fn body(&self, request: &Request, newer_token_limit: bool) -> Value {
        let instructions = match &request.schema {
            Some(_) => format!("{}\n{}", request.system, structured::INSTRUCTION),
            None => request.system.to_string(),
        };
        let system = json!({"role": "system", "content": instructions});
        let turns = request.messages.iter().map(ChatMessage::json);
        let messages: Vec<Value> = std::iter::once(system).chain(turns).collect();
        let limit = match newer_token_limit {
            true => "max_completion_tokens",
            false => "max_tokens",
        };
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.settings.model));
        body.insert("messages".to_owned(), Value::Array(messages));
        body.insert(limit.to_owned(), json!(self.settings.max_output_tokens));
        body.insert("stream".to_owned(), json!(false));
        if let Some(temperature) = self.settings.temperature {
            body.insert("temperature".to_owned(), json!(temperature));
        }
        if let Some(schema) = &request.schema {
            let schema = json!({ "name": request.subject(), "strict": true, "schema": &**schema });
            let format = json!({ "type": "json_schema", "json_schema": schema });
            body.insert("response_format".to_owned(), format);
        }
        Value::Object(body)
    }
}

#[async_trait]
impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.settings.model
    }

    fn constrains(&self) -> Constrain {
        self.settings.constrain
    }

    async fn complete(&self, request: &Request) -> Result<Answer, ModelError> {
        let newer = self.newer_token_limit.load(Ordering::Relaxed);
        let answer = match self.endpoint.post(&self.body(request, newer)).await {
            Err(ModelError::Status {
                code: 400, detail, ..
            }) if !newer && detail.contains("max_completion_tokens") => {
                self.newer_token_limit.store(true, Ordering::Relaxed);
                self.endpoint.post(&self.body(request, true)).await?
            }
            other => other?,
        };
        read_answer(&answer, &self.endpoint)
    }
}

fn read_answer(body: &Value, endpoint: &Endpoint) -> Result<Answer, ModelError> {
    let choice = match (body.pointer("/choices/0"), body.get("error")) {
        (Some(choice), _) => choice,
        (None, Some(error)) if !error.is_null() => return Err(endpoint.error_object(error)),
        (None, _) => return Err(ModelError::bad_answer("no choices")),
    };
    let finish_reason = choice.get("finish_reason").and_then(Value::as_str);
    if finish_reason == Some("error") {
        return Err(endpoint.error_object(choice.get("error").unwrap_or(choice)));
    }
    let message = choice.get("message").and_then(Value::as_object);
    let message = message.ok_or_else(|| ModelError::bad_answer("a choice without a message"))?;
    // A refusal is the answer: it is shown, and the model reads it when it is asked again.
    let content = message.get("content").filter(|content| !content.is_null());
    let text = content_text(content.or(message.get("refusal")))?;
    let tokens = |name: &str| told_tokens(body["usage"][name].as_u64());
    Ok(Answer {
        text: without_thoughts(text),
        input_tokens: tokens("prompt_tokens"),
        cached_tokens: told_tokens(body["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64()),
        cache_write_tokens: None,
        output_tokens: tokens("completion_tokens"),
        // The second is Mistral's word for a full context.
        stopped_at_limit: matches!(finish_reason, Some("length" | "model_length" | "content_filter")),
    })
}

/// A number of tokens that a server tells; `None` if no request can have as many.
pub(super) fn told_tokens(told: Option<u64>) -> Option<u64> {
    told.filter(|tokens| *tokens <= 1_000_000_000)
}

fn content_text(content: Option<&Value>) -> Result<String, ModelError> {
    match content {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => Ok(parts.iter().filter_map(part_text).collect()),
        Some(_) => Err(ModelError::bad_answer("content that is neither text nor parts")),
    }
}

/// The text of a part; parts of other kinds (thinking, images) have none.
fn part_text(part: &Value) -> Option<&str> {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
    let is_text = matches!(kind, "text" | "output_text");
    part.get("text").unwrap_or(part).as_str().filter(|_| is_text)
}

/// Local servers put the thoughts of a reasoning model before the answer; drafts in them must be ignored. A tag counts where
/// models write it: the opening one at the start of a line; a closing one without it, since the opening tag is part of some
/// models' templates, at the start or the end of a line or right before a header. Without a closing tag the model stopped at its
/// token limit. Tags in an answer that has begun are part of its text: no opening one counts behind a header, and no closing one
/// beside other words or in a code fence that has a header before it and none behind it. Linear.
pub(super) fn without_thoughts(text: String) -> String {
    THOUGHTS.into_iter().fold(text, |text, (open, close)| {
        let lead = text.len() - text.trim_start().len();
        let (mut kept, mut from) = (String::new(), 0);
        let begins = |at: &usize, from: usize| *at == lead || *at == from || text[..*at].ends_with('\n');
        loop {
            let mut opened = text[from..].match_indices(open).map(|(at, _)| from + at);
            let Some(at) = opened.find(|at| begins(at, from)) else {
                break;
            };
            let end = match text[at..].find(close) {
                Some(end) => at + end + close.len(),
                // Nothing but thoughts stands before it.
                None if kept.trim().is_empty() && text[from..at].trim().is_empty() => text.len(),
                None => break,
            };
            if is_answer(&text[from..at]) {
                break;
            }
            kept.push_str(&text[from..at]);
            from = end;
        }
        kept.push_str(&text[from..]);
        // A tag behind an opening one is no end of thoughts: a text quotes both.
        let until = kept.find(open).unwrap_or(kept.len());
        let begins_line = |at: usize| at == 0 || kept[..at].ends_with('\n');
        let behind = |at: usize| &kept[at + close.len()..];
        let ends_line = |at: usize| {
            let after = behind(at).trim_start_matches([' ', '\t', '\r']);
            after.is_empty() || after.starts_with('\n')
        };
        let mut closed = kept
            .match_indices(close)
            .map(|(at, _)| at)
            .take_while(|at| *at < until);
        // Only the beginning is read: a line may be full of tags.
        let is_headed = |at: usize| is_answer(&behind(at)[..behind(at).floor_char_boundary(HEADER_BYTES)]);
        let end = closed.find(|at| begins_line(*at) || ends_line(*at) || is_headed(*at));
        let end = end.filter(|at| {
            let is_fenced = kept[..*at].matches("\n```").count() % 2 == 1;
            let is_alone = begins_line(*at) && ends_line(*at) && !is_fenced;
            is_alone || is_answer(behind(*at)) || !is_answer(&kept[..*at])
        });
        let end = end.map(|at| at + close.len());
        match end {
            None if from == 0 => text,
            end => kept[end.unwrap_or(0)..].trim_start().to_owned(),
        }
    })
}

/// Whether a text has a header of the form.
fn is_answer(text: &str) -> bool {
    let faults = dsl::parse(text).faults;
    !faults.iter().any(|fault| fault.kind == FaultKind::NoSection)
}

/// A header is not longer, with what distinguishes it.
const HEADER_BYTES: usize = 30;

/// The tags around thoughts, as families of models write them.
const THOUGHTS: [(&str, &str); 5] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
];

#[cfg(test)]
mod tests;
