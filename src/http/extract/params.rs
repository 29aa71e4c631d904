//! The parameters of a path and of a query.
//!
//! A segment of a path that is not UTF-8 after decoding is 400; an invalid id is 422. Query parameters are read strictly: one that the
//! operation does not document, a repeated or an invalid one is 422 with its name, one that cannot be decoded is 400. Otherwise a
//! misspelled filter would return everything. axum's extractor passes over what it does not know and replaces what it cannot decode.

use crate::domain::ids::{KeyId, MemoryId, VaultId};
use crate::http::openapi;
use crate::http::problem::Problem;
use crate::storage::prompt_items::ItemOwner;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams};
use axum::http::request::Parts;
use axum::http::{Method, Uri};
use chrono::{DateTime, Utc};
use percent_encoding::percent_decode_str;
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::LazyLock;
use url::form_urlencoded::Serializer;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{RefOr, Required};

/// A tuple of the ids in a path, in their order there.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

/// `/v1/keys/{key_id}/…`
pub(crate) type KeyPath = Path<(KeyId,)>;

/// `/v1/vaults/{vault_id}/…`
pub(crate) type VaultPath = Path<(VaultId,)>;

/// `/v1/vaults/{vault_id}/memories/{memory_id}/…`
pub(crate) type MemoryPath = Path<(VaultId, MemoryId)>;

/// `/v1/vaults/{vault_id}/memories/{memory_id}/…/{entry}`: one version, record or run of the memory.
pub(crate) type EntryPath<T> = Path<(VaultId, MemoryId, T)>;

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = decoded(parts, state).await?;
        let mut read = "";
        let ids = params.iter().map(|(name, id)| {
            read = name;
            id
        });
        let ids = T::deserialize(SeqDeserializer::<_, Error>::new(ids));
        // The one that was read last is the one that is not valid.
        ids.map(Self)
            .map_err(|error| Problem::invalid(read, format!("{read} {error}")))
    }
}

async fn decoded<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<RawPathParams, Problem> {
    RawPathParams::from_request_parts(parts, state)
        .await
        .map_err(|rejection| match rejection {
            RawPathParamsRejection::InvalidUtf8InPathParam(_) => Problem::malformed(
                "path",
                "the path is not UTF-8 when its percent-encoding is decoded",
            ),
            other => Problem::internal(other),
        })
}

/// An id in the path; `None` without it or with one that is not valid, which the route reports.
pub(crate) async fn in_path<T: FromStr>(parts: &mut Parts, name: &str) -> Option<T> {
    let params = RawPathParams::from_request_parts(parts, &()).await.ok()?;
    let (_, id) = params.iter().find(|(known, _)| *known == name)?;
    id.parse().ok()
}

/// `…/items` of a memory or of a vault, or `…/items/{item}`: one of its items, or a category.
#[derive(Debug)]
pub(crate) struct ItemPath {
    /// The memory or the vault.
    pub(crate) owner: ItemOwner,
    /// The id of an item, or a category.
    pub(crate) item: String,
}

impl<S: Send + Sync> FromRequestParts<S> for ItemPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = decoded(parts, state).await?;
        let segment = |name: &str| {
            params
                .iter()
                .find_map(|(known, text)| (known == name).then_some(text))
        };
        let memory = segment("memory_id").map(|text| parsed("memory_id", text));
        let owner = ItemOwner {
            vault: parsed("vault_id", segment("vault_id").unwrap_or_default())?,
            memory: memory.transpose()?,
        };
        let item = segment("item").unwrap_or_default().to_owned();
        Ok(Self { owner, item })
    }
}

/// Extracts parameters of an operation. [`reject_unknown`] has rejected those that it does not have.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + IntoParams> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        SentParams::new(&parts.uri)?.read().map(Self)
    }
}

/// The names of the query parameters of each operation, by path and method, as they are documented.
pub(crate) static DOCUMENTED: LazyLock<BTreeMap<String, HashMap<Method, Vec<String>>>> =
    LazyLock::new(|| {
        let paths = openapi::document().paths.paths.into_iter();
        let of_path = |mut item| {
            let operations = openapi::operations(&mut item);
            let named = operations.map(|(method, operation)| {
                let parameters = operation.parameters.iter().flatten();
                let names = parameters.filter_map(|parameter| match parameter {
                    RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => {
                        Some(parameter.name.clone())
                    }
                    _ => None,
                });
                (method, names.collect())
            });
            named.collect()
        };
        paths.map(|(path, item)| (path, of_path(item))).collect()
    });

