//! Ids in paths. A segment that is not UTF-8 after decoding is 400; an invalid id is 422.

use crate::domain::ids::{Category, ItemId, KeyId, MemoryId, VaultId};
use crate::http::problem::Problem;
use crate::storage::prompt_items::ItemOwner;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use serde::de::value::{Error, SeqDeserializer};
use serde_path_to_error::Segment;
use std::fmt::Display;
use std::str::FromStr;

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
        let ids = SeqDeserializer::<_, Error>::new(params.iter().map(|(_, id)| id));
        serde_path_to_error::deserialize(ids).map(Self).map_err(|error| {
            let name = match error.path().iter().next() {
                Some(Segment::Seq { index }) => params.iter().nth(*index).map(|(name, _)| name),
                _ => None,
            };
            match name {
                Some(name) => Problem::invalid(name, format!("{name} {}", error.inner())),
                None => Problem::internal(error),
            }
        })
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

/// `…/items` of a memory or of a vault.
#[derive(Debug)]
pub(crate) struct ItemsPath(pub(crate) ItemOwner);

/// `…/items/{item}` of a memory or of a vault: one of its items, or a category.
#[derive(Debug)]
pub(crate) struct ItemPath<T> {
    /// The memory or the vault.
    pub(crate) owner: ItemOwner,
    /// One of its items, or a category.
    pub(crate) entry: T,
}

/// What the segment `{item}` can be, and its name in problems.
pub(crate) trait ItemSegment: FromStr<Err: Display> {
    const FIELD: &'static str;
}

impl ItemSegment for ItemId {
    const FIELD: &'static str = "item_id";
}

impl ItemSegment for Category {
    const FIELD: &'static str = "category";
}

/// The parameter `name`, if the route has it; `field` is its name in problems.
fn id<T: FromStr<Err: Display>>(
    params: &RawPathParams,
    name: &str,
    field: &str,
) -> Result<Option<T>, Problem> {
    let found = params.iter().find(|(known, _)| *known == name);
    let parsed = found.map(|(_, text)| text.parse()).transpose();
    parsed.map_err(|rule| Problem::invalid(field, format!("{field} {rule}")))
}

fn owner(params: &RawPathParams) -> Result<ItemOwner, Problem> {
    Ok(ItemOwner {
        vault: id(params, "vault_id", "vault_id")?
            .ok_or_else(|| Problem::internal("the route has no vault_id"))?,
        memory: id(params, "memory_id", "memory_id")?,
    })
}

impl<S: Send + Sync> FromRequestParts<S> for ItemsPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        owner(&decoded(parts, state).await?).map(Self)
    }
}

impl<S: Send + Sync, T: ItemSegment> FromRequestParts<S> for ItemPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = decoded(parts, state).await?;
        Ok(Self {
            owner: owner(&params)?,
            entry: id(&params, "item", T::FIELD)?
                .ok_or_else(|| Problem::internal("the route has no item"))?,
        })
    }
}
