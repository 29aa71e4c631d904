//! The configured model of each role.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use tokio::time::Instant;

use super::anthropic::Anthropic;
use super::openai::OpenAi;
use super::retry::{Retry, within};
use super::{Answer, Client, Model, ModelError, Request, SetUpError};
use crate::config::llm::{LlmConfig, Provider, RoleSettings};
use crate::domain::operation::Role;
use crate::telemetry::traces;

/// A model and its retry policy.
#[derive(Clone)]
pub struct RoleModel {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Its retry policy.
    pub retry: Retry,
    /// Name and address of the model, for the log: `gpt-5-mini (openai, api.openai.com/v1)`.
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
                    model = self.model.name(),
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

    /// Name and address of what answers for a role.
    #[must_use]
    pub fn description(&self, role: Role) -> &str {
        self.for_role(role)
            .map_or("extractive (built-in rules, no model)", |model| {
                &model.description
            })
    }

    /// One line for the start-up log: the model of each role, without keys.
    #[must_use]
    pub fn describe(&self) -> String {
        let descriptions = Role::ALL.map(|role| (role, self.description(role)));
        let first = self.description(Role::Progress);
        if descriptions.iter().all(|(_, description)| *description == first) {
            return format!("all roles: {first}");
        }
        descriptions
            .map(|(role, description)| format!("{}: {description}", role.name()))
            .join("; ")
    }
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
    let address = address(&base_url);
    let description = format!("{} ({}, {address})", settings.model, settings.provider);
    let model: Arc<dyn Model> = match settings.provider {
        Provider::Anthropic => Arc::new(Anthropic::new(client, &base_url, settings)),
        Provider::Openai | Provider::Extractive => Arc::new(OpenAi::new(client, &base_url, settings)),
    };
    Some(RoleModel {
        model,
        retry,
        description,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_configured_is_reported_at_the_start() {
        let models = Models::from_config(&LlmConfig::default()).expect("models");
        assert_eq!(
            models.describe(),
            "all roles: extractive (built-in rules, no model)"
        );
        assert!(models.for_role(Role::Progress).is_none() && models.for_handoff().is_none());
    }

    #[test]
    fn roles_with_models_of_their_own_are_distinguished() {
        let config: LlmConfig = serde_json::from_value(serde_json::json!({
            "roles": {"progress": {"base_url": "http://localhost:1/v1", "model": "m", "api_key": "sk-secret"}},
        }))
        .expect("a readable section");
        let line = Models::from_config(&config).expect("models").describe();
        assert!(
            line.starts_with("progress: m (openai, localhost:1/v1); learnings: extractive"),
            "{line}"
        );
        assert!(!line.contains("secret"));
    }
}
