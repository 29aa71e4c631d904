//! JSON bodies, parsed strictly. Text that is not JSON is 400. JSON that does not match the schema (an unknown,
//! missing or repeated field, a wrong type) is 422, and the problem names the field.

use super::body::{self, Limit};
use super::media_type::{self, MediaType};
use crate::fair;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use axum::extract::{FromRequest, Request};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use std::fmt;
use std::marker::PhantomData;

/// The JSON body of a request.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<AppState> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        media_type::of_body(&parts.headers, &[MediaType::Json])?;
        let limit = Limit::of_bodies(state);
        parse(&body::read_text(state, &parts.headers, body, limit).await?).map(Self)
    }
}

/// Reads an optional JSON body.
///
/// # Errors
/// As for [`JsonBody`].
pub(crate) async fn optional<T: DeserializeOwned + Default>(
    state: &AppState,
    request: Request,
) -> Result<T, Problem> {
    let (parts, body) = request.into_parts();
    let limit = Limit::of_bodies(state);
    let bytes = body::read(&parts.headers, body, limit, state.settings.body_timeout).await?;
    if bytes.is_empty() {
        return Ok(T::default());
    }
    media_type::of_body(&parts.headers, &[MediaType::Json])?;
    let text = body::text(bytes)?;
    if text.trim() == "null" {
        return Ok(T::default());
    }
    parse(&text)
}

/// An optional JSON body. No body, like `null`, means an empty object.
#[derive(Debug)]
pub(crate) struct OptionalJsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned + Default> FromRequest<AppState> for OptionalJsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        optional(state, request).await.map(Self)
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

/// Counts the characters that open an object, and those that open or separate values, outside of strings.
fn structure(text: &str) -> (usize, usize) {
    let (mut objects, mut values) = (0, 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => {
                objects += 1;
                values += 1;
            }
            b'[' | b',' => values += 1,
            _ => {}
        }
    }
    (objects, values)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::problem::Kind;

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
    fn what_is_not_json_is_malformed() {
        for text in [
            "",
            "{",
            r#"{"task":"a"} x"#,
            r#"{"task":"\ud800"}"#,
            "{'task':1}",
            "\u{feff}{}",
        ] {
            assert_eq!(
                parse::<Outer>(text).unwrap_err().kind(),
                Kind::Malformed,
                "{:.20}",
                text
            );
        }
    }
}
