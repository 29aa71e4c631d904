//! The period that a handoff covers: an ISO 8601 duration (`PT2H`, `P1DT12H`) or its short form (`2h`); see
//! [`duration`].

use crate::domain::duration;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Maximum length in seconds: 366 days.
pub const MAX_SECONDS: i64 = 366 * 86_400;

/// A duration from one second to 366 days, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Window(i64);

/// Why a text or a number is not a valid window. The message may be shown to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a duration from PT1S to P366D in whole weeks, days, hours, minutes and seconds, such as PT2H, P1DT12H or 2h"
)]
pub struct InvalidWindow;

impl Window {
    /// Two hours.
    pub const DEFAULT: Self = Self(7_200);

    /// Its length in seconds.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.0
    }

    /// Its length for people: `2 hours`, `1 day 12 hours`.
    #[must_use]
    pub fn in_words(self) -> String {
        let (seconds, mut words) = (self.0, Vec::new());
        for (number, unit) in [
            (seconds / 86_400, "day"),
            (seconds / 3_600 % 24, "hour"),
            (seconds / 60 % 60, "minute"),
            (seconds % 60, "second"),
        ] {
            match number {
                0 => {}
                1 => words.push(format!("1 {unit}")),
                _ => words.push(format!("{number} {unit}s")),
            }
        }
        words.join(" ")
    }

    /// Its length.
    #[must_use]
    pub fn length(self) -> TimeDelta {
        TimeDelta::seconds(self.0)
    }
}

/// A window of this many seconds.
impl TryFrom<i64> for Window {
    type Error = InvalidWindow;

    fn try_from(seconds: i64) -> Result<Self, InvalidWindow> {
        (1..=MAX_SECONDS)
            .contains(&seconds)
            .then_some(Self(seconds))
            .ok_or(InvalidWindow)
    }
}

impl From<Window> for i64 {
    fn from(window: Window) -> Self {
        window.0
    }
}

impl FromStr for Window {
    type Err = InvalidWindow;

    fn from_str(text: &str) -> Result<Self, InvalidWindow> {
        let seconds = duration::seconds(text).and_then(|seconds| i64::try_from(seconds).ok());
        Self::try_from(seconds.ok_or(InvalidWindow)?)
    }
}

impl fmt::Display for Window {
    /// Formats the shortest ISO 8601 form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&duration::iso(self.0.unsigned_abs()))
    }
}