/// The names of the query parameters of the operation that a request is for; `None` if the route does not take its method.
pub(crate) fn documented(parts: &Parts) -> Option<&'static Vec<String>> {
    let method = match parts.method {
        Method::HEAD => &Method::GET,
        ref method => method,
    };
    let route = parts.extensions.get::<MatchedPath>()?;
    DOCUMENTED.get(route.as_str())?.get(method)
}

/// Rejects query parameters that the operation does not have.
///
/// # Errors
/// 422 that names the parameter, 400 if one cannot be decoded.
pub(crate) fn reject_unknown(parts: &Parts) -> Result<(), Problem> {
    let asked = parts.uri.query().and_then(|_| documented(parts));
    asked.map_or(Ok(()), |known| SentParams::new(&parts.uri)?.only(known))
}

/// The decoded parameters of a request, each with its values.
#[derive(Debug)]
pub(crate) struct SentParams<'u> {
    uri: &'u Uri,
    sent: BTreeMap<String, Values>,
}

/// The parameters that say which page of a list is asked for, not which list.
const OF_PAGES: [&str; 3] = ["cursor", "last_event_id", "limit"];

impl<'u> SentParams<'u> {
    pub(crate) fn new(uri: &'u Uri) -> Result<Self, Problem> {
        let mut sent: BTreeMap<String, Values> = BTreeMap::new();
        let query = uri.query().unwrap_or_default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name).ok_or_else(|| {
                Problem::malformed(
                    "query",
                    "the name of a query parameter is not percent-encoded UTF-8",
                )
            })?;
            let value = decode(value).ok_or_else(|| {
                Problem::malformed(
                    &name,
                    format!("the query parameter {name} is not percent-encoded UTF-8"),
                )
            })?;
            sent.entry(name).or_default().0.push(value);
        }
        Ok(Self { uri, sent })
    }

    /// The list that is asked for: its path, and the parameters that choose its entries. Those of a page can follow.
    pub(crate) fn list(&self) -> String {
        let mut list = format!("{}?", self.uri.path());
        for (name, Values(values)) in &self.sent {
            if !OF_PAGES.contains(&name.as_str()) {
                let pairs = values.iter().map(|value| (name, value));
                let pairs = Serializer::new(String::new()).extend_pairs(pairs).finish();
                list.push_str(&pairs);
                list.push('&');
            }
        }
        list
    }

    /// Reads the parameters of one struct.
    ///
    /// # Errors
    /// 422 that names the parameter.
    pub(crate) fn read<T: DeserializeOwned + IntoParams>(&self) -> Result<T, Problem> {
        serde_path_to_error::deserialize(self).map_err(|error| {
            let name = match error.path().iter().next() {
                Some(_) => error.path().to_string(),
                None => self.missing::<T>(),
            };
            Problem::invalid(&name, format!("{name}: {}", error.inner()))
        })
    }

    /// The name of the required parameter that is not given.
    fn missing<T: IntoParams>(&self) -> String {
        let is_missing =
            |param: &Parameter| param.required == Required::True && !self.sent.contains_key(&param.name);
        let missing = T::into_params(|| None).into_iter().find(is_missing);
        missing.map(|param| param.name).unwrap_or_default()
    }

    fn only(&self, known: &[String]) -> Result<(), Problem> {
        let Some(name) = self.sent.keys().find(|name| !known.contains(name)) else {
            return Ok(());
        };
        let known = match known {
            [] => "none".to_owned(),
            known => known.join(", "),
        };
        let detail = format!("the query parameter {name} is not known here; known: {known}");
        Err(Problem::invalid(name, detail))
    }
}

