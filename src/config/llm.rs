//! `[llm]`: the models that maintain the sections, with their timeouts and retries.
//!
//! The keys of [`RoleConfig`] are also allowed under `[llm.roles.progress]`, `[llm.roles.learnings]`,
//! `[llm.roles.verbatim]` and `[llm.roles.handoff]`; a role falls back to `[llm]` key by key. A `base_url`, `api_key` and
//! `model` belong to a provider, so a role with a provider of its own does not fall back to those of another one: a key
//! is never sent to another provider.

use super::prices::Price;
use super::values::{self, check_api_key, one_of, section, within};
use crate::domain::operation::Role;
use secrecy::SecretString;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;
use strum::{Display, EnumString, IntoStaticStr, VariantNames};
use url::Url;

/// A provider of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum Provider {
    /// The built-in rules; no model, no network.
    Extractive,
    /// Any server of the OpenAI chat-completions API.
    Openai,
    /// Anthropic's messages API.
    Anthropic,
}

impl Provider {
    /// The name used in configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The provider's own address, used if `base_url` is not set.
    #[must_use]
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::Extractive => "",
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    /// The default model at the provider's own address, used if `model` is not set.
    #[must_use]
    pub fn default_model(self) -> &'static str {
        match self {
            Self::Extractive => "extractive",
            Self::Openai => "gpt-5-mini",
            Self::Anthropic => "claude-haiku-4-5",
        }
    }
}

/// How a server is asked to constrain its model's output to the format of the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString, VariantNames)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum Constrain {
    /// Not at all: only the instructions describe the format.
    #[default]
    Off,
    /// As a JSON schema in `response_format`, as OpenAI, vLLM, llama.cpp and Ollama accept it.
    JsonSchema,
}

const TIMEOUT_SECONDS: RangeInclusive<f64> = 0.001..=3_600.0;
const MAX_RETRIES: RangeInclusive<u32> = 0..=10;
const MAX_OUTPUT_TOKENS: RangeInclusive<u32> = 1..=u32::MAX;

section! {
    /// The `[llm]` section.
    pub struct LlmConfig in "llm" {
        /// `extractive`, `openai` or `anthropic`. Unset: the only one whose key is in the environment
        /// (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`), else `openai` if `base_url` is set, else `extractive`.
        #[serde(deserialize_with = "one_of::<_, Provider, _>")]
        pub provider: Option<Provider> = None;
        /// Address of the API, for `openai` with its `/v1`. Unset: the provider's own.
        #[serde(deserialize_with = "values::address")]
        pub base_url: Option<Url> = None;
        /// Key for the API. Unset: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`; local servers need none.
        #[serde(deserialize_with = "values::api_key")]
        pub api_key: Option<SecretString> = None;
        /// Name of the model. Required with a `base_url`; the providers' own addresses have a default.
        #[serde(deserialize_with = "values::text")]
        pub model: Option<String> = None;
        /// Sampling temperature, 0 to 2 (Anthropic: to 1). Unset: not sent, since some models reject it.
        pub temperature: Option<f64> = None;
        /// Timeout of one attempt, in seconds (fractions allowed). All pauses between the attempts of one
        /// call together may be as long again; a `Retry-After` beyond that ends the call.
        pub timeout_seconds: f64 = 60.0, in TIMEOUT_SECONDS;
        /// Retries of a failed attempt.
        pub max_retries: u32 = 2, in MAX_RETRIES;
        /// Longest answer, in tokens.
        pub max_output_tokens: u32 = 4096, in MAX_OUTPUT_TOKENS;
        /// Whether a server is asked to constrain its model's output to the format of the answers: `off`
        /// or `json_schema`.
        #[serde(deserialize_with = "one_of::<_, Constrain, _>")]
        pub constrain: Constrain = Constrain::default();
        /// Prices of models in US dollars, by their names; for others usage is counted without a cost.
        #[serde(deserialize_with = "super::prices::table")]
        pub prices: BTreeMap<String, Price> = BTreeMap::new();
        /// The models of single roles.
        pub roles: RolesConfig = RolesConfig::default();
        /// Keys of the environment; see [`LlmConfig::with_environment`].
        #[serde(skip)]
        openai_key: Option<SecretString> = None;
        /// As `openai_key`.
        #[serde(skip)]
        anthropic_key: Option<SecretString> = None;
    }
}

/// `[llm.roles]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RolesConfig {
    /// The model that rewrites `Current Progress`.
    pub progress: RoleConfig,
    /// The model that maintains `Key Learnings`.
    pub learnings: RoleConfig,
    /// The model that maintains `Verbatim Context`.
    pub verbatim: RoleConfig,
    /// The model that writes the prose of handoffs; `extractive` leaves it to rules.
    pub handoff: RoleConfig,
}

