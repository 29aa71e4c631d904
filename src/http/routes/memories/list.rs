//! `GET /v1/vaults/{vault_id}/memories`

use crate::domain::ids::MemoryId;
use crate::fair::{self, Party};
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::VaultPath;
use crate::http::extract::query::{FromQuery, Query, QueryReader};
use crate::http::names::{Named, SourceName, listed};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::memories::MemorySummary;
use crate::storage::memories::list::MemoryOrder;
use axum::extract::State;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use strum::{EnumString, VariantNames};

/// Which memories to show.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MemoryParams {
    /// Only those whose id begins like this.
    #[param(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    prefix: Option<MemoryId>,
    /// What they are sorted by: `memory_id` (the default), or the largest first `changed_at` or `bytes`.
    #[param(value_type = Option<SortName>, inline)]
    sort: Option<MemoryOrder>,
}

/// The orders of a list of memories.
#[derive(Debug, Clone, Copy, Default, EnumString, VariantNames)]
#[strum(serialize_all = "snake_case")]
enum Sort {
    #[default]
    MemoryId,
    ChangedAt,
    Bytes,
}

listed! {
    /// What memories can be sorted by.
    SortName of Sort as "MemorySort";
}

impl FromQuery for MemoryParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            prefix: query.parse("prefix")?,
            sort: match query.name("sort")?.unwrap_or_default() {
                Sort::MemoryId => None,
                Sort::ChangedAt => Some(MemoryOrder::ChangedAt),
                Sort::Bytes => Some(MemoryOrder::Bytes),
            },
        })
    }
}

/// The position at which a page of a sorted list begins.
struct Key(i64, MemoryId);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number, memory) = self;
        write!(f, "{number} {memory}")
    }
}

impl FromStr for Key {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (number, memory) = text.split_once(' ').ok_or(())?;
        Ok(Self(
            number.parse().map_err(|_| ())?,
            memory.parse().map_err(|_| ())?,
        ))
    }
}

/// A memory in a list. One that has prompt items and no document has the version 0.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = MemoryEntry)]
pub(crate) struct MemoryEntry {
    /// The vault.
    pub(crate) vault_id: String,
    /// The memory.
    pub(crate) memory_id: String,
    /// The newest version's number; 0 without a document.
    #[schema(minimum = 0)]
    pub(crate) version: i64,
    /// The newest version's id; null without a document.
    #[schema(required)]
    pub(crate) context_id: Option<String>,
    /// When the first version was made; without a document, when the oldest of its items was added.
    pub(crate) created_at: DateTime<Utc>,
    /// When the newest version was made; without a document, when items were last added or replaced.
    pub(crate) changed_at: DateTime<Utc>,
    /// The size of the newest version's text in bytes; 0 without a document.
    #[schema(minimum = 0)]
    pub(crate) bytes: i32,
    /// Who made the newest version; without a document, who added the newest of its items.
    pub(crate) last_actor_id: String,
    /// What made the newest version: `put`, `update`, `operations`, `task`, `decision`, `status`, `restore`, `import` or
    /// `tool`; null without a document.
    #[schema(required, value_type = Option<String>)]
    pub(crate) last_source: Option<SourceName>,
}

impl From<MemorySummary> for MemoryEntry {
    fn from(memory: MemorySummary) -> Self {
        Self {
            vault_id: memory.vault_id.to_string(),
            memory_id: memory.memory_id.to_string(),
            version: memory.version,
            context_id: memory.context_id.map(|id| id.to_string()),
            created_at: memory.created_at,
            changed_at: memory.changed_at,
            bytes: memory.bytes,
            last_actor_id: memory.actor_id.to_string(),
            last_source: memory.source.map(Named),
        }
    }
}

/// List the memories of a vault
///
/// In the order of their ids' bytes, or as `sort` says: those that have a document, and those that have prompt items of their
/// own and none yet. A vault that nothing was put into has none.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories",
    operation_id = "ListMemories",
    tag = "memories",
    params(MemoryParams, Page),
    responses((status = 200, description = "One page.", body = List<MemoryEntry>))
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    VaultPath { vault_id }: VaultPath,
    Query(params): Query<(MemoryParams, Page)>,
) -> Result<Response, Problem> {
    let (MemoryParams { prefix, sort }, page) = params;
    let _turn = fair::turn(&Party::current()).await;
    let begins = prefix.as_ref().map_or("", MemoryId::as_str);
    if let Some(order) = sort {
        let name = format!("memories/{vault_id}/{begins}/{order:?}");
        let after = page.after::<Key>(&name)?;
        let after = after.as_ref().map(|Key(number, id)| (*number, id));
        let memories = state
            .storage
            .list_memories_sorted(&vault_id, prefix.as_ref(), order, after, page.fetch())
            .await?;
        let key = |memory: &MemorySummary| Key(order.number(memory), memory.memory_id.clone());
        return Ok(page.of(&name, memories, key, MemoryEntry::from).answer());
    }
    let name = format!("memories/{vault_id}/{begins}");
    let after = page.after::<MemoryId>(&name)?;
    let memories = state
        .storage
        .list_memories(&vault_id, prefix.as_ref(), after.as_ref(), page.fetch())
        .await?;
    let key = |memory: &MemorySummary| memory.memory_id.clone();
    Ok(page.of(&name, memories, key, MemoryEntry::from).answer())
}