/// What a query holds for one struct: serde says which fields that has.
impl<'de> Deserializer<'de> for &SentParams<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let sent = self.sent.iter();
        let own = sent.filter(|(name, _)| fields.contains(&name.as_str()));
        let own = own.map(|(name, values)| (name.as_str(), values.clone()));
        visitor.visit_map(MapDeserializer::new(own))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("only a struct has named parameters"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The values of a parameter. Only a list may have several.
#[derive(Debug, Clone, Default)]
struct Values(Vec<String>);

impl Values {
    fn one(mut self) -> Result<String, Error> {
        match (self.0.pop(), self.0.is_empty()) {
            (Some(value), true) => Ok(value),
            _ => Err(Error::custom("may be given only once")),
        }
    }

    fn parsed<T: FromStr>(self, expected: &str) -> Result<T, Error> {
        let value = self.one()?;
        value.parse().map_err(|_| Error::custom(expected))
    }
}

impl IntoDeserializer<'_, Error> for Values {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Values {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.one()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(self.parsed("must be one of: true, false")?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let has_sign = self.0.iter().any(|value| value.starts_with('+'));
        let expected = "must be a whole number";
        if has_sign {
            return Err(Error::custom(expected));
        }
        visitor.visit_u32(self.parsed(expected)?)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_f32(self.parsed("must be a number")?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(SeqDeserializer::new(self.0.into_iter()))
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u64 u128 f64 char str string bytes byte_buf unit unit_struct newtype_struct tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

/// Checks that a number is within a range.
///
/// # Errors
/// 422 that names the range.
pub(crate) fn within(name: &str, number: Option<u32>, range: RangeInclusive<u32>) -> Result<(), Problem> {
    if number.is_none_or(|number| range.contains(&number)) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    let detail = format!("{name} must be a whole number from {least} to {most}");
    let problem = Problem::invalid(name, detail);
    Err(problem.with("minimum", least).with("limit", most))
}

/// Parses a parameter whose error describes the expected form.
///
/// # Errors
/// 422 if it cannot be parsed.
pub(crate) fn parsed<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, Problem> {
    text.parse()
        .map_err(|rule| Problem::invalid(name, format!("{name} {rule}")))
}

/// Reads a time.
///
/// # Errors
/// 400 if it is not in the form of RFC 3339.
pub(crate) fn time(name: &str, text: Option<&String>) -> Result<Option<DateTime<Utc>>, Problem> {
    let Some(text) = text else { return Ok(None) };
    // A plus sign that was not percent-encoded is decoded as a space.
    let time = DateTime::parse_from_rfc3339(&text.replace(' ', "+"));
    let time = time.map_err(|_| {
        let detail = format!("{name} must be a time as in 2026-11-21T02:00:00Z (RFC 3339)");
        Problem::malformed(name, detail)
    });
    Ok(Some(time?.to_utc()))
}

/// Decodes a name or value; `None` if an escape is invalid or the bytes are not UTF-8.
fn decode(text: &str) -> Option<String> {
    let is_escape = |rest: &str| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    // The decoder leaves an invalid escape as it is.
    if !text.split('%').skip(1).all(is_escape) {
        return None;
    }
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod query_tests {
    use super::*;
    use crate::http::problem::Kind;
    use serde::Deserialize;

    #[derive(Debug, Default, PartialEq, Deserialize, IntoParams)]
    struct Sample {
        q: Option<String>,
        flag: Option<bool>,
        n: Option<u32>,
        names: Option<Vec<String>>,
    }

    fn read(query: &str) -> Result<Sample, Kind> {
        let uri: Uri = format!("/?{query}").parse().unwrap();
        let read = SentParams::new(&uri).and_then(|sent| sent.read());
        read.map_err(|problem| problem.kind())
    }

    #[test]
    fn names_and_values_are_decoded() {
        let sample = read("q=a+b%2Bc%C3%A4&&flag=true&names=a,b&names=c").unwrap();
        assert_eq!(sample.q.as_deref(), Some("a b+cä"));
        assert_eq!(sample.flag, Some(true));
        assert_eq!(sample.names, Some(vec!["a,b".to_owned(), "c".to_owned()]));
        assert_eq!(read("q=").unwrap().q.as_deref(), Some(""));
        assert_eq!(read(""), Ok(Sample::default()));
    }

    #[test]
    fn repeated_and_ill_typed_parameters_are_refused() {
        for bad in ["n=1&n=2", "n=+1", "flag=1", "flag=true&flag=true"] {
            assert_eq!(read(bad), Err(Kind::Invalid), "{bad}");
        }
    }
}
