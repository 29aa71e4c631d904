//! `GET M`

use super::list::MemoryEntry;
use crate::domain::ids::RecordKind;
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::routes::lookup;
use crate::http::state::AppState;
use crate::storage::memories::MemoryState;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

/// A memory by itself.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Memory)]
pub(crate) struct MemoryBody {
    /// What lists show.
    #[serde(flatten)]
    pub(crate) entry: MemoryEntry,
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
    operation_id = "GetMemory",
    tag = "memories",
    responses(
        (status = 200, description = "The memory.", body = MemoryBody),
        (status = 404, description = "There is no such memory: it has neither a document nor items."),
    )
)]
pub(crate) async fn get(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(NoParams): Query<NoParams>,
) -> Result<Json<MemoryBody>, Problem> {
    let (memory, open_proposals) = tokio::try_join!(
        state.storage.memory(&vault_id, &memory_id),
        state.storage.open_proposals(&vault_id, &memory_id),
    )?;
    let MemoryState {
        summary,
        counters,
        records,
    } = memory.ok_or_else(lookup::missing)?;
    Ok(Json(MemoryBody {
        entry: summary.into(),
        counters: ByKind::of(|kind| counters.get(kind)),
        records: RecordCounts {
            active: ByKind::of(|kind| records[kind as usize].active),
            archived: ByKind::of(|kind| records[kind as usize].archived),
        },
        bytes_limit: state.settings.context_bytes,
        open_proposals,
    }))
}
