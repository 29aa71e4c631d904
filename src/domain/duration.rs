//! Parses and formats durations: the one grammar for all durations in requests, configuration and the command
//! line.
//!
//! ```text
//! duration = "P" [ n "W" ] [ n "D" ] [ "T" [ n "H" ] [ n "M" ] [ n "S" ] ]    ISO 8601, at least one part
//!          | n ( "w" | "d" | "h" | "m" | "s" ) …                              short: 2h, 30d, 1h30m
//! n        = one or more of 0 to 9
//! ```
//!
//! Units must be in descending order, each at most once. Years and months have no fixed length and are not
//! supported, so `P1M` is rejected and never read as a minute.

use std::fmt::Write as _;

/// The accepted forms, for messages.
pub const FORMS: &str =
    "whole weeks, days, hours, minutes and seconds, such as 30d, 2h, 90m, PT2H or P1DT12H";

const DAYS: [(char, u64); 2] = [('W', 604_800), ('D', 86_400)];
const CLOCK: [(char, u64); 3] = [('H', 3_600), ('M', 60), ('S', 1)];
const SHORT: [(char, u64); 5] = [('w', 604_800), ('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Parses a duration into seconds; `None` if it is invalid or too large.
#[must_use]
pub fn seconds(text: &str) -> Option<u64> {
    let Some(parts) = text.strip_prefix('P') else {
        return units(text, &SHORT).filter(|_| !text.is_empty());
    };
    let (date, time) = match parts.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (parts, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    units(date, &DAYS)?.checked_add(units(time, &CLOCK)?)
}

/// Formats the shortest ISO 8601 form, in days and smaller units; `PT0S` for zero.
#[must_use]
pub fn iso(seconds: u64) -> String {
    let mut text = "P".to_owned();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    if days > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, "{days}D");
    }
    if rest > 0 || days == 0 {
        text.push('T');
    }
    for (unit, number) in [("H", rest / 3_600), ("M", rest % 3_600 / 60), ("S", rest % 60)] {
        if number > 0 || (seconds == 0 && unit == "S") {
            let _ = write!(text, "{number}{unit}");
        }
    }
    text
}

/// Parses numbers with these units, in this order, each at most once; 0 for an empty text.
fn units(mut text: &str, known: &[(char, u64)]) -> Option<u64> {
    let mut sum: u64 = 0;
    for (unit, each) in known {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        if let Some(rest) = text[digits..].strip_prefix(*unit) {
            let number: u64 = text[..digits].parse().ok()?;
            sum = sum.checked_add(number.checked_mul(*each)?)?;
            text = rest;
        }
    }
    text.is_empty().then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_forms_say_the_same() {
        for (texts, expected) in [
            ("PT2H 2h PT120M", 7_200),
            ("90m 1h30m", 5_400),
            ("P1DT12H", 129_600),
            ("1w P1W", 604_800),
            ("30d", 2_592_000),
            ("1s", 1),
            ("0s", 0),
        ] {
            let all: Vec<_> = texts.split(' ').map(seconds).collect();
            assert!(
                all.iter().all(|seconds| *seconds == Some(expected)),
                "{texts}: {all:?}"
            );
        }
    }

    #[test]
    fn nothing_else_is_a_duration() {
        for text in "|P|PT|-1h|-PT1H|+1h|1.5h|PT0.5H|1|h|P1Y|P1M|PT1D|P1H|PT1M1H|30m1h|PT1H1H|99999999999999999999h|18446744073709551615w|1ä|ä| 2h|2h |P1DT|pt2h|2H|PT٣H".split('|') {
            assert_eq!(seconds(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_and_nothing_panics(number in 0..u64::MAX, text in "\\PC{0,12}") {
            prop_assert_eq!(seconds(&iso(number)), Some(number));
            let _ = seconds(&text);
        }
    }
}
