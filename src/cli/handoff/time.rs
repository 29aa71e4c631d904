//! How long something is or was ago, as people write it and as the service reads it.

use chrono::TimeDelta;
use std::fmt;
use std::str::FromStr;

/// The longest, in seconds: a hundred years.
const MAX_SECONDS: u64 = 100 * 366 * 86_400;

/// A length of time: `6h`, `90m`, `2d`, or `PT6H`; shown as the latter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Window {
    seconds: u64,
}

impl Window {
    /// The same as a time to wait.
    pub(in crate::cli) fn duration(self) -> std::time::Duration {
        std::time::Duration::from_secs(self.seconds)
    }

    /// The same as a difference of times.
    pub(super) fn length(self) -> TimeDelta {
        // A hundred years fit.
        TimeDelta::seconds(i64::try_from(self.seconds).unwrap_or(i64::MAX / 1_000))
    }
}

impl FromStr for Window {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const RULE: &str = "must be a length of time such as 6h, 90m, 2d or PT6H";
        let lower = text.trim().to_ascii_lowercase();
        let units: String = match lower.strip_prefix('p') {
            Some(rest) => rest.replacen('t', "", 1),
            None => lower,
        };
        let mut seconds: u64 = 0;
        let mut rest = units.as_str();
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number: u64 = rest[..digits].parse().map_err(|_| RULE)?;
            let mut behind = rest[digits..].chars();
            let unit = match behind.next() {
                Some('d') => 86_400,
                Some('h') => 3_600,
                Some('m') => 60,
                Some('s') => 1,
                _ => return Err(RULE),
            };
            seconds = number
                .checked_mul(unit)
                .and_then(|more| seconds.checked_add(more))
                .ok_or(RULE)?;
            rest = behind.as_str();
        }
        if (1..=MAX_SECONDS).contains(&seconds) {
            Ok(Self { seconds })
        } else {
            Err(RULE)
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hours, minutes, seconds) = (self.seconds / 3_600, self.seconds / 60 % 60, self.seconds % 60);
        f.write_str("PT")?;
        for (number, unit) in [(hours, 'H'), (minutes, 'M'), (seconds, 'S')] {
            if number > 0 {
                write!(f, "{number}{unit}")?;
            }
        }
        Ok(())
    }
}

/// `3 minutes ago`. A time to come, as of another machine's clock, was just now.
pub(super) fn ago(age: TimeDelta) -> String {
    let (number, unit) = match age.num_seconds() {
        ..10 => return "just now".to_owned(),
        seconds @ ..60 => (seconds, "second"),
        seconds @ ..3_600 => (seconds / 60, "minute"),
        seconds @ ..86_400 => (seconds / 3_600, "hour"),
        seconds => (seconds / 86_400, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_window_is_read_as_people_write_it() {
        for (text, shown) in [
            ("6h", "PT6H"),
            ("PT6H", "PT6H"),
            ("90m", "PT1H30M"),
            ("2d", "PT48H"),
            ("P1DT1S", "PT24H1S"),
            (" 1h30m ", "PT1H30M"),
        ] {
            assert_eq!(
                text.parse::<Window>().map(|window| window.to_string()),
                Ok(shown.to_owned())
            );
        }
        for bad in [
            "",
            "6",
            "h",
            "0h",
            "-1h",
            "1w",
            "PT",
            "1.5h",
            "99999999999999999999h",
            "9999999d",
            "６h",
        ] {
            assert!(bad.parse::<Window>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        for (seconds, told) in [
            (-5, "just now"),
            (9, "just now"),
            (59, "59 seconds ago"),
            (60, "1 minute ago"),
            (7_199, "1 hour ago"),
            (200_000, "2 days ago"),
        ] {
            assert_eq!(ago(TimeDelta::seconds(seconds)), told);
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back_and_nothing_panics(seconds in 1..MAX_SECONDS, text in "\\PC{0,12}") {
            let window = Window { seconds };
            prop_assert_eq!(window.to_string().parse::<Window>(), Ok(window));
            let _ = text.parse::<Window>();
        }
    }
}
