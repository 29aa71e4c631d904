//! `[embeddings]`: the embedding model, for searches by meaning. Without it there are none.

use super::values::{address, api_key, check_api_key, text, within};
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

/// The maximum number of dimensions of a vector.
pub const MAX_DIMENSIONS: u32 = 8_192;

/// The `[embeddings]` section.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddingsConfig {
    /// Address of an OpenAI-compatible API with its `/v1`. Unset: searches use words only.
    #[serde(deserialize_with = "address")]
    pub base_url: Option<Url>,
    /// Key for the API. Unset: `OPENAI_API_KEY` if the address is OpenAI's; local servers need none.
    #[serde(deserialize_with = "api_key")]
    pub api_key: Option<SecretString>,
    /// Name of the model.
    #[serde(deserialize_with = "text")]
    pub model: Option<String>,
    /// The number of dimensions to request, for models with a choice. Unset: the model's default.
    pub dimensions: Option<u32>,
    /// A prefix for every query, if the model requires one (`query: `).
    pub query_prefix: String,
    /// A prefix for every text of a memory (`passage: `).
    pub document_prefix: String,
}

impl EmbeddingsConfig {
    /// Sets the value of `OPENAI_API_KEY`, which is sent to OpenAI only.
    #[must_use]
    pub fn with_environment(mut self, openai: Option<SecretString>) -> Self {
        let host = self.base_url.as_ref().and_then(Url::host_str);
        if host == Some("api.openai.com") && self.api_key.is_none() {
            self.api_key = openai;
        }
        self
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        match (&self.base_url, &self.model) {
            (Some(_), None) => {
                return Err("embeddings.model must be set if embeddings.base_url is".to_owned());
            }
            (None, Some(_)) => {
                return Err("embeddings.base_url must be set if embeddings.model is".to_owned());
            }
            _ => {}
        }
        within(
            "embeddings.dimensions",
            self.dimensions.unwrap_or(1),
            1..=MAX_DIMENSIONS,
        )?;
        for (name, prefix) in [
            ("query_prefix", &self.query_prefix),
            ("document_prefix", &self.document_prefix),
        ] {
            if prefix.len() > 1_000 || prefix.contains('\0') {
                return Err(format!(
                    "embeddings.{name} must be at most 1000 bytes without NUL"
                ));
            }
        }
        // That of the environment too.
        check_api_key(self.api_key.as_ref()).map_err(|problem| format!("embeddings.api_key {problem}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openais_key_goes_to_openai_only() {
        let with_key = |base_url: &str| {
            let config = EmbeddingsConfig {
                base_url: Some(base_url.parse().unwrap()),
                ..EmbeddingsConfig::default()
            };
            config.with_environment(Some(SecretString::from("sk-1"))).api_key
        };
        assert!(with_key("https://api.openai.com/v1").is_some());
        assert!(with_key("https://api.example.org/v1").is_none());
    }
}
