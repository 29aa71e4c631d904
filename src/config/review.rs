//! `[review]`: expiry of proposals.

use super::retention::parse_age;
use chrono::TimeDelta;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Expiry of proposals without a decision.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReviewConfig {
    /// How long a proposal waits before it expires: a number and `s`, `m`, `h`, `d` or `w`, such as `30d`.
    #[serde(deserialize_with = "age")]
    pub expire_after: TimeDelta,
}

impl Default for ReviewConfig {
    fn default() -> Self {
        Self {
            expire_after: TimeDelta::days(30),
        }
    }
}

fn age<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TimeDelta, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_age(&text).ok_or_else(|| {
        D::Error::custom(format!(
            "review.expire_after must be a number and s, m, h, d or w, such as 30d, not {text:?}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn proposals_wait_thirty_days_or_as_configured() {
        assert_eq!(ReviewConfig::default().expire_after, TimeDelta::days(30));
        let load = |value: &str| {
            let name = "WORKING_MEMORY__REVIEW__EXPIRE_AFTER".to_owned();
            Config::load(None, [(name, value.to_owned())])
        };
        assert_eq!(load("12h").unwrap().review.expire_after, TimeDelta::hours(12));
        for bad in ["soon", "0d", "30"] {
            let error = load(bad).unwrap_err().to_string();
            assert!(error.contains("review.expire_after"), "{error}");
        }
    }
}
