//! `[llm.prices]` and `[limits.vault_tokens]`: tables whose keys are chosen by the operator.
//!
//! In the file they are tables; in the environment, where a name would lose its case, each is one variable that contains
//! the table as JSON.

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a model costs, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table of dollars, such as {input = 0.25, output = 2}"
)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Input tokens read from the provider's cache. Unset: as `input`.
    pub cached_input: Option<f64>,
    /// Input tokens written to the provider's cache. Unset: as `input`.
    pub cache_write: Option<f64>,
    /// Output tokens.
    pub output: f64,
}

impl Price {
    /// Whether every price is a number of at least 0.
    pub(super) fn is_sound(&self) -> bool {
        [
            Some(self.input),
            self.cached_input,
            self.cache_write,
            Some(self.output),
        ]
        .into_iter()
        .flatten()
        .all(|price| price.is_finite() && price >= 0.0)
    }

    /// The cost of tokens: all input tokens, those of them that were read from the cache and written to it, and all
    /// output tokens.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "the sixteenth digit of a count does not change a price"
    )]
    pub fn of(&self, input: u64, cached: u64, cache_write: u64, output: u64) -> f64 {
        let fresh = input.saturating_sub(cached).saturating_sub(cache_write);
        let millionths = fresh as f64 * self.input
            + cached as f64 * self.cached_input.unwrap_or(self.input)
            + cache_write as f64 * self.cache_write.unwrap_or(self.input)
            + output as f64 * self.output;
        millionths / 1e6
    }
}

/// Reads a table, or a text that contains one as JSON.
pub(super) fn table<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: de::DeserializeOwned,
{
    let written = match Value::deserialize(deserializer)? {
        Value::String(text) => serde_json::from_str(&text),
        table => Ok(table),
    };
    let table: BTreeMap<String, Value> = written
        .and_then(serde_json::from_value)
        .map_err(|error| de::Error::custom(format!("not a table and not JSON of one: {error}")))?;
    let read = |(name, value)| match serde_json::from_value(value) {
        Ok(value) => Ok((name, value)),
        Err(error) => Err(de::Error::custom(format!("{name}: {error}"))),
    };
    table.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_token_has_its_price() {
        let price = Price {
            input: 2.0,
            cached_input: Some(0.2),
            cache_write: Some(2.5),
            output: 10.0,
        };
        let cost = price.of(1_000_000, 500_000, 100_000, 200_000);
        assert!((cost - (0.8 + 0.1 + 0.25 + 2.0)).abs() < 1e-9, "{cost}");
        let flat = Price {
            cached_input: None,
            cache_write: None,
            ..price
        };
        assert!((flat.of(1_000_000, 500_000, 100_000, 0) - 2.0).abs() < 1e-9);
        // The numbers that a server reports need not be consistent.
        assert!(price.of(10, 20, 30, 0) >= 0.0);
    }

    #[test]
    fn a_price_is_a_number_of_at_least_nothing() {
        let of = |input| Price {
            input,
            cached_input: None,
            cache_write: None,
            output: 0.0,
        };
        assert!(of(0.0).is_sound() && of(0.25).is_sound());
        assert!(!of(-1.0).is_sound() && !of(f64::NAN).is_sound() && !of(f64::INFINITY).is_sound());
    }

    #[test]
    fn names_keep_their_case_in_the_file_and_in_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("working-memory.toml");
        let text = "[llm.prices]\n\"Org/Model-4.1\" = { input = 1, output = 2.5 }\n[limits.vault_tokens]\nAcme = 7\n";
        std::fs::write(&file, text).unwrap();
        let config = crate::config::Config::load(Some(&file), []).unwrap();
        assert!((config.llm.prices["Org/Model-4.1"].output - 2.5).abs() < 1e-9);
        let vault = |id: &str| id.parse().unwrap();
        assert_eq!(
            config.limits.tokens_per_day(&vault("Acme")),
            Some((7, "limits.vault_tokens"))
        );
        assert_eq!(config.limits.tokens_per_day(&vault("acme")), None);

        std::fs::write(&file, "").unwrap();
        let load = |name: &str, value: &str| {
            crate::config::Config::load(Some(&file), [(name.to_owned(), value.to_owned())])
        };
        let config = load("WORKING_MEMORY__LIMITS__VAULT_TOKENS", r#"{"Acme": 0}"#).unwrap();
        assert_eq!(
            config.limits.tokens_per_day(&vault("Acme")),
            Some((0, "limits.vault_tokens"))
        );
        let prices = "WORKING_MEMORY__LLM__PRICES";
        let tokens = "WORKING_MEMORY__LIMITS__VAULT_TOKENS";
        for (name, value, said) in [
            (prices, r#"{"m": {"input": -1, "output": 1}}"#, "at least 0"),
            (prices, "cheap", "not a table and not JSON of one"),
            (
                prices,
                r#"{"m": 3}"#,
                "m: invalid type: integer `3`, expected a table of dollars",
            ),
            (prices, r#"{"m": {"input": 1}}"#, "m: missing field `output`"),
            (tokens, r#"{"a b": 1}"#, "a b"),
            (
                tokens,
                r#"{"a": 1.5}"#,
                "a: invalid type: floating point `1.5`, expected u64",
            ),
        ] {
            let error = load(name, value).unwrap_err().to_string();
            assert!(error.contains(said), "{value}: {error}");
        }
        std::fs::write(&file, "[llm.prices]\n\"m\" = 3\n").unwrap();
        let error = crate::config::Config::load(Some(&file), [])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("m: invalid type: integer `3`, expected a table of dollars"),
            "{error}"
        );
    }
}
