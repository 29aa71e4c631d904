//! The models that write updates: one trait, its implementations, and the retry policy.
//!
//! A [`Model`] converts a [`Request`] to text of the update DSL (DESIGN §2). [`openai`] and [`anthropic`]
//! call a server. [`RoleModel::ask`] retries until an attempt succeeds or the retry policy is exhausted.
//! [`Models`] holds the configured model of each role; a role without one is answered by [`rules::operations`].

pub mod anthropic;
mod delivery;
pub mod embeddings;
mod endpoint;
mod error;
pub mod history;
pub mod openai;
pub mod rules;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::IntoStaticStr;
use tokio::time::Instant;

use crate::config::llm::{Constrain, LlmConfig, Provider, RoleSettings};
use crate::domain::operation::Role;
use crate::telemetry::traces;

use anthropic::Anthropic;
pub use delivery::Delivery;
pub(crate) use endpoint::read_at_most;
use endpoint::within;
pub use endpoint::{Client, Retry, SetUpError};
pub use error::ModelError;
use openai::OpenAi;

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

/// A model and its retry policy.
#[derive(Clone)]
pub struct RoleModel {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Its retry policy.
    pub retry: Retry,
    /// Name and provider of the model, for callers: `gpt-5-mini (openai)`.
    pub name: String,
    /// The same and its address, for the log: `gpt-5-mini (openai, api.openai.com/v1)`.
    pub description: String,
}

impl RoleModel {
    /// Describes the model by its name only.
    #[must_use]
    pub fn new(model: Arc<dyn Model>, retry: Retry) -> Self {
        let description = model.name().to_owned();
        Self {
            model,
            retry,
            name: description.clone(),
            description,
        }
    }

    /// Calls the model until it answers, fails permanently, or the retry policy is exhausted.
    pub async fn ask(&self, request: &Request) -> ModelOutcome {
        let begun = Instant::now();
        let call = |number| async move {
            let call = within(self.retry.timeout, self.model.complete(request));
            let answer = traces::model_call(request.subject(), self.model.name(), number, call).await;
            if let Err(error) = &answer {
                tracing::debug!(
                    role = request.subject(),
                    model = self.description,
                    attempts = number,
                    error = %error,
                    "an attempt to ask a model failed"
                );
            }
            answer
        };
        let (result, attempts) = self.retry.run(call).await;
        ModelOutcome {
            result,
            attempts,
            elapsed: begun.elapsed(),
        }
    }
}

/// The result of calling a model with retries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelOutcome {
    /// The first successful answer, or the last failure.
    pub result: Result<Answer, ModelError>,
    /// Number of attempts, at least 1.
    pub attempts: u32,
    /// Time from the start of the first attempt to the end of the last.
    pub elapsed: Duration,
}

/// The name of the built-in rules in reports, where another role has the name of its model.
pub const RULES: &str = "extractive";

/// The models of the three roles, and the one for handoffs. A role without a model is answered by the built-in rules, a
/// handoff is then compiled.
#[derive(Clone)]
pub struct Models {
    roles: [Option<RoleModel>; Role::ALL.len()],
    handoff: Option<RoleModel>,
}

impl Models {
    /// Creates the configured models. All servers share one HTTP client.
    ///
    /// # Errors
    ///
    /// An invalid key, or `https` is required and the machine has no certificates.
    pub fn from_config(config: &LlmConfig) -> Result<Self, SetUpError> {
        let [progress, learnings, verbatim] = Role::ALL.map(|role| config.role(role));
        let settings = [progress?, learnings?, verbatim?, config.handoff()?];
        let addresses = || settings.iter().filter_map(|settings| settings.base_url.as_ref());
        let client = match addresses().next() {
            Some(_) => Some(Client::new(addresses().any(|url| url.scheme() == "https"))?),
            None => None,
        };
        let [progress, learnings, verbatim, handoff] =
            settings.map(|settings| role_model(client.as_ref(), settings));
        Ok(Self {
            roles: [progress, learnings, verbatim],
            handoff,
        })
    }

    /// Creates models directly, for tests.
    #[must_use]
    pub fn new(mut of_role: impl FnMut(Role) -> RoleModel) -> Self {
        Self {
            roles: Role::ALL.map(|role| Some(of_role(role))),
            handoff: None,
        }
    }

    /// Adds a model for handoffs.
    #[must_use]
    pub fn with_handoff(mut self, model: RoleModel) -> Self {
        self.handoff = Some(model);
        self
    }

    /// The model for handoffs; without one they are compiled by rules.
    #[must_use]
    pub fn for_handoff(&self) -> Option<&RoleModel> {
        self.handoff.as_ref()
    }

    /// The model of a role; `None` if the built-in rules answer for it.
    #[must_use]
    pub fn for_role(&self, role: Role) -> Option<&RoleModel> {
        self.roles[role as usize].as_ref()
    }

    /// Name and provider of what answers for a role.
    #[must_use]
    pub fn name(&self, role: Role) -> &str {
        self.for_role(role).map_or(RULES, |model| &model.name)
    }

    /// One line for the start-up log: the model of each role and of handoffs, without keys.
    #[must_use]
    pub fn describe(&self) -> String {
        let [progress, learnings, verbatim] =
            Role::ALL.map(|role| (role.name(), description(self.for_role(role))));
        let handoff = ("handoff", description(self.for_handoff()));
        let descriptions = [progress, learnings, verbatim, handoff];
        let (_, first) = progress;
        if descriptions.iter().all(|(_, description)| *description == first) {
            return format!("all roles: {first}");
        }
        descriptions
            .map(|(role, description)| format!("{role}: {description}"))
            .join("; ")
    }
}

/// Name and address of a model, or of the rules that stand in for it.
fn description(model: Option<&RoleModel>) -> &str {
    model.map_or("extractive (built-in rules, no model)", |model| {
        &model.description
    })
}

/// Host, port and path of a URL, without parts that may be secret.
fn address(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    format!("{}{port}{path}", url.host_str().unwrap_or_default())
}

/// The model of a role, if one is configured.
fn role_model(client: Option<&Client>, settings: RoleSettings) -> Option<RoleModel> {
    let retry = Retry::new(settings.timeout, settings.max_retries);
    let (client, base_url) = (client?.clone(), settings.base_url.clone()?);
    let name = format!("{} ({}", settings.model, settings.provider);
    let model: Arc<dyn Model> = match settings.provider {
        Provider::Anthropic => Arc::new(Anthropic::new(client, &base_url, settings)),
        Provider::Openai | Provider::Extractive => Arc::new(OpenAi::new(client, &base_url, settings)),
    };
    Some(RoleModel {
        model,
        retry,
        description: format!("{name}, {})", address(&base_url)),
        name: format!("{name})"),
    })
}

#[cfg(test)]
mod tests;
