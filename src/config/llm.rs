//! `[llm]`: which models maintain the sections, and how long and how often they are asked.
//!
//! Every key of `[llm]` may stand under `[llm.roles.progress]`, `[llm.roles.learnings]` and
//! `[llm.roles.verbatim]` too; a role falls back to `[llm]` key by key. `base_url`, `api_key` and `model`
//! belong to a provider, so a role with a provider of its own does not take those of another one: a key
//! is never sent to a company it was not made for.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::domain::operation::Role;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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
        match self {
            Self::Extractive => "extractive",
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// The provider's own address, used where `base_url` is not set.
    #[must_use]
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::Extractive => "",
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    /// The model asked at the provider's own address where `model` is not set.
    #[must_use]
    pub fn default_model(self) -> &'static str {
        match self {
            Self::Extractive => "extractive",
            Self::Openai => "gpt-5-mini",
            Self::Anthropic => "claude-haiku-4-5",
        }
    }
}

/// The `[llm]` section.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmConfig {
    /// `extractive`, `openai` or `anthropic`. Unset: the one whose key alone is in the environment
    /// (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`), else `openai` if `base_url` is set, else `extractive`.
    pub provider: Option<Provider>,
    /// Address of the API, for `openai` with its `/v1`. Unset: the provider's own.
    pub base_url: Option<String>,
    /// Key for the API. Unset: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`; local servers need none.
    pub api_key: Option<SecretString>,
    /// Name of the model. Needed with a `base_url`; the providers' own addresses have a default.
    pub model: Option<String>,
    /// Sampling temperature, 0 to 2 (Anthropic: to 1). Unset: not sent, since some models refuse it.
    pub temperature: Option<f64>,
    /// Longest time of one attempt, in seconds (fractions allowed). All waits between the attempts of one
    /// asking together get as long again; a `Retry-After` beyond that ends the asking.
    pub timeout_seconds: f64,
    /// How often a failed attempt is made again, 0 to 10.
    pub max_retries: u32,
    /// Longest answer, in tokens.
    pub max_output_tokens: u32,
    /// Largest response body read from a model server, in bytes.
    pub max_response_bytes: usize,
    /// The same keys for single roles.
    pub roles: RolesConfig,
    /// Keys of the environment; see [`LlmConfig::with_environment`].
    #[serde(skip)]
    environment: EnvironmentKeys,
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
}

/// One role's keys; what is unset falls back to `[llm]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoleConfig {
    /// As `llm.provider`. A `base_url` alone makes an otherwise extractive role `openai`.
    pub provider: Option<Provider>,
    /// As `llm.base_url`.
    pub base_url: Option<String>,
    /// As `llm.api_key`.
    pub api_key: Option<SecretString>,
    /// As `llm.model`.
    pub model: Option<String>,
    /// As `llm.temperature`.
    pub temperature: Option<f64>,
    /// As `llm.timeout_seconds`.
    pub timeout_seconds: Option<f64>,
    /// As `llm.max_retries`.
    pub max_retries: Option<u32>,
    /// As `llm.max_output_tokens`.
    pub max_output_tokens: Option<u32>,
    /// As `llm.max_response_bytes`.
    pub max_response_bytes: Option<usize>,
}

#[derive(Debug, Clone, Default)]
struct EnvironmentKeys {
    openai: Option<SecretString>,
    anthropic: Option<SecretString>,
}

/// What one role uses after all fall-backs; every value is checked.
#[derive(Debug, Clone)]
pub struct RoleSettings {
    /// Who answers.
    pub provider: Provider,
    /// Address of the API; `None` for the extractive updater.
    pub base_url: Option<Url>,
    /// Key for the API, if there is one.
    pub api_key: Option<SecretString>,
    /// Name of the model.
    pub model: String,
    /// Sampling temperature, if one is to be sent.
    pub temperature: Option<f64>,
    /// Longest time of one attempt.
    pub timeout: Duration,
    /// How often a failed attempt is made again.
    pub max_retries: u32,
    /// Longest answer, in tokens.
    pub max_output_tokens: u32,
    /// Largest response body, in bytes.
    pub max_response_bytes: usize,
}

/// A key of `[llm]` whose value cannot be used. The message names the key and never shows a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} {problem}")]
pub struct InvalidLlm {
    /// The key, with its path: `llm.roles.progress.model`.
    pub key: String,
    /// What is wrong with it and what would be right.
    pub problem: String,
}

