//! `[retention]`: which old versions and runs are deleted. By default all are kept forever. `[review]`: expiry of proposals.

use super::values::{section, within};
use crate::domain::duration;
use chrono::TimeDelta;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// The longest accepted duration, in days: five thousand years. So long ago is a time that PostgreSQL can still represent,
/// whose calendar begins in 4713 BC.
const MAX_DAYS: i64 = 5_000 * 366;

section! {
    /// Which old versions and runs are deleted; the newest version of a memory never is.
    #[derive(PartialEq, Eq)]
    pub struct RetentionConfig in "retention" {
        /// How many of the newest versions of a memory are kept. All, if it is not set.
        pub max_versions: Option<u32> = None;
        /// How long a version is kept after it was replaced: a duration such as
        /// `90d` or `P90D`. Forever, if it is not set.
        #[serde(deserialize_with = "age")]
        pub max_age: Option<TimeDelta> = None;
        /// How long a run of `/update` and `/operations` is kept after it ended, such as `30d`. Forever, if it is not set.
        #[serde(deserialize_with = "age")]
        pub runs_max_age: Option<TimeDelta> = None;
        /// Whether versions are kept in which an active record first appeared: its evidence goes with them.
        #[serde(deserialize_with = "super::values::flag")]
        pub keep_provenance: bool = true;
    }
}

impl RetentionConfig {
    /// Whether versions are ever pruned.
    #[must_use]
    pub fn prunes_versions(&self) -> bool {
        self.max_versions.is_some() || self.max_age.is_some()
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        self.ranges()?;
        // The newest version always stays.
        let max_versions = self.max_versions.unwrap_or(1);
        within("retention.max_versions", max_versions, 1..=u32::MAX)
    }
}

/// Reads a duration that is greater than zero.
fn age<'de, D: Deserializer<'de>, T: From<TimeDelta>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    let age = parse_age(&text).map(T::from);
    age.ok_or_else(|| D::Error::custom(format!("{}, not {text:?}", age_form())))
}

/// What [`parse_age`] takes, for messages.
pub(crate) fn age_form() -> String {
    format!(
        "must be a duration of {}, from 1s to {MAX_DAYS}d",
        duration::FORMS
    )
}

/// Parses a duration that is greater than zero; see [`duration`].
pub(crate) fn parse_age(text: &str) -> Option<TimeDelta> {
    let seconds = duration::seconds(text.trim()).filter(|seconds| *seconds > 0)?;
    TimeDelta::try_seconds(i64::try_from(seconds).ok()?).filter(|age| age.num_days() <= MAX_DAYS)
}

section! {
    /// Expiry of proposals without a decision.
    pub struct ReviewConfig in "review" {
        /// How long a proposal waits before it expires: a number and `s`, `m`, `h`, `d` or `w`, such as `30d`.
        #[serde(deserialize_with = "age")]
        pub expire_after: TimeDelta = TimeDelta::days(30);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_pruned_and_proposals_wait_thirty_days_unless_configured() {
        let config = RetentionConfig::default();
        assert!(!config.prunes_versions());
        assert_eq!(config.runs_max_age, None);
        assert_eq!(ReviewConfig::default().expire_after, TimeDelta::days(30));
        let environment = [
            ("RETENTION__MAX_VERSIONS", "5"),
            ("RETENTION__MAX_AGE", "2w"),
            ("RETENTION__KEEP_PROVENANCE", "false"),
            ("REVIEW__EXPIRE_AFTER", "12h"),
        ]
        .map(|(key, value)| (format!("WORKING_MEMORY__{key}"), value.to_owned()));
        let config = crate::config::Config::load(None, environment).unwrap();
        let expected = RetentionConfig {
            max_versions: Some(5),
            max_age: Some(TimeDelta::weeks(2)),
            keep_provenance: false,
            ..RetentionConfig::default()
        };
        assert_eq!(config.retention, expected);
        assert!(expected.prunes_versions());
        assert_eq!(config.review.expire_after, TimeDelta::hours(12));
    }
}
