//! Request bodies: their media type, and reading them with limits on size and time, also without `Content-Length`. JSON is parsed
//! strictly: text that is not JSON is 400; JSON that does not match the schema (an unknown, missing or repeated field, a wrong type)
//! is 422, and the problem names the field.

use crate::domain::text::write_out_numbers;
use crate::fair;
use crate::http::extract::headers::{Representation, single_header};
use crate::http::problem::{Kind, Problem};
use crate::http::state::{AppState, Settings};
use axum::BoxError;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use bytes::BytesMut;
use futures::StreamExt;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// A limit on the size of a body, with its name in the configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// `limits.…`
    pub(crate) name: &'static str,
    /// The maximum number of bytes.
    pub(crate) bytes: usize,
}

impl Limit {
    /// That of every body other than a document.
    pub(crate) fn of_bodies(settings: &Settings) -> Self {
        Self {
            name: "limits.body_bytes",
            bytes: settings.config.limits.body_bytes,
        }
    }

    /// That of a document.
    pub(crate) fn of_documents(settings: &Settings) -> Self {
        Self {
            name: "limits.context_bytes",
            bytes: settings.config.limits.context_bytes,
        }
    }
}

/// Reads a body of at most `limit`, which must arrive within `time`.
///
/// # Errors
/// 413 if it is larger, 408 on timeout, 400 if it ends early.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    limit: Limit,
    time: Duration,
) -> Result<Vec<u8>, Problem> {
    match tokio::time::timeout(time, read_bounded(headers, body, limit)).await {
        Ok(result) => result,
        Err(_) => Err(Problem::new(
            Kind::RequestTimeout,
            format!("the body did not arrive within {} seconds", time.as_secs()),
        )
        .with("field", "body")),
    }
}

/// The length in `Content-Length`.
pub(crate) fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn read_bounded(headers: &HeaderMap, body: Body, limit: Limit) -> Result<Vec<u8>, Problem> {
    let declared = declared_length(headers);
    let too_large = || Problem::too_large("body", limit.name, limit.bytes, declared);
    if declared.is_some_and(|length| length > limit.bytes as u64) {
        return Err(too_large());
    }
    let mut stream = body.into_data_stream();
    let mut read = BytesMut::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(broken)?;
        if chunk.len() > limit.bytes - read.len() {
            return Err(too_large());
        }
        read.extend_from_slice(&chunk);
    }
    Ok(read.into())
}

/// Why a body broke off: the problem of a limit that it did not fit while it arrived, or the client.
fn broken(error: axum::Error) -> Problem {
    let mut cause: BoxError = error.into();
    loop {
        cause = match cause.downcast::<axum::Error>() {
            Ok(error) => error.into_inner(),
            Err(cause) => {
                return match cause.downcast::<Problem>() {
                    Ok(problem) => *problem,
                    Err(cause) => {
                        Problem::malformed("body", "the body ended before it was complete").caused_by(cause)
                    }
                };
            }
        };
    }
}

/// Reads the text of a request in one of the accepted media types, each of which has its limit.
///
/// # Errors
/// As [`media_type`], [`read`] and [`text`].
pub(crate) async fn read_text(
    state: &AppState,
    request: Request,
    accepted: &[(Representation, Limit)],
) -> Result<(Representation, String), Problem> {
    let (parts, body) = request.into_parts();
    let (media_type, limit) = *media_type(&parts.headers, accepted)?;
    let bytes = read(&parts.headers, body, limit, state.settings.body_timeout).await?;
    Ok((media_type, text(bytes)?))
}

/// Decodes a body as UTF-8.
///
/// # Errors
/// 400 that names the first invalid byte.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, Problem> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Problem::malformed(
            "body",
            format!("the body is not UTF-8: byte {offset} begins no character"),
        )
        .with("offset", offset)
    })
}

/// The one of `accepted` whose media type is that of a request body.
///
/// # Errors
/// 415 that names the accepted types: no `Content-Type`, another type, a charset other than UTF-8, or a compressed
/// body.
pub(crate) fn media_type<'a, T>(
    headers: &HeaderMap,
    accepted: &'a [(Representation, T)],
) -> Result<&'a (Representation, T), Problem> {
    let refused = |what: String| {
        let names: Vec<_> = accepted
            .iter()
            .map(|(media_type, _)| media_type.essence())
            .collect();
        Problem::new(
            Kind::UnsupportedMediaType,
            format!("{what}; accepted: {} (UTF-8)", names.join(", ")),
        )
        .with("field", "Content-Type")
        .with("accepted", names)
    };
    let Some(text) = single_header(headers, "Content-Type")? else {
        return Err(refused("the body has no Content-Type".to_owned()));
    };
    let encoding =
        single_header(headers, "Content-Encoding")?.filter(|name| !name.eq_ignore_ascii_case("identity"));
    if let Some(encoding) = encoding {
        return Err(refused(format!(
            "the body is encoded as {encoding:?}; only an unencoded body is accepted"
        )));
    }
    let mut pieces = text.split(';').map(str::trim);
    let essence = pieces.next().unwrap_or_default();
    let media_type = accepted
        .iter()
        .find(|(media_type, _)| media_type.essence().eq_ignore_ascii_case(essence))
        .ok_or_else(|| refused(format!("the body is {essence:?}")))?;
    for parameter in pieces {
        let Some((name, value)) = parameter.split_once('=') else {
            continue;
        };
        let value = value.trim_matches('"');
        let utf8 = ["utf-8", "utf8", "us-ascii"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(value));
        if name.eq_ignore_ascii_case("charset") && !utf8 {
            return Err(refused(format!("the body is in the charset {value:?}")));
        }
    }
    Ok(media_type)
}

