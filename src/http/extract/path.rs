//! Ids in paths. A segment that is not UTF-8 after decoding is 400; an invalid id is 422.

use crate::domain::ids::{Category, HandoffId, ItemId, KeyId, MemoryId, RecordId, UpdateId, VaultId};
use crate::http::problem::Problem;
use crate::storage::ContextRef;
use crate::storage::prompt_items::ItemOwner;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use std::fmt::Display;
use std::str::FromStr;

/// A path parameter.
pub(crate) trait PathId: FromStr<Err: Display> + Send {
    /// The name of the parameter in the route and in the documentation.
    const NAME: &'static str;

    /// The name in problems, where a parameter can have values of several types.
    const FIELD: &'static str = Self::NAME;
}

impl PathId for VaultId {
    const NAME: &'static str = "vault_id";
}

impl PathId for MemoryId {
    const NAME: &'static str = "memory_id";
}

impl PathId for RecordId {
    const NAME: &'static str = "record_id";
}

impl PathId for UpdateId {
    const NAME: &'static str = "update_id";
}

impl PathId for KeyId {
    const NAME: &'static str = "key_id";
}

impl PathId for HandoffId {
    const NAME: &'static str = "handoff_id";
}

impl PathId for ContextRef {
    const NAME: &'static str = "ref";
}

impl PathId for ItemId {
    const NAME: &'static str = "item";
    const FIELD: &'static str = "item_id";
}

impl PathId for Category {
    const NAME: &'static str = "item";
    const FIELD: &'static str = "category";
}

/// `/v1/keys/{key_id}/…`
#[derive(Debug)]
pub(crate) struct KeyPath {
    /// One key.
    pub(crate) key_id: KeyId,
}

/// `/v1/vaults/{vault_id}/…`
#[derive(Debug)]
pub(crate) struct VaultPath {
    /// The tenant.
    pub(crate) vault_id: VaultId,
}

/// `/v1/vaults/{vault_id}/memories/{memory_id}/…`
#[derive(Debug)]
pub(crate) struct MemoryPath {
    /// The tenant.
    pub(crate) vault_id: VaultId,
    /// One of its memories.
    pub(crate) memory_id: MemoryId,
}

/// `/v1/vaults/{vault_id}/memories/{memory_id}/…/{entry}`
#[derive(Debug)]
pub(crate) struct EntryPath<T> {
    /// The tenant.
    pub(crate) vault_id: VaultId,
    /// One of its memories.
    pub(crate) memory_id: MemoryId,
    /// One version, record or run of that memory.
    pub(crate) entry: T,
}

/// `…/items` of a memory or of a vault.
#[derive(Debug)]
pub(crate) struct ItemsPath(pub(crate) ItemOwner);

/// `…/items/{entry}` of a memory or of a vault.
#[derive(Debug)]
pub(crate) struct ItemPath<T> {
    /// The memory or the vault.
    pub(crate) owner: ItemOwner,
    /// One of its items, or a category.
    pub(crate) entry: T,
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

fn id<T: PathId>(params: &RawPathParams) -> Result<T, Problem> {
    let (_, text) = params
        .iter()
        .find(|(name, _)| *name == T::NAME)
        .ok_or_else(|| Problem::internal(format_args!("the route has no {}", T::NAME)))?;
    text.parse()
        .map_err(|rule| Problem::invalid(T::FIELD, format!("{} {rule}", T::FIELD)))
}

impl<S: Send + Sync> FromRequestParts<S> for KeyPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = decoded(parts, state).await?;
        Ok(Self { key_id: id(&params)? })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for VaultPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = decoded(parts, state).await?;
        Ok(Self {
            vault_id: id(&params)?,
        })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for MemoryPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = decoded(parts, state).await?;
        Ok(Self {
            vault_id: id(&params)?,
            memory_id: id(&params)?,
        })
    }
}

impl<S: Send + Sync, T: PathId> FromRequestParts<S> for EntryPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = decoded(parts, state).await?;
        Ok(Self {
            vault_id: id(&params)?,
            memory_id: id(&params)?,
            entry: id(&params)?,
        })
    }
}

/// Whose items a path is about.
fn owner(params: &RawPathParams) -> Result<ItemOwner, Problem> {
    let has_memory = params.iter().any(|(name, _)| name == MemoryId::NAME);
    Ok(ItemOwner {
        vault: id(params)?,
        memory: has_memory.then(|| id(params)).transpose()?,
    })
}

impl<S: Send + Sync> FromRequestParts<S> for ItemsPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        owner(&decoded(parts, state).await?).map(Self)
    }
}

impl<S: Send + Sync, T: PathId> FromRequestParts<S> for ItemPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = decoded(parts, state).await?;
        Ok(Self {
            owner: owner(&params)?,
            entry: id(&params)?,
        })
    }
}
