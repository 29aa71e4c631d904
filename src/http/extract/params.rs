//! The parameters of a path and of a query.
//!
//! A segment of a path that is not UTF-8 after decoding is 400; an invalid id is 422. Query parameters are read strictly: one that the
//! operation does not document, a repeated or an invalid one is 422 with its name, one that is not UTF-8 is 400. Otherwise a
//! misspelled filter would return everything: serde passes over what a struct does not have.

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
use serde::de::DeserializeOwned;
use serde::de::value::{Error, SeqDeserializer};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::LazyLock;
use url::form_urlencoded::{self, Parse, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::path::ParameterIn;

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

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        read_query(&parts.uri).map(Self)
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
/// 422 that names the parameter, 400 if one is not UTF-8.
pub(crate) fn reject_unknown(parts: &Parts) -> Result<(), Problem> {
    let Some(known) = parts.uri.query().and_then(|_| documented(parts)) else {
        return Ok(());
    };
    for pair in parts.uri.query().unwrap_or_default().split('&') {
        let Some((name, _)) = form_urlencoded::parse(pair.as_bytes()).next() else {
            continue;
        };
        if percent_decode_str(pair).decode_utf8().is_err() {
            let detail =
                format!("the query parameter {name} is not UTF-8 when its percent-encoding is decoded");
            return Err(Problem::malformed(&name, detail));
        }
        if !known.iter().any(|known| *known == name) {
            let known = match known.as_slice() {
                [] => "none".to_owned(),
                known => known.join(", "),
            };
            let detail = format!("the query parameter {name} is not known here; known: {known}");
            return Err(Problem::invalid(&name, detail));
        }
    }
    Ok(())
}

/// The decoded parameters of a query. What is not UTF-8 has U+FFFD in its place; an invalid escape is left as it is.
fn pairs(uri: &Uri) -> Parse<'_> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
}

/// Reads the parameters of one struct.
///
/// # Errors
/// 422 that names the parameter.
pub(crate) fn read_query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let query = serde_urlencoded::Deserializer::new(pairs(uri));
    serde_path_to_error::deserialize(query).map_err(|error| {
        let path = error.path().to_string();
        let message = error.inner().to_string();
        let name = match path.as_str() {
            // It is missing or given twice: only serde's message has its name.
            "." => message.split('`').nth(1).unwrap_or_default(),
            name => name,
        };
        Problem::invalid(name, format!("{name}: {message}"))
    })
}

/// The parameters that say which page of a list is asked for, not which list.
const OF_PAGES: [&str; 3] = ["cursor", "last_event_id", "limit"];

/// The list that is asked for: its path, and the parameters that choose its entries.
pub(crate) fn list_of(uri: &Uri) -> String {
    let mut chosen: Vec<_> = pairs(uri)
        .filter(|(name, _)| !OF_PAGES.contains(&name.as_ref()))
        .collect();
    chosen.sort();
    let list = format!("{}?", uri.path());
    let begin = list.len();
    Serializer::for_suffix(list, begin).extend_pairs(chosen).finish()
}

/// Reads a number within a range. Its parameter is declared as a text: serde's error about a number would not name the range.
///
/// # Errors
/// 422 that names the range.
pub(crate) fn within(
    name: &str,
    text: Option<&String>,
    range: RangeInclusive<u32>,
) -> Result<Option<u32>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let number = text.parse().ok().filter(|number| range.contains(number));
    if number.is_some() {
        return Ok(number);
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

#[cfg(test)]
mod query_tests {
    use super::*;
    use crate::http::problem::Kind;
    use serde::Deserialize;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    struct Sample {
        q: Option<String>,
        flag: Option<bool>,
        n: Option<u32>,
    }

    fn read(query: &str) -> Result<Sample, Kind> {
        let uri: Uri = format!("/?{query}").parse().unwrap();
        read_query(&uri).map_err(|problem| problem.kind())
    }

    #[test]
    fn names_and_values_are_decoded() {
        let sample = read("q=a+b%2Bc%C3%A4&&flag=true&other=x").unwrap();
        assert_eq!(sample.q.as_deref(), Some("a b+cä"));
        assert_eq!(sample.flag, Some(true));
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
