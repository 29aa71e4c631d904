//! Resolves two layers of optional keys to the checked settings of one role.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::provider::Provider;
use super::section::{Constrain, LlmConfig, RoleConfig, filled, is_set};
use crate::domain::operation::Role;

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
    /// Largest response body, in bytes.
    pub max_response_bytes: usize,
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
    pub fn validate(&self) -> Result<(), InvalidLlm> {
        if let Some((model, _)) = self.prices.iter().find(|(_, price)| !price.is_sound()) {
            return Err(InvalidLlm {
                key: format!("llm.prices.{model}"),
                problem: "must have prices of at least 0".to_owned(),
            });
        }
        Role::ALL
            .into_iter()
            .try_for_each(|role| self.role(role).map(|_| ()))?;
        self.handoff().map(|_| ())
    }

    /// The settings of a role after all fall-backs.
    ///
    /// # Errors
    /// The first invalid key of this role.
    pub fn role(&self, role: Role) -> Result<RoleSettings, InvalidLlm> {
        Resolver::new(self, role.name(), self.role_config(role)).settings()
    }

    /// The settings of handoffs after all fall-backs. Where only the three roles have models, handoffs are compiled by
    /// rules: a model of `[llm]` is needed for nothing else.
    ///
    /// # Errors
    /// The first invalid key of handoffs.
    pub fn handoff(&self) -> Result<RoleSettings, InvalidLlm> {
        let settings = Resolver::new(self, "handoff", &self.roles.handoff).settings();
        let has_model = |role| filled(self.role_config(role).model.as_deref()).is_some();
        match settings {
            Err(InvalidLlm { key, .. })
                if matches!(key.as_str(), "llm.model" | "llm.provider")
                    && Role::ALL.into_iter().all(has_model) =>
            {
                let by_rules = RoleConfig {
                    provider: Some(Provider::Extractive),
                    ..RoleConfig::default()
                };
                Resolver::new(self, "handoff", &by_rules).settings()
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
}

/// A role's keys over the common ones.
struct Resolver<'a> {
    role: &'static str,
    own: &'a RoleConfig,
    base: &'a LlmConfig,
    provider: Provider,
    /// Whether the keys that belong to a provider may fall back to `[llm]`.
    shares_provider: bool,
}

impl<'a> Resolver<'a> {
    fn new(base: &'a LlmConfig, role: &'static str, own: &'a RoleConfig) -> Self {
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
            constrain: self.constrain()?,
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

    /// Rejects a model or key without a provider, which would otherwise be ignored silently.
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
            let problem = "must be openai or anthropic if a model or key is set";
            return Err(self.invalid("provider", false, problem));
        }
        Ok(())
    }

    /// A role without a server has no grammar, whatever `[llm]` says.
    fn constrain(&self) -> Result<Constrain, InvalidLlm> {
        let shared = if self.shares_provider {
            self.base.constrain
        } else {
            Constrain::Off
        };
        let own = self.own.constrain.filter(|own| *own != Constrain::Off);
        if self.role == "handoff" && own.is_some() {
            let problem = "must be off: a handoff is not a text of operations, and has no grammar";
            return Err(self.invalid("constrain", true, problem));
        }
        let constrain = self.own.constrain.unwrap_or(shared);
        match self.provider {
            Provider::Openai => Ok(constrain),
            Provider::Anthropic if constrain != Constrain::Off => {
                let problem = "must be off for provider anthropic, which supports no grammar";
                Err(self.invalid("constrain", self.own.constrain.is_some(), problem))
            }
            Provider::Anthropic | Provider::Extractive => Ok(Constrain::Off),
        }
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
            return Err(invalid("must not contain a user name or password; use api_key"));
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
            let problem = format!(
                "is required for provider {} with a base_url",
                self.provider.name()
            );
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
            format!("llm.roles.{}.{name}", self.role)
        } else {
            format!("llm.{name}")
        };
        InvalidLlm {
            key,
            problem: problem.to_owned(),
        }
    }
}
