//! Client JSON that is stored: numbers that would lose digits are rejected instead of silently rounded.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Deserializes any JSON whose numbers keep all their digits; for `deserialize_with`.
///
/// # Errors
/// A number that would be rounded, or JSON that is no `T`.
pub(crate) fn exact<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    if let Some(number) = rounded(raw.get()) {
        let shown: String = number.chars().take(40).collect();
        return Err(D::Error::custom(format!(
            "the number {shown} has more digits than can be stored; send it as a string"
        )));
    }
    serde_json::from_str(raw.get()).map_err(|error| {
        let message = error.to_string();
        D::Error::custom(message.split(" at line ").next().unwrap_or(&message))
    })
}

/// The first number in a JSON text whose parsed value differs from it.
fn rounded(json: &str) -> Option<&str> {
    let mut rest = json;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let from = &rest[at..];
        let end = if from.starts_with('"') {
            string_end(from)
        } else {
            let end = from.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c)));
            let end = end.unwrap_or(from.len());
            let number = &from[..end];
            let read: Option<serde_json::Number> = serde_json::from_str(number).ok();
            let kept = read.and_then(|read| value(&read.to_string()));
            if kept.is_none() || kept != value(number) {
                return Some(number);
            }
            end
        };
        rest = &from[end..];
    }
    None
}

/// The position after the closing quotation mark of the string that the text begins with.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    let closing = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    });
    closing.map_or(text.len(), |(at, _)| at + 1)
}

/// A number as sign, digits without leading and trailing zeros, and exponent: equal for equal values.
fn value(number: &str) -> Option<(bool, String, i64)> {
    let (is_negative, unsigned) = match number.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, number),
    };
    let (mantissa, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let power: i64 = power.parse().ok()?;
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    let shortest = digits.trim_end_matches('0');
    if shortest.is_empty() {
        return Some((false, String::new(), 0));
    }
    let zeros = i64::try_from(digits.len() - shortest.len()).ok()?;
    let fraction = i64::try_from(fraction.len()).ok()?;
    let power = power.checked_sub(fraction)?.checked_add(zeros)?;
    Some((is_negative, shortest.to_owned(), power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_numbers_that_would_be_rounded_are_found() {
        for kept in [
            "1",
            "-0.0",
            "1.10",
            "[1e5, 1E-7, 0.1]",
            "18446744073709551615",
            "-9223372036854775808",
            r#"{"12345678901234567890123": "\"99999999999999999999.5"}"#,
            "1.7976931348623157e308",
        ] {
            assert_eq!(rounded(kept), None, "{kept}");
        }
        for (lossy, number) in [
            ("12345678901234567890123", "12345678901234567890123"),
            (
                r#"{"a": [true, 0.12345678901234567891]}"#,
                "0.12345678901234567891",
            ),
            ("[18446744073709551617]", "18446744073709551617"),
            ("1e400", "1e400"),
        ] {
            assert_eq!(rounded(lossy), Some(number), "{lossy}");
        }
    }

    proptest! {
        #[test]
        fn a_number_of_fifteen_digits_is_kept(digits in -999_999_999_999_999_i64..999_999_999_999_999, power in -7..7,
                                              text in "\\PC{0,20}") {
            let json = format!("[{digits}e{power}, {}]", serde_json::json!(text));
            prop_assert_eq!(rounded(&json), None, "{}", json);
            let _ = rounded(&text);
        }
    }
}
