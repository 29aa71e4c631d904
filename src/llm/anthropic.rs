//! Client of Anthropic's Messages API.

use async_trait::async_trait;
use reqwest::Url;
use serde_json::{Value, json};

use super::endpoint::{Client, Endpoint, MAX_RESPONSE_BYTES, below};
use super::openai::{told_tokens, without_thoughts};
use super::{Answer, ChatMessage, Model, ModelError, Request};
use crate::config::llm::RoleSettings;

/// The version of the API.
const API_VERSION: &str = "2023-06-01";

/// A model served by Anthropic's API or a compatible gateway.
#[derive(Debug)]
pub struct Anthropic {
    endpoint: Endpoint,
    settings: RoleSettings,
}

impl Anthropic {
    /// Creates a model from settings; `base_url` may include `/v1` or not.
    #[must_use]
    pub fn new(client: Client, base_url: &Url, settings: RoleSettings) -> Self {
        let versioned = base_url.path().trim_end_matches('/').ends_with("/v1");
        let segments: &[&str] = match versioned {
            true => &["messages"],
            false => &["v1", "messages"],
        };
        let endpoint = Endpoint::new(client, below(base_url, segments), MAX_RESPONSE_BYTES)
            .with_header("anthropic-version", API_VERSION)
            .with_key("x-api-key", "", settings.api_key.clone());
        Self { endpoint, settings }
    }

    /// The instructions are constant, so they are marked for the provider's prompt cache.
    fn body(&self, request: &Request) -> Value {
        let turns = request.messages.iter().map(ChatMessage::json);
        let mut body = json!({
            "model": self.settings.model,
            "max_tokens": self.settings.max_output_tokens,
            "messages": turns.collect::<Vec<_>>(),
        });
        if !request.system.trim().is_empty() {
            body["system"] =
                json!([{"type": "text", "text": &*request.system, "cache_control": {"type": "ephemeral"}}]);
        }
        if let Some(temperature) = self.settings.temperature {
            body["temperature"] = json!(temperature);
        }
        body
    }
}

#[async_trait]
impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.settings.model
    }

    async fn complete(&self, request: &Request) -> Result<Answer, ModelError> {
        let answer = self.endpoint.post(&self.body(request)).await?;
        read_answer(&answer, &self.endpoint)
    }
}

fn read_answer(body: &Value, endpoint: &Endpoint) -> Result<Answer, ModelError> {
    let text = match body.get("content") {
        Some(Value::Array(blocks)) => blocks.iter().filter_map(block_text).collect(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) => String::new(),
        _ => {
            return Err(match body.get("error") {
                Some(error) if !error.is_null() => endpoint.error_object(error),
                _ => ModelError::bad_answer("no content"),
            });
        }
    };
    let tokens = |name: &str| told_tokens(body["usage"][name].as_u64());
    let (read, written) = (
        tokens("cache_read_input_tokens"),
        tokens("cache_creation_input_tokens"),
    );
    // The provider counts cache reads and writes separately from the rest of the input.
    let cached = [read, written].into_iter().flatten();
    let input = tokens("input_tokens").map(|fresh| cached.fold(fresh, u64::saturating_add));
    Ok(Answer {
        // Gateways to other models pass their thoughts on.
        text: without_thoughts(text),
        input_tokens: told_tokens(input),
        cached_tokens: read,
        cache_write_tokens: written,
        output_tokens: tokens("output_tokens"),
        stopped_at_limit: matches!(
            body["stop_reason"].as_str(),
            Some("max_tokens" | "model_context_window_exceeded" | "refusal")
        ),
    })
}

/// The text of a block; blocks of other kinds (thinking, tool calls) have none.
fn block_text(block: &Value) -> Option<&str> {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or("text");
    if kind == "text" {
        block.get("text").and_then(Value::as_str)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