fn default_timeout_seconds() -> f64 {
    60.0
}

fn default_max_retries() -> u32 {
    2
}

fn default_max_output_tokens() -> u32 {
    4096
}

fn default_max_response_bytes() -> usize {
    4 * 1024 * 1024
}

impl Default for LlmConfig {
    fn default() -> Self {
        Self {
            provider: None,
            base_url: None,
            api_key: None,
            model: None,
            temperature: None,
            timeout_seconds: default_timeout_seconds(),
            max_retries: default_max_retries(),
            max_output_tokens: default_max_output_tokens(),
            max_response_bytes: default_max_response_bytes(),
            roles: RolesConfig::default(),
            environment: EnvironmentKeys::default(),
        }
    }
}

impl LlmConfig {
    /// Takes over the values of `OPENAI_API_KEY` and `ANTHROPIC_API_KEY`. Blank values count as unset.
    #[must_use]
    pub fn with_environment(mut self, openai: Option<SecretString>, anthropic: Option<SecretString>) -> Self {
        self.environment = EnvironmentKeys {
            openai: openai.filter(is_set),
            anthropic: anthropic.filter(is_set),
        };
        self
    }

    /// Who answers where a role does not say otherwise.
    #[must_use]
    pub fn default_provider(&self) -> Provider {
        let keys = &self.environment;
        match (self.provider, keys.openai.is_some(), keys.anthropic.is_some()) {
            (Some(provider), _, _) => provider,
            (None, true, false) => Provider::Openai,
            (None, false, true) => Provider::Anthropic,
            (None, _, _) if filled(self.base_url.as_deref()).is_some() => Provider::Openai,
            (None, _, _) => Provider::Extractive,
        }
    }

    /// Checks the section as each role would use it.
    ///
    /// # Errors
    /// The first key that cannot be used.
    pub fn validate(&self) -> Result<(), InvalidLlm> {
        Role::ALL
            .into_iter()
            .try_for_each(|role| self.role(role).map(|_| ()))
    }

    /// What a role uses after all fall-backs.
    ///
    /// # Errors
    /// The first key that cannot be used for this role.
    pub fn role(&self, role: Role) -> Result<RoleSettings, InvalidLlm> {
        Resolver::new(self, role).settings()
    }

    fn role_config(&self, role: Role) -> &RoleConfig {
        match role {
            Role::Progress => &self.roles.progress,
            Role::Learnings => &self.roles.learnings,
            Role::Verbatim => &self.roles.verbatim,
        }
    }
}

/// The way from two layers of optional keys to one role's checked settings.
struct Resolver<'a> {
    role: Role,
    own: &'a RoleConfig,
    base: &'a LlmConfig,
    provider: Provider,
    /// Whether the keys that belong to a provider may be taken from `[llm]`.
    shares_provider: bool,
}

impl<'a> Resolver<'a> {
    fn new(base: &'a LlmConfig, role: Role) -> Self {
        let own = base.role_config(role);
        let fallback = match base.default_provider() {
            Provider::Extractive if filled(own.base_url.as_deref()).is_some() => Provider::Openai,
            provider => provider,
        };
        let provider = own.provider.unwrap_or(fallback);
        Self {
            role,
            own,
            base,
            provider,
            shares_provider: provider == base.default_provider(),
        }
    }

    fn settings(&self) -> Result<RoleSettings, InvalidLlm> {
        self.refuse_half_configured()?;
        let (own, base) = (self.own, self.base);
        let seconds = self.within(
            "timeout_seconds",
            own.timeout_seconds,
            base.timeout_seconds,
            |s| *s >= 0.001 && *s <= 3600.0,
            "must be more than 0 and at most 3600",
        )?;
        let settings = RoleSettings {
            provider: self.provider,
            base_url: None,
            api_key: None,
            model: Provider::Extractive.default_model().to_owned(),
            temperature: own.temperature.or(base.temperature),
            timeout: Duration::from_secs_f64(seconds),
            max_retries: self.within(
                "max_retries",
                own.max_retries,
                base.max_retries,
                |n| *n <= 10,
                "must be at most 10",
            )?,
            max_output_tokens: self.within(
                "max_output_tokens",
                own.max_output_tokens,
                base.max_output_tokens,
                |n| *n >= 1,
                "must be at least 1",
            )?,
            max_response_bytes: self.within(
                "max_response_bytes",
                own.max_response_bytes,
                base.max_response_bytes,
                |n| *n >= 1024,
                "must be at least 1024",
            )?,
        };
        let highest = if self.provider == Provider::Anthropic {
            1.0
        } else {
            2.0
        };
        if settings
            .temperature
            .is_some_and(|t| !(0.0..=highest).contains(&t))
        {
            let problem = format!("must be from 0 to {highest}");
            return Err(self.invalid("temperature", own.temperature.is_some(), &problem));
        }
        if self.provider == Provider::Extractive {
            return Ok(settings);
        }
        Ok(RoleSettings {
            base_url: Some(self.base_url()?),
            api_key: self.api_key()?,
            model: self.model()?,
            ..settings
        })
    }

