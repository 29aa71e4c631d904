//! The memories of a vault: `/v1/vaults/{vault_id}/memories`, and `M` itself.

use crate::domain::ids::{MemoryId, RecordKind};
use crate::fair::{self, Party};
use crate::http::extract::headers::{ConditionHeaders, Conditions};
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{MemoryPath, Path, Query, VaultPath};
use crate::http::problem::Problem;
use crate::http::routes::contexts;
use crate::http::state::AppState;
use crate::storage::memories::{MemoryOrder, MemoryState, MemorySummary};
use crate::storage::records::RecordStatus;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};

/// Which memories to show.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MemoryParams {
    /// Only those whose id begins like this.
    prefix: Option<MemoryId>,
    /// What they are sorted by: `memory_id` (the default), or the largest first `changed_at` or `bytes`.
    #[param(inline)]
    sort: Option<MemoryOrder>,
}

/// List the memories of a vault
///
/// In the order of their ids' bytes, or as `sort` says: those that have a document, and those that have prompt items of their
/// own and none yet. A vault that nothing was put into has none.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories",
    params(MemoryParams, Page),
    responses((status = 200, description = "One page.", body = List<MemorySummary>))
)]
pub(crate) async fn list_memories(
    State(state): State<AppState>,
    Path((vault_id,)): VaultPath,
    Query(MemoryParams { prefix, sort }): Query<MemoryParams>,
    page: Page,
) -> Result<Response, Problem> {
    let order = sort.unwrap_or_default();
    let _turn = fair::turn(&Party::current()).await;
    if order != MemoryOrder::MemoryId {
        let after = page.after::<(i64, MemoryId)>()?;
        let after = after.as_ref().map(|(number, id)| (*number, id));
        let memories = state
            .storage
            .list_memories_sorted(&vault_id, prefix.as_ref(), order, after, page.fetch())
            .await?;
        let key = |memory: &MemorySummary| (order.number(memory), memory.memory_id.clone());
        return Ok(page.of(memories, key, |memory| memory).answer());
    }
    let after = page.after::<MemoryId>()?;
    let memories = state
        .storage
        .list_memories(&vault_id, prefix.as_ref(), after.as_ref(), page.fetch())
        .await?;
    let key = |memory: &MemorySummary| memory.memory_id.clone();
    Ok(page.of(memories, key, |memory| memory).answer())
}

/// A memory by itself.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Memory)]
pub(crate) struct MemoryBody {
    /// What lists show.
    #[serde(flatten)]
    pub(crate) entry: MemorySummary,
    /// The largest number ever given to a record, by kind; the next one is greater.
    pub(crate) counters: ByKind,
    /// How many records there are.
    pub(crate) records: RecordCounts,
    /// The most bytes that its document may have (`limits.context_bytes`).
    #[schema(minimum = 0)]
    pub(crate) bytes_limit: usize,
    /// How many proposals wait for a decision.
    #[schema(minimum = 0)]
    pub(crate) open_proposals: i64,
}

/// How many records there are.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct RecordCounts {
    /// In the newest version.
    pub(crate) active: ByKind,
    /// In older ones only.
    pub(crate) archived: ByKind,
}

/// A number for each kind of records.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) struct ByKind {
    /// Key learnings.
    #[schema(minimum = 0)]
    pub(crate) kl: i64,
    /// Verbatim context.
    #[schema(minimum = 0)]
    pub(crate) vc: i64,
    /// Tasks.
    #[schema(minimum = 0)]
    pub(crate) t: i64,
    /// Decisions.
    #[schema(minimum = 0)]
    pub(crate) d: i64,
}

impl ByKind {
    fn of(number: impl Fn(RecordKind) -> i64) -> Self {
        Self {
            kl: number(RecordKind::Learning),
            vc: number(RecordKind::Verbatim),
            t: number(RecordKind::Task),
            d: number(RecordKind::Decision),
        }
    }
}

/// Read about a memory
///
/// Its newest version, its counters, how many records it has, how full it is, and how many proposals wait. A memory is there if it has a document, or prompt items
/// that have not expired; without a document it has the version 0.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}",
    responses(
        (status = 200, description = "The memory.", body = MemoryBody),
        (status = 404, description = "There is no such memory: it has neither a document nor items."),
    )
)]
pub(crate) async fn get_memory(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
) -> Result<Json<MemoryBody>, Problem> {
    let (memory, open_proposals) = tokio::try_join!(
        state.storage.memory(&vault_id, &memory_id),
        state.storage.open_proposals(&vault_id, &memory_id),
    )?;
    let MemoryState {
        summary,
        counters,
        records,
    } = memory.ok_or_else(contexts::missing)?;
    let count = |status| {
        let records = &records;
        ByKind::of(move |kind| records.get(&(kind, status)).copied().unwrap_or_default())
    };
    Ok(Json(MemoryBody {
        entry: summary,
        counters: ByKind::of(|kind| counters.get(kind)),
        records: RecordCounts {
            active: count(RecordStatus::Active),
            archived: count(RecordStatus::Archived),
        },
        bytes_limit: state.settings.config.limits.context_bytes,
        open_proposals,
    }))
}

/// Delete a memory
///
/// With its versions, records, runs and prompt items, for good. What is put under its id later is a new memory that begins
/// at version 1. What can be deleted is what can be read and is listed, and one thing more: runs that failed to make a
/// memory are deleted under its id, which `GET` of the memory and lists do not know. The preconditions are about the
/// document: of a memory that has only prompt items `If-Match: *` does not hold, and `If-None-Match: *` does.
#[utoipa::path(
    delete,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}",
    params(ConditionHeaders),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "There is no such memory, and no run of it."),
    )
)]
pub(crate) async fn delete_memory(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    conditions: Conditions,
) -> Result<StatusCode, Problem> {
    let preconditions = conditions.for_write();
    state
        .storage
        .delete_memory(&vault_id, &memory_id, &preconditions)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
