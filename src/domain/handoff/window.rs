//! How far back a handoff looks: a duration in the form of ISO 8601 (`PT2H`, `P1DT12H`), or short (`2h`).

use chrono::TimeDelta;
use std::fmt;
use std::str::FromStr;

/// The longest window, in seconds: 366 days.
pub const MAX_SECONDS: i64 = 366 * 86_400;

/// A duration from one second to 366 days, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window(i64);

/// Why a text or a number is no window. The message is fit to be shown to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a duration from PT1S to P366D in whole weeks, days, hours, minutes and seconds, such as PT2H, P1DT12H or 2h"
)]
pub struct InvalidWindow;

impl Window {
    /// Two hours.
    pub const DEFAULT: Self = Self(7_200);

    /// Half a day: so long a window may be asked for however young the memory is, so that what asks for a day of work
    /// need not know when it began.
    pub const ALWAYS: Self = Self(43_200);

    /// A window of so many seconds.
    ///
    /// # Errors
    /// Less than 1, or more than [`MAX_SECONDS`].
    pub fn of_seconds(seconds: i64) -> Result<Self, InvalidWindow> {
        (1..=MAX_SECONDS)
            .contains(&seconds)
            .then_some(Self(seconds))
            .ok_or(InvalidWindow)
    }

    /// Its length in seconds.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.0
    }

    /// Its length.
    #[must_use]
    pub fn length(self) -> TimeDelta {
        TimeDelta::seconds(self.0)
    }
}

impl FromStr for Window {
    type Err = InvalidWindow;

    fn from_str(text: &str) -> Result<Self, InvalidWindow> {
        let seconds = match text.strip_prefix('P') {
            Some(parts) => iso(parts),
            None => short(text),
        };
        Self::of_seconds(seconds.ok_or(InvalidWindow)?)
    }
}

/// `2h`: one number and one unit.
fn short(text: &str) -> Option<i64> {
    let (unit, number) = text
        .chars()
        .next_back()
        .zip(text.get(..text.len().checked_sub(1)?))?;
    let each = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    whole(number)?.checked_mul(each)
}

/// What stands behind the `P`: units in falling order, each once. Years and months have no fixed length and are
/// none of them.
fn iso(parts: &str) -> Option<i64> {
    let (date, time) = match parts.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (parts, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let date = units(date, &[('W', 604_800), ('D', 86_400)])?;
    date.checked_add(units(time, &[('H', 3_600), ('M', 60), ('S', 1)])?)
}

fn units(mut text: &str, known: &[(char, i64)]) -> Option<i64> {
    let mut sum: i64 = 0;
    for (unit, each) in known {
        if let Some((number, rest)) = text.split_once(*unit) {
            sum = sum.checked_add(whole(number)?.checked_mul(*each)?)?;
            text = rest;
        }
    }
    text.is_empty().then_some(sum)
}

fn whole(digits: &str) -> Option<i64> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

impl fmt::Display for Window {
    /// The shortest form of ISO 8601.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("P")?;
        let (days, rest) = (self.0 / 86_400, self.0 % 86_400);
        if days > 0 {
            write!(f, "{days}D")?;
        }
        if rest > 0 {
            f.write_str("T")?;
        }
        for (unit, number) in [("H", rest / 3_600), ("M", rest % 3_600 / 60), ("S", rest % 60)] {
            if number > 0 {
                write!(f, "{number}{unit}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_durations_and_are_shown_in_their_shortest_form() {
        for (text, shown) in [
            ("PT2H", "PT2H"),
            ("2h", "PT2H"),
            ("90m", "PT1H30M"),
            ("PT120M", "PT2H"),
            ("P1DT12H", "P1DT12H"),
            ("1w", "P7D"),
            ("P1W", "P7D"),
            ("PT24H", "P1D"),
            ("1s", "PT1S"),
            ("P366D", "P366D"),
        ] {
            assert_eq!(
                text.parse().map(|window: Window| window.to_string()),
                Ok(shown.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_duration_or_is_none_at_all_or_is_too_long_is_refused() {
        for text in [
            "",
            "P",
            "PT",
            "0s",
            "PT0S",
            "-1h",
            "-PT1H",
            "+1h",
            "1.5h",
            "PT0.5H",
            "1",
            "h",
            "P1Y",
            "P1M",
            "PT1D",
            "P1H",
            "PT1M1H",
            "PT1H1H",
            "P367D",
            "367d",
            "99999999999999999999h",
            "9223372036854775807w",
            "1ä",
            "ä",
            " 2h",
            "P1DT",
            "pt2h",
            "PT٣H",
        ] {
            assert_eq!(text.parse::<Window>(), Err(InvalidWindow), "{text:?}");
        }
    }
}
