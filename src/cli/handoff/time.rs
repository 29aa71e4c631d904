//! Durations and ages in the formats of the command line and the service.

use crate::domain::duration;
use chrono::TimeDelta;
use std::fmt;
use std::str::FromStr;

/// The longest, in seconds: a hundred years.
const MAX_SECONDS: u64 = 100 * 366 * 86_400;

/// A duration, as [`duration`] parses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Window {
    seconds: u64,
}

impl Window {
    /// As a time to wait.
    pub(in crate::cli) fn duration(self) -> std::time::Duration {
        std::time::Duration::from_secs(self.seconds)
    }

    /// As a difference of times.
    pub(super) fn length(self) -> TimeDelta {
        // A hundred years fit.
        TimeDelta::seconds(i64::try_from(self.seconds).unwrap_or(i64::MAX / 1_000))
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = duration::seconds(text).filter(|seconds| (1..=MAX_SECONDS).contains(seconds));
        seconds
            .map(|seconds| Self { seconds })
            .ok_or_else(|| format!("must be a duration of {}", duration::FORMS))
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&duration::iso(self.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_read_as_the_service_reads_it() {
        for (text, shown) in [
            ("6h", "PT6H"),
            ("PT6H", "PT6H"),
            ("2d", "P2D"),
            ("1h30m", "PT1H30M"),
        ] {
            assert_eq!(
                text.parse::<Window>().map(|window| window.to_string()),
                Ok(shown.to_owned())
            );
        }
        for bad in ["", "6", "0h", "PT", "P1M", "9999999d"] {
            assert!(bad.parse::<Window>().is_err(), "{bad}");
        }
    }
}
