//! The models that write updates: one trait, its implementations, and the retry policy.
//!
//! A [`Model`] converts a [`Request`] to text of the update DSL (DESIGN §2). [`openai`] and [`anthropic`]
//! call a server. [`RoleModel::ask`] retries until an attempt succeeds or the retry policy is exhausted.
//! [`models::Models`] holds the configured model of each role; a role without one is answered by [`rules::operations`].

pub mod anthropic;
mod delivery;
pub mod embeddings;
mod endpoint;
mod error;
pub mod history;
pub mod models;
pub mod openai;
pub mod retry;
pub mod rules;
#[cfg(test)]
mod stub;

use std::sync::Arc;

use async_trait::async_trait;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::IntoStaticStr;

use crate::config::llm::Constrain;
use crate::domain::operation::Role;

pub use delivery::Delivery;
pub(crate) use endpoint::read_at_most;
pub use endpoint::{Client, SetUpError};
pub use error::ModelError;
pub use models::{ModelOutcome, Models, RoleModel};
pub use retry::Retry;

/// The author of a message in the conversation with the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ChatRole {
    /// The service.
    User,
    /// The model, in an earlier answer.
    Assistant,
}

/// One message of the conversation with the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// The author.
    pub speaker: ChatRole,
    /// The text.
    pub text: String,
}

impl ChatMessage {
    /// The message in the form of all servers. They reject empty messages, and the conversation of a repair request may
    /// contain an empty answer.
    fn json(&self) -> Value {
        let role: &str = self.speaker.into();
        let text = match self.text.trim().is_empty() {
            true => "(empty)",
            false => self.text.as_str(),
        };
        json!({ "role": role, "content": text })
    }
}

/// One of the caller's messages. It is data, never instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationMessage {
    /// The role given by the caller: `user`, `assistant`, `tool`, `system`, or any other.
    pub role: String,
    /// The text.
    pub content: String,
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The requested section; `None` for a handoff.
    pub role: Option<Role>,
    /// The constant instructions, which a provider can cache.
    pub system: Arc<str>,
    /// The conversation; the first and the last message are from the service.
    pub messages: Vec<ChatMessage>,
    /// The JSON schema that the answer must match, for models that support it ([`Model::constrains`]).
    pub schema: Option<Arc<Value>>,
}

impl Request {
    /// What is requested, for logs and metrics: the name of a role, or `handoff`.
    #[must_use]
    pub fn subject(&self) -> &'static str {
        self.role.map_or("handoff", Role::name)
    }
}

/// The answer of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The text; may be empty.
    pub text: String,
    /// Number of input tokens including cached ones, if the server reports it.
    pub input_tokens: Option<u64>,
    /// Number of input tokens read from the provider's cache, if the server reports it.
    pub cached_tokens: Option<u64>,
    /// Number of input tokens written to the provider's cache, if the server reports it.
    pub cache_write_tokens: Option<u64>,
    /// Number of output tokens, if the server reports it.
    pub output_tokens: Option<u64>,
    /// Whether a token limit or a filter ended the answer, so that the text is incomplete.
    pub stopped_at_limit: bool,
}

/// A model. One call makes one attempt; [`RoleModel::ask`] retries.
#[async_trait]
pub trait Model: Send + Sync {
    /// The name in responses and logs.
    fn name(&self) -> &str;

    /// How the model can be constrained to a format.
    fn constrains(&self) -> Constrain {
        Constrain::Off
    }

    /// Makes one attempt. Dropping the future cancels it.
    ///
    /// # Errors
    ///
    /// Why the attempt failed.
    async fn complete(&self, request: &Request) -> Result<Answer, ModelError>;
}
