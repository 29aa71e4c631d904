//! `GET /v1/vaults/{vault_id}/memories`

use crate::domain::ids::MemoryId;
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::VaultPath;
use crate::http::extract::query::{FromQuery, Query, QueryReader};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::memories::MemorySummary;
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Serialize;

/// Which memories to show.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MemoryParams {
    /// Only those whose id begins like this.
    #[param(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    prefix: Option<MemoryId>,
}

impl FromQuery for MemoryParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            prefix: query.parse("prefix")?,
        })
    }
}

/// A memory in a list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = MemoryEntry)]
pub(crate) struct MemoryEntry {
    /// The vault.
    vault_id: String,
    /// The memory.
    memory_id: String,
    /// The newest version's number.
    #[schema(minimum = 1)]
    version: i64,
    /// The newest version's id.
    context_id: String,
    /// When the memory was made.
    created_at: DateTime<Utc>,
    /// When the newest version was made.
    changed_at: DateTime<Utc>,
    /// The size of the newest version's text in bytes.
    #[schema(minimum = 0)]
    bytes: i32,
}

impl From<MemorySummary> for MemoryEntry {
    fn from(memory: MemorySummary) -> Self {
        Self {
            vault_id: memory.vault_id.to_string(),
            memory_id: memory.memory_id.to_string(),
            version: memory.version,
            context_id: memory.context_id.to_string(),
            created_at: memory.created_at,
            changed_at: memory.changed_at,
            bytes: memory.bytes,
        }
    }
}

/// List the memories of a vault
///
/// In the order of their ids' bytes. A vault that nothing was put into has none.
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
) -> Result<Json<List<MemoryEntry>>, Problem> {
    let (MemoryParams { prefix }, page) = params;
    let begins = prefix.as_ref().map_or("", MemoryId::as_str);
    let name = format!("memories/{vault_id}/{begins}");
    let after = page.after::<MemoryId>(&name)?;
    let memories = state
        .storage
        .list_memories(&vault_id, prefix.as_ref(), after.as_ref(), page.fetch())
        .await?;
    Ok(Json(page.of(
        &name,
        memories,
        |memory| memory.memory_id.clone(),
        MemoryEntry::from,
    )))
}