/// One role's keys; what is unset falls back to `[llm]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoleConfig {
    /// As `llm.provider`. A `base_url` alone makes an otherwise extractive role `openai`.
    #[serde(deserialize_with = "one_of::<_, Provider, _>")]
    pub provider: Option<Provider>,
    /// As `llm.base_url`.
    #[serde(deserialize_with = "values::address")]
    pub base_url: Option<Url>,
    /// As `llm.api_key`.
    #[serde(deserialize_with = "values::api_key")]
    pub api_key: Option<SecretString>,
    /// As `llm.model`.
    #[serde(deserialize_with = "values::text")]
    pub model: Option<String>,
    /// As `llm.temperature`.
    pub temperature: Option<f64>,
    /// As `llm.timeout_seconds`.
    pub timeout_seconds: Option<f64>,
    /// As `llm.max_retries`.
    pub max_retries: Option<u32>,
    /// As `llm.max_output_tokens`.
    pub max_output_tokens: Option<u32>,
}

impl RoleConfig {
    /// Checks the numbers that are set, as those of `[llm]`; the temperature depends on the provider.
    fn ranges(&self, role: &str) -> Result<(), String> {
        let key = |name: &str| format!("llm.roles.{role}.{name}");
        let timeout = self.timeout_seconds.unwrap_or(1.0);
        within(&key("timeout_seconds"), timeout, TIMEOUT_SECONDS)?;
        within(&key("max_retries"), self.max_retries.unwrap_or(0), MAX_RETRIES)?;
        let tokens = self.max_output_tokens.unwrap_or(1);
        within(&key("max_output_tokens"), tokens, MAX_OUTPUT_TOKENS)
    }
}

impl LlmConfig {
    /// Sets the values of `OPENAI_API_KEY` and `ANTHROPIC_API_KEY`.
    #[must_use]
    pub fn with_environment(mut self, openai: Option<SecretString>, anthropic: Option<SecretString>) -> Self {
        self.openai_key = openai;
        self.anthropic_key = anthropic;
        self
    }

    /// The default provider of the roles.
    #[must_use]
    pub fn default_provider(&self) -> Provider {
        match (self.provider, &self.openai_key, &self.anthropic_key) {
            (Some(provider), _, _) => provider,
            (None, Some(_), None) => Provider::Openai,
            (None, None, Some(_)) => Provider::Anthropic,
            (None, _, _) if self.base_url.is_some() => Provider::Openai,
            (None, _, _) => Provider::Extractive,
        }
    }
}

/// The checked settings of one role after all fall-backs.
#[derive(Debug, Clone)]
pub struct RoleSettings {
    /// The provider.
    pub provider: Provider,
    /// Address of the API; `None` for the extractive updater.
    pub base_url: Option<Url>,
    /// Key for the API, if there is one.
    pub api_key: Option<SecretString>,
    /// Name of the model.
    pub model: String,
    /// Sampling temperature, if one is to be sent.
    pub temperature: Option<f64>,
    /// Timeout of one attempt.
    pub timeout: Duration,
    /// Retries of a failed attempt.
    pub max_retries: u32,
    /// Longest answer, in tokens.
    pub max_output_tokens: u32,
    /// How the server is asked to constrain the model's output.
    pub constrain: Constrain,
}

/// An invalid value of a key of `[llm]`. The message names the key and never shows a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} {problem}")]
pub struct InvalidLlm {
    /// The key, with its path: `llm.roles.progress.model`.
    pub key: String,
    /// What is wrong with it and what is valid.
    pub problem: String,
}

impl LlmConfig {
    /// Checks the section as each role would use it.
    ///
    /// # Errors
    /// The first invalid key.
    pub(super) fn validate(&self) -> Result<(), String> {
        self.ranges()?;
        if let Some((model, _)) = self.prices.iter().find(|(_, price)| !price.is_sound()) {
            return Err(format!("llm.prices.{model} must have prices of at least 0"));
        }
        for role in Role::ALL {
            self.role_config(role).ranges(role.name())?;
            self.role(role).map_err(|error| error.to_string())?;
        }
        self.roles.handoff.ranges("handoff")?;
        self.handoff().map(drop).map_err(|error| error.to_string())
    }

    /// The settings of a role after all fall-backs.
    ///
    /// # Errors
    /// The first invalid key of this role.
    pub fn role(&self, role: Role) -> Result<RoleSettings, InvalidLlm> {
        self.resolved(role.name(), self.role_config(role))
    }