/// The JSON body of a request.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<AppState> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let accepted = [(Representation::Json, Limit::of_bodies(&state.settings))];
        let (_, text) = read_text(state, request, &accepted).await?;
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
        let bytes = read(&parts.headers, body, limit, state.settings.body_timeout).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        media_type(&parts.headers, &[(Representation::Json, ())])?;
        let text = text(bytes)?;
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
    from_json(text).map(|Object(value)| value)
}

/// Reads a JSON array of objects.
///
/// # Errors
/// 400 or 422, see the module.
pub(crate) fn parse_list<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Problem> {
    let list: Vec<Object<T>> = from_json(text)?;
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

fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
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
        problem(text, field, error.inner())
    })?;
    deserializer
        .end()
        .map_err(|error| problem(text, "body", &error))?;
    Ok(value)
}

/// What `chrono` says of a text that is no time, without saying what a time looks like.
const OF_TIMES: [&str; 6] = [
    "input is out of range",
    "no possible date and time matching input",
    "input is not enough for unique date and time",
    "input contains invalid characters",
    "premature end of input",
    "trailing input",
];

fn problem(text: &str, field: &str, error: &serde_json::Error) -> Problem {
    // The reader of an enum calls JSON other than a string a syntax error.
    if !error.is_data() && serde_json::from_str::<serde_json::Value>(text).is_err() {
        return Problem::malformed("body", format!("the body is not JSON: {error}"));
    }
    let message = error.to_string();
    let what = match message.split(" at line ").next().unwrap_or(&message) {
        "expected value" => "expected a string",
        what if OF_TIMES.contains(&what) => "expected a time as in 2026-11-21T02:00:00Z (RFC 3339)",
        what => what,
    };
    Problem::invalid(field, format!("{field}: {what}"))
}

/// Deserializes client JSON that is stored, whose numbers must keep all their digits; for `deserialize_with`. A number that
/// would lose some is rejected instead of silently rounded; the others are as the database returns them.
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
    let unreadable = |error: serde_json::Error| {
        let message = error.to_string();
        D::Error::custom(message.split(" at line ").next().unwrap_or(&message))
    };
    let mut value: Value = serde_json::from_str(raw.get()).map_err(unreadable)?;
    write_out_numbers(&mut value);
    T::deserialize(value).map_err(unreadable)
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
    use axum::http::header::CONTENT_TYPE;
    use bytes::Bytes;
    use proptest::prelude::*;
    use std::convert::Infallible;

    const LIMIT: Limit = Limit {
        name: "limits.test_bytes",
        bytes: 10,
    };

    #[tokio::test]
    async fn a_body_that_does_not_arrive_times_out() {
        let never = Body::from_stream(futures::stream::pending::<Result<Bytes, Infallible>>());
        let problem = read(&HeaderMap::new(), never, LIMIT, Duration::from_millis(20))
            .await
            .unwrap_err();
        assert_eq!(problem.kind(), Kind::RequestTimeout);
    }

    fn of(value: &'static str) -> Result<Representation, Kind> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())]);
        let found = media_type(
            &headers,
            &[(Representation::Plain, ()), (Representation::Json, ())],
        );
        found
            .map(|(media_type, ())| *media_type)
            .map_err(|problem| problem.kind())
    }

    #[test]
    fn utf8_text_and_json_are_accepted_in_any_case() {
        for good in [
            "text/plain",
            "Text/PLAIN; Charset=UTF-8",
            "text/plain;charset=\"utf-8\"",
            "text/plain; format=flowed",
        ] {
            assert_eq!(of(good), Ok(Representation::Plain), "{good}");
        }
        assert_eq!(of("application/json"), Ok(Representation::Json));
    }

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
            r#"["1e400", 1.7976931348623157e308, -5e-324, 0.9452706955539223, 1.38064852e-23, 7.6e+32]"#,
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
            ("-1e-400", "-1e-400"),
        ] {
            assert_eq!(rounded(lossy), Some(number), "{lossy}");
        }
    }

    proptest! {
        #[test]
        fn every_double_is_kept(number in proptest::num::f64::ANY) {
            let json = serde_json::json!(number).to_string();
            prop_assert_eq!(rounded(&json), None, "{}", json);
        }

        #[test]
        fn a_number_of_fifteen_digits_is_kept(digits in -999_999_999_999_999_i64..999_999_999_999_999, power in -7..7,
                                              text in "\\PC{0,20}") {
            let json = format!("[{digits}e{power}, {}]", serde_json::json!(text));
            prop_assert_eq!(rounded(&json), None, "{}", json);
            let _ = rounded(&text);
        }
    }
}
