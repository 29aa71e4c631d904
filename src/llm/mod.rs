//! The models that write updates: one trait, three ways to answer it, and the patience around them.
//!
//! A [`Model`] turns a [`Request`] into text of the update DSL (DESIGN §2). [`openai`] and [`anthropic`] ask
//! a server, [`extractive`] answers by rules from the request's [`Source`], [`scripted`] answers as a test
//! says. [`retry::ask`] makes attempts until one succeeds or the patience of the role ends, and
//! [`models::Models`] holds what the configuration says for each role.

pub mod anthropic;
mod body;
mod delivery;
pub mod embeddings;
mod endpoint;
mod error;
pub mod extractive;
pub mod models;
mod network;
pub mod openai;
pub mod retry;
pub mod scripted;
#[cfg(test)]
mod stub;

use std::sync::Arc;

use async_trait::async_trait;

use serde_json::Value;

use crate::config::llm::Constrain;
use crate::domain::operation::Role;

pub use delivery::Delivery;
pub use endpoint::{Client, ClientError, Settings};
pub use error::ModelError;
pub use models::{Models, RoleModel};
pub use retry::{Asked, Retry};

/// Who says a turn of the conversation with the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The service.
    User,
    /// The model, in an answer it gave before.
    Assistant,
}

/// One turn of the conversation with the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Who says it.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
}

impl Turn {
    /// The text as a server takes it. Servers refuse empty turns, and a model that answered nothing is
    /// shown its answer when it is asked again.
    fn sendable_text(&self) -> &str {
        if self.text.trim().is_empty() {
            "(empty)"
        } else {
            &self.text
        }
    }
}

/// One of the caller's messages: data, never instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationMessage {
    /// As the caller names it: `user`, `assistant`, `tool`, `system`, or anything.
    pub role: String,
    /// The message's text.
    pub content: String,
}

/// What an update is made from, for an updater that reads no prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What was just done or is being done.
    pub task: String,
    /// The recent messages, oldest first.
    pub messages: Vec<ConversationMessage>,
    /// The context document; empty for a memory that has none yet.
    pub document: Arc<str>,
}

/// What an answer has to look like.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A text of this grammar, in GBNF.
    Grammar(Arc<str>),
    /// JSON of this schema, which stands for a text ([`crate::domain::dsl::structured::text`]).
    Schema(Arc<Value>),
}

/// One question to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The section that is asked for; `None` where it is no section but a handoff.
    pub role: Option<Role>,
    /// The constant instructions, the part a provider can cache.
    pub system: Arc<str>,
    /// The conversation, beginning and ending with a turn of the service.
    pub turns: Vec<Turn>,
    /// What the answer has to look like, where the model can be held to it ([`Model::constrains`]).
    pub form: Option<Form>,
    /// What the turns were made from.
    pub source: Arc<Source>,
}

impl Request {
    /// What is asked for, in a word: a role's name, or `handoff`.
    #[must_use]
    pub fn subject(&self) -> &'static str {
        self.role.map_or("handoff", Role::name)
    }
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The text; may be empty.
    pub text: String,
    /// Tokens read, cached ones included, where the server says.
    pub input_tokens: Option<u64>,
    /// Of these, tokens read from the provider's cache, where the server says.
    pub cached_tokens: Option<u64>,
    /// Of these, tokens written to the provider's cache, where the server says.
    pub cache_write_tokens: Option<u64>,
    /// Tokens written, where the server says.
    pub output_tokens: Option<u64>,
    /// Whether the model stopped at its token limit, so that the end of the text is missing.
    pub stopped_at_limit: bool,
}

/// Something that answers requests. One attempt per call; patience is [`retry::ask`]'s business.
#[async_trait]
pub trait Model: Send + Sync {
    /// The name shown in answers and logs.
    fn name(&self) -> &str;

    /// In which form it takes what an answer has to look like.
    fn constrains(&self) -> Constrain {
        Constrain::Off
    }

    /// Whether it answers by rules, without a model.
    fn is_built_in(&self) -> bool {
        false
    }

    /// Makes one attempt. Dropping the future gives the attempt up.
    ///
    /// # Errors
    /// What kept the model from answering.
    async fn complete(&self, request: &Request) -> Result<Answer, ModelError>;
}
