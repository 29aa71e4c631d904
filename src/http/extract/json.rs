//! JSON bodies, parsed strictly. Text that is not JSON is 400. JSON that does not match the schema (an unknown,
//! missing or repeated field, a wrong type) is 422, and the problem names the field.

use crate::fair;
use crate::http::extract::body::{self, Limit, MediaType};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use axum::extract::{FromRequest, Request};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::fmt;
use std::marker::PhantomData;

/// The JSON body of a request.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<AppState> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let accepted = [(MediaType::Json, Limit::of_bodies(&state.settings))];
        let (_, text) = body::read_text(state, request, &accepted).await?;
        parse(&text).map(Self)
    }
}

/// An optional JSON body. No body, like `null`, means an empty object.
#[derive(Debug)]
pub(crate) struct OptionalJsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned + Default> FromRequest<AppState> for OptionalJsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let limit = Limit::of_bodies(&state.settings);
        let bytes = body::read(&parts.headers, body, limit, state.settings.body_timeout).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        body::media_type(&parts.headers, &[(MediaType::Json, ())])?;
        let text = body::text(bytes)?;
        if text.trim() == "null" {
            return Ok(Self(T::default()));
        }
        parse(&text).map(Self)
    }
}

/// A JSON object that is deserialized as `T`. Derived code would also accept an array of the fields' values in order,
/// which the API does not document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OnlyMaps<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OnlyMaps<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(OnlyMaps(PhantomData))
    }
}

/// Reads a JSON object as `T`.
///
/// # Errors
/// 400 or 422, see the module.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    read(text).map(|Object(value)| value)
}

/// Reads a JSON array of objects.
///
/// # Errors
/// 400 or 422, see the module.
pub(crate) fn parse_list<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Problem> {
    let list: Vec<Object<T>> = read(text)?;
    Ok(list.into_iter().map(|Object(value)| value).collect())
}

/// The maximum number of objects, and of values in total, in a body: an empty object takes about a hundred times the
/// memory of its text.
const MOST_OBJECTS: usize = 50_000;
const MOST_VALUES: usize = 250_000;

/// The pieces of a JSON text between its strings.
fn outside_strings(json: &str) -> impl Iterator<Item = &str> {
    let (mut in_string, mut is_escaped) = (false, false);
    json.split(move |c| {
        let is_quote = c == '"' && !is_escaped;
        let is_of_string = in_string || is_quote;
        is_escaped = in_string && c == '\\' && !is_escaped;
        in_string ^= is_quote;
        is_of_string
    })
}

/// Counts the characters that open an object, and those that open or separate values.
fn structure(text: &str) -> (usize, usize) {
    let bytes = outside_strings(text).flat_map(str::bytes);
    bytes.fold((0, 0), |(objects, values), byte| match byte {
        b'{' => (objects + 1, values + 1),
        b'[' | b',' => (objects, values + 1),
        _ => (objects, values),
    })
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    fair::run_blocking_if_long(text.len(), || read_here(text))
}

fn read_here<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    let (objects, values) = structure(text);
    for (what, limit, actual) in [
        ("objects", MOST_OBJECTS, objects),
        ("values", MOST_VALUES, values),
    ] {
        if actual > limit {
            let detail = format!("the body has {actual} JSON {what}; at most {limit} are accepted");
            let problem = Problem::invalid("body", detail);
            return Err(problem.with("limit", limit).with("actual", actual));
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { "body" } else { &path };
        problem(field, error.inner())
    })?;
    deserializer.end().map_err(|error| problem("body", &error))?;
    Ok(value)
}

fn problem(field: &str, error: &serde_json::Error) -> Problem {
    match error.classify() {
        Category::Data => {
            let message = error.to_string();
            let what = message.split(" at line ").next().unwrap_or(&message);
            Problem::invalid(field, format!("{field}: {what}"))
        }
        _ => Problem::malformed("body", format!("the body is not JSON: {error}")),
    }
}

/// Deserializes client JSON that is stored, whose numbers must keep all their digits; for `deserialize_with`. A number that
/// would lose some is rejected instead of silently rounded.
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
    let is_of_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let words = outside_strings(json).flat_map(|piece| piece.split(move |c| !is_of_number(c)));
    let mut numbers = words.filter(|word| word.starts_with(|c: char| c == '-' || c.is_ascii_digit()));
    numbers.find(|number| {
        let read: Option<serde_json::Number> = serde_json::from_str(number).ok();
        let kept = read.and_then(|read| value(&read.to_string()));
        kept.is_none() || kept != value(number)
    })
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
    use crate::http::problem::Kind;
    use proptest::prelude::*;

    #[derive(Debug, serde::Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        task: String,
        #[serde(default)]
        inner: Vec<Object<Inner>>,
    }

    #[derive(Debug, serde::Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        count: u32,
    }

    #[test]
    fn what_does_not_fit_is_invalid_and_named() {
        for (text, field) in [
            (r#"{"task":1}"#, "task"),
            (
                r#"{"task":"a","inner":[{"count":1},{"count":"x"}]}"#,
                "inner[1].count",
            ),
            (r#"{"task":"a","inner":[{"count":1,"more":2}]}"#, "inner[0].more"),
            (r#"{"task":"a","extra":1}"#, "extra"),
            (r#"{"task":"a","task":"b"}"#, "task"),
            (r"{}", "task"),
            (r#"["a",[]]"#, "body"),
            (r#"{"task":"a","inner":[[1]]}"#, "inner[0]"),
            ("null", "body"),
        ] {
            let problem = parse::<Outer>(text).unwrap_err();
            assert_eq!(problem.kind(), Kind::Invalid, "{text}");
            let shown = format!("{problem:?}");
            assert!(shown.contains(field), "{text}: {shown}");
        }
    }

    #[test]
    fn what_is_mostly_structure_is_refused_unread() {
        let lists =
            |inner: &str, count| format!("{{\"task\":\"a\",\"inner\":[{}]}}", vec![inner; count].join(","));
        let many = parse::<Outer>(&lists("{\"count\":1}", MOST_OBJECTS)).unwrap_err();
        assert_eq!(many.member("limit"), Some(&MOST_OBJECTS.into()));
        assert!(parse::<Outer>(&lists("{\"count\":1}", MOST_OBJECTS - 1)).is_ok());
        let text = format!("{{\"task\":\"{}\\\"\"}}", "{[,".repeat(MOST_VALUES));
        assert!(
            parse::<Outer>(&text).is_ok(),
            "what stands in a string is no structure"
        );
    }

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
