//! `[embeddings]`: the embedding model, for searches by meaning. Without it there are none.

use super::values::{HTTP_ADDRESS, api_key, filled, http_address, within};
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
    pub base_url: Option<String>,
    /// Key for the API. Unset: `OPENAI_API_KEY` if the address is OpenAI's; local servers need none.
    pub api_key: Option<SecretString>,
    /// Name of the model.
    pub model: Option<String>,
    /// The number of dimensions to request, for models with a choice. Unset: the model's default.
    pub dimensions: Option<u32>,
    /// A prefix for every query, if the model requires one (`query: `).
    pub query_prefix: String,
    /// A prefix for every text of a memory (`passage: `).
    pub document_prefix: String,
}

/// The checked settings of the section.
#[derive(Debug, Clone)]
pub struct EmbeddingsSettings {
    /// Address of the API.
    pub base_url: Url,
    /// Key for it, if it needs one.
    pub api_key: Option<SecretString>,
    /// Name of the model.
    pub model: String,
    /// The number of dimensions to request.
    pub dimensions: Option<u32>,
    /// The prefix of every query.
    pub query_prefix: String,
    /// The prefix of every text of a memory.
    pub document_prefix: String,
}

impl EmbeddingsConfig {
    /// Sets the value of `OPENAI_API_KEY`, which is sent to OpenAI only.
    #[must_use]
    pub fn with_environment(mut self, openai: Option<SecretString>) -> Self {
        let is_openai = self.base_url.as_deref().is_some_and(|url| {
            Url::parse(url.trim()).is_ok_and(|url| url.host_str() == Some("api.openai.com"))
        });
        if is_openai && self.api_key.is_none() {
            self.api_key = openai;
        }
        self
    }

    /// The checked settings; `None` without a model.
    ///
    /// # Errors
    /// The first invalid key. The message never shows a secret.
    pub fn settings(&self) -> Result<Option<EmbeddingsSettings>, String> {
        let (base_url, model) = (filled(self.base_url.as_deref()), filled(self.model.as_deref()));
        let (base_url, model) = match (base_url, model) {
            (None, None) => return Ok(None),
            (Some(_), None) => {
                return Err("embeddings.model must be set if embeddings.base_url is".to_owned());
            }
            (None, Some(_)) => {
                return Err("embeddings.base_url must be set if embeddings.model is".to_owned());
            }
            (Some(base_url), Some(model)) => (base_url, model),
        };
        if let Some(dimensions) = self.dimensions {
            within("embeddings.dimensions", dimensions, 1..=MAX_DIMENSIONS)?;
        }
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
        Ok(Some(EmbeddingsSettings {
            base_url: http_address(base_url).ok_or_else(|| format!("embeddings.base_url {HTTP_ADDRESS}"))?,
            api_key: api_key(self.api_key.as_ref())
                .map_err(|problem| format!("embeddings.api_key {problem}"))?,
            model: model.to_owned(),
            dimensions: self.dimensions,
            query_prefix: self.query_prefix.clone(),
            document_prefix: self.document_prefix.clone(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(base_url: Option<&str>, model: Option<&str>) -> EmbeddingsConfig {
        EmbeddingsConfig {
            base_url: base_url.map(str::to_owned),
            model: model.map(str::to_owned),
            ..EmbeddingsConfig::default()
        }
    }

    #[test]
    fn nothing_configured_is_none() {
        assert!(of(None, None).settings().unwrap().is_none());
        assert!(of(Some(" "), None).settings().unwrap().is_none());
        let url = "http://127.0.0.1:1/v1";
        assert_eq!(of(Some(url), Some("m")).settings().unwrap().unwrap().model, "m");
    }

    #[test]
    fn openais_key_goes_to_openai_only() {
        let key = || Some(SecretString::from("sk-1"));
        let openai = of(Some("https://api.openai.com/v1"), Some("m")).with_environment(key());
        assert!(openai.settings().unwrap().unwrap().api_key.is_some());
        let other = of(Some("https://api.example.org/v1"), Some("m")).with_environment(key());
        assert!(other.settings().unwrap().unwrap().api_key.is_none());
    }
}