    /// A model or key without a provider would be ignored in silence.
    fn refuse_half_configured(&self) -> Result<(), InvalidLlm> {
        let base = self.base;
        if self.provider != Provider::Extractive || self.own.provider.or(base.provider).is_some() {
            return Ok(());
        }
        let model = filled(self.own.model.as_deref()).or(filled(base.model.as_deref()));
        let key = [&self.own.api_key, &base.api_key]
            .into_iter()
            .flatten()
            .any(is_set);
        if model.is_some() || key {
            let problem = "must be openai or anthropic where a model or key is set";
            return Err(self.invalid("provider", false, problem));
        }
        Ok(())
    }

    fn base_url(&self) -> Result<Url, InvalidLlm> {
        let own = filled(self.own.base_url.as_deref());
        let text = own
            .or(self.configured_base_url())
            .unwrap_or(self.provider.default_base_url());
        let invalid = |problem: &str| self.invalid("base_url", own.is_some(), problem);
        let url = Url::parse(text).map_err(|_| invalid("must be a URL"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(invalid("must begin with http:// or https:// and a host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("must not hold a user name or password; use api_key"));
        }
        Ok(url)
    }

    fn configured_base_url(&self) -> Option<&'a str> {
        filled(self.base.base_url.as_deref()).filter(|_| self.shares_provider)
    }

    fn model(&self) -> Result<String, InvalidLlm> {
        let shared = filled(self.base.model.as_deref()).filter(|_| self.shares_provider);
        if let Some(model) = filled(self.own.model.as_deref()).or(shared) {
            return Ok(model.to_owned());
        }
        if filled(self.own.base_url.as_deref())
            .or(self.configured_base_url())
            .is_some()
        {
            let problem = format!("is needed for provider {} with a base_url", self.provider.name());
            return Err(self.invalid("model", !self.shares_provider, &problem));
        }
        Ok(self.provider.default_model().to_owned())
    }

    fn api_key(&self) -> Result<Option<SecretString>, InvalidLlm> {
        let keys = &self.base.environment;
        let ambient = match self.provider {
            Provider::Extractive => None,
            Provider::Openai => keys.openai.as_ref(),
            Provider::Anthropic => keys.anthropic.as_ref(),
        };
        let own = self.own.api_key.as_ref().filter(|key| is_set(key));
        let shared = self
            .base
            .api_key
            .as_ref()
            .filter(|key| is_set(key) && self.shares_provider);
        let Some(key) = own.or(shared).or(ambient) else {
            return Ok(None);
        };
        let key = key.expose_secret().trim();
        if key.bytes().all(|b| b.is_ascii_graphic()) {
            return Ok(Some(SecretString::from(key)));
        }
        Err(self.invalid(
            "api_key",
            own.is_some(),
            "must be visible ASCII characters without blanks",
        ))
    }

    fn within<T: Copy>(
        &self,
        name: &str,
        own: Option<T>,
        base: T,
        fits: impl Fn(&T) -> bool,
        problem: &str,
    ) -> Result<T, InvalidLlm> {
        Some(own.unwrap_or(base))
            .filter(fits)
            .ok_or_else(|| self.invalid(name, own.is_some(), problem))
    }

    fn invalid(&self, name: &str, in_role: bool, problem: &str) -> InvalidLlm {
        let key = if in_role {
            format!("llm.roles.{}.{name}", self.role.name())
        } else {
            format!("llm.{name}")
        };
        InvalidLlm {
            key,
            problem: problem.to_owned(),
        }
    }
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

fn is_set(key: &SecretString) -> bool {
    !key.expose_secret().trim().is_empty()
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
