//! The providers of models, and their defaults.

use super::super::words::read_from_words;
use std::fmt;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// A provider of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum Provider {
    /// The built-in rules; no model, no network.
    Extractive,
    /// Any server of the OpenAI chat-completions API.
    Openai,
    /// Anthropic's messages API.
    Anthropic,
}

read_from_words!(Provider);

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

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
