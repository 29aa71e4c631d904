//! The keys of `[llm]` as they are written.

use super::super::prices::Price;
use super::super::words::read_from_words;
use super::provider::Provider;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::collections::BTreeMap;
use strum::{EnumString, VariantNames};

/// How a server is asked to constrain its model's output to the format of the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString, VariantNames)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum Constrain {
    /// Not at all: only the instructions describe the format.
    #[default]
    Off,
    /// As a `grammar` in the request, as llama.cpp accepts it.
    Gbnf,
    /// As a JSON schema in `response_format`, as OpenAI and Ollama accept it.
    JsonSchema,
    /// As `structured_outputs` with a `grammar`, as vLLM accepts it (from 0.12 on).
    Vllm,
}

read_from_words!(Constrain);

/// The `[llm]` section.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmConfig {
    /// `extractive`, `openai` or `anthropic`. Unset: the only one whose key is in the environment
    /// (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`), else `openai` if `base_url` is set, else `extractive`.
    pub provider: Option<Provider>,
    /// Address of the API, for `openai` with its `/v1`. Unset: the provider's own.
    pub base_url: Option<String>,
    /// Key for the API. Unset: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`; local servers need none.
    pub api_key: Option<SecretString>,
    /// Name of the model. Required with a `base_url`; the providers' own addresses have a default.
    pub model: Option<String>,
    /// Sampling temperature, 0 to 2 (Anthropic: to 1). Unset: not sent, since some models reject it.
    pub temperature: Option<f64>,
    /// Timeout of one attempt, in seconds (fractions allowed). All pauses between the attempts of one
    /// call together may be as long again; a `Retry-After` beyond that ends the call.
    pub timeout_seconds: f64,
    /// Retries of a failed attempt, 0 to 10.
    pub max_retries: u32,
    /// Longest answer, in tokens.
    pub max_output_tokens: u32,
    /// Largest response body that is read from a model server, in bytes.
    pub max_response_bytes: usize,
    /// Whether a server is asked to constrain its model's output to the format of the answers: `off`, `gbnf`
    /// (llama.cpp), `vllm`, or `json_schema` (OpenAI, Ollama).
    pub constrain: Constrain,
    /// The currency that prices are in.
    pub currency: String,
    /// Prices of models, by their names; for others usage is counted without a cost.
    #[serde(deserialize_with = "super::super::prices::table")]
    pub prices: BTreeMap<String, Price>,
    /// The same keys for single roles.
    pub roles: RolesConfig,
    /// Keys of the environment; see [`LlmConfig::with_environment`].
    #[serde(skip)]
    pub(super) environment: EnvironmentKeys,
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
    /// The model that writes the prose of handoffs (see `handoff.model`).
    pub handoff: RoleConfig,
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
    /// As `llm.constrain`.
    pub constrain: Option<Constrain>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct EnvironmentKeys {
    pub(super) openai: Option<SecretString>,
    pub(super) anthropic: Option<SecretString>,
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
            constrain: Constrain::default(),
            currency: "USD".to_owned(),
            prices: BTreeMap::new(),
            roles: RolesConfig::default(),
            environment: EnvironmentKeys::default(),
        }
    }
}

impl LlmConfig {
    /// Sets the values of `OPENAI_API_KEY` and `ANTHROPIC_API_KEY`. Blank values count as unset.
    #[must_use]
    pub fn with_environment(mut self, openai: Option<SecretString>, anthropic: Option<SecretString>) -> Self {
        self.environment = EnvironmentKeys {
            openai: openai.filter(is_set),
            anthropic: anthropic.filter(is_set),
        };
        self
    }

    /// The default provider of the roles.
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
}

/// The text without outer blanks; blank text counts as unset.
pub(super) fn filled(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

pub(super) fn is_set(key: &SecretString) -> bool {
    !key.expose_secret().trim().is_empty()
}