    /// The settings of handoffs after all fall-backs. Where only the three roles have models, handoffs are compiled by
    /// rules: a model of `[llm]` is needed for nothing else.
    ///
    /// # Errors
    /// The first invalid key of handoffs.
    pub fn handoff(&self) -> Result<RoleSettings, InvalidLlm> {
        let settings = self.resolved("handoff", &self.roles.handoff);
        let has_model = |role| self.role_config(role).model.is_some();
        match settings {
            Err(InvalidLlm { key, .. })
                if matches!(key.as_str(), "llm.model" | "llm.provider")
                    && Role::ALL.into_iter().all(has_model) =>
            {
                let by_rules = RoleConfig {
                    provider: Some(Provider::Extractive),
                    ..RoleConfig::default()
                };
                self.resolved("handoff", &by_rules)
            }
            settings => settings,
        }
    }

    fn role_config(&self, role: Role) -> &RoleConfig {
        match role {
            Role::Progress => &self.roles.progress,
            Role::Learnings => &self.roles.learnings,
            Role::Verbatim => &self.roles.verbatim,
        }
    }

    /// A role's own keys over the common ones.
    fn resolved(&self, role: &str, own: &RoleConfig) -> Result<RoleSettings, InvalidLlm> {
        let invalid = |key: &str, problem: &str| InvalidLlm {
            key: format!("llm.{key}"),
            problem: problem.to_owned(),
        };
        let provider = own.provider.unwrap_or(match self.default_provider() {
            Provider::Extractive if own.base_url.is_some() => Provider::Openai,
            provider => provider,
        });
        // What belongs to a provider falls back to `[llm]` only where that has the same one.
        let shared = Some(self).filter(|shared| shared.default_provider() == provider);
        let base_url = own.base_url.as_ref().or_else(|| shared?.base_url.as_ref());
        let model = own.model.as_ref().or_else(|| shared?.model.as_ref());
        let key = own.api_key.as_ref().or_else(|| shared?.api_key.as_ref());
        let highest = match provider {
            // It would be ignored silently.
            Provider::Extractive
                if own.provider.or(self.provider).is_none() && (model.is_some() || key.is_some()) =>
            {
                let problem = "must be openai or anthropic if a model or key is set";
                return Err(invalid("provider", problem));
            }
            Provider::Anthropic => 1.0,
            Provider::Openai | Provider::Extractive => 2.0,
        };
        let (named, temperature) = match own.temperature {
            None => ("temperature".to_owned(), self.temperature),
            own => (format!("roles.{role}.temperature"), own),
        };
        if temperature.is_some_and(|t| !(0.0..=highest).contains(&t)) {
            return Err(invalid(&named, &format!("must be from 0 to {highest}")));
        }
        let timeout_seconds = own.timeout_seconds.unwrap_or(self.timeout_seconds);
        let mut settings = RoleSettings {
            provider,
            base_url: None,
            api_key: None,
            model: model.map_or(provider.default_model(), String::as_str).to_owned(),
            temperature,
            timeout: Duration::try_from_secs_f64(timeout_seconds).unwrap_or_default(),
            max_retries: own.max_retries.unwrap_or(self.max_retries),
            max_output_tokens: own.max_output_tokens.unwrap_or(self.max_output_tokens),
            constrain: match provider {
                Provider::Openai => self.constrain,
                _ => shared.map_or(Constrain::Off, |shared| shared.constrain),
            },
        };
        let ambient_key = match provider {
            // A role without a server has no format to ask for, whatever `[llm]` says.
            Provider::Extractive => {
                settings.model = provider.default_model().to_owned();
                settings.constrain = Constrain::Off;
                return Ok(settings);
            }
            Provider::Anthropic if settings.constrain != Constrain::Off => {
                let problem = "must be off for provider anthropic, which takes no schema";
                return Err(invalid("constrain", problem));
            }
            Provider::Anthropic => &self.anthropic_key,
            Provider::Openai => &self.openai_key,
        };
        let own_address = || Url::parse(provider.default_base_url()).ok();
        settings.base_url = base_url.cloned().or_else(own_address);
        settings.api_key = key.or(ambient_key.as_ref()).cloned();
        check_api_key(settings.api_key.as_ref()).map_err(|problem| invalid("api_key", problem))?;
        if model.is_none() && base_url.is_some() {
            let problem = format!("is required for provider {provider} with a base_url");
            let key = match shared {
                Some(_) => "model".to_owned(),
                None => format!("roles.{role}.model"),
            };
            return Err(invalid(&key, &problem));
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests;
