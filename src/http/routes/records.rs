//! Records of a memory, active and archived: `M/records`.

use crate::domain::document::Until;
use crate::domain::evidence::Evidence;
use crate::domain::history::{ChangeKind, RecordLife};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::listed;
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{EntryPath, MemoryPath, Path, Query};
use crate::http::problem::Problem;
use crate::http::routes::contexts;
use crate::http::state::AppState;
use crate::storage::records::history::PastState;
use crate::storage::records::{RecordFilter, RecordStatus};
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// One identified entry of the document.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Record)]
pub(crate) struct RecordBody {
    /// Its id, unique within the memory and never used again.
    #[schema(example = "KL-7")]
    pub(crate) record_id: String,
    /// `KL`, `VC`, `T` or `D`.
    pub(crate) kind: RecordKind,
    /// Whether it stands in the newest version.
    pub(crate) status: RecordStatus,
    /// The label of a verbatim record.
    pub(crate) label: Option<String>,
    /// Why it was worth keeping, where its line says so.
    pub(crate) reason: Option<String>,
    /// What it says; of a verbatim record the snippet.
    pub(crate) content: String,
    /// Whether it is pinned: no model archives it, and it does not leave the window.
    pub(crate) pinned: bool,
    /// Until when it holds: a date, the last day (UTC), or a time.
    #[schema(value_type = Option<String>, example = "2027-08-31")]
    pub(crate) until: Option<Until>,
    /// The first version with it.
    #[schema(minimum = 1)]
    pub(crate) created_version: i64,
    /// When that was made.
    pub(crate) created_at: DateTime<Utc>,
    /// Who made it.
    pub(crate) created_by: String,
    /// The first version without it.
    pub(crate) ended_version: Option<i64>,
    /// When that was made.
    pub(crate) ended_at: Option<DateTime<Utc>>,
    /// Who made it.
    pub(crate) ended_by: Option<String>,
    /// Why it was archived, where an operation said so.
    pub(crate) archive_reason: Option<String>,
    /// The record that took its place.
    pub(crate) superseded_by: Option<String>,
    /// The records whose place it took, merged into it or replaced by it; only where one record is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["KL-3", "KL-8"]))]
    pub(crate) supersedes: Vec<String>,
    /// What of the task and the messages carried it into the memory, at most two passages, or what it has from the records
    /// that were merged into it; nothing of what was put by hand.
    pub(crate) evidence: Vec<Evidence>,
    /// What became of it, the newest change first; where `history=true` asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) history: Option<Vec<RecordChange>>,
    /// Of a task more.
    #[serde(flatten)]
    #[schema(value_type = RecordTaskFields)]
    pub(crate) task: Option<RecordTaskFields>,
}

/// The same as members of a record, where they may be absent.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct RecordTaskFields {
    /// When it was done: the time on its line. This and what follows: of tasks only.
    #[schema(required = false)]
    pub(crate) time: DateTime<Utc>,
    /// What its writer calls it.
    pub(crate) task_id: Option<String>,
    /// What was to be done, as it was told.
    #[schema(required = false)]
    pub(crate) intent: String,
    /// What was done, as it was told.
    #[schema(required = false)]
    pub(crate) summary: String,
    /// A report on it, any JSON.
    pub(crate) outcome: Option<Value>,
    /// Whether the outcome says `"success": false`.
    #[schema(required = false)]
    pub(crate) failed: bool,
    /// The larger work it is a part of.
    pub(crate) epic: Option<String>,
}

/// One change of a record, and what it said from then on.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct RecordChange {
    /// What was done to it.
    pub(crate) change: ChangeKind,
    /// The version that did it.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// When that was made.
    pub(crate) at: DateTime<Utc>,
    /// Who made it.
    pub(crate) by: String,
    /// The label that it had from then on; null where it ended, or where that version's text was taken out.
    pub(crate) label: Option<String>,
    /// The reason.
    pub(crate) reason: Option<String>,
    /// What it said.
    pub(crate) content: Option<String>,
}

impl From<PastState> for RecordChange {
    fn from(PastState { event, record }: PastState) -> Self {
        let (label, reason, content) = match record {
            Some(record) => (record.label, record.reason, Some(record.content)),
            None => (None, None, None),
        };
        Self {
            change: event.change,
            version: event.mark.version,
            at: event.mark.at,
            by: event.mark.by.to_string(),
            label,
            reason,
            content,
        }
    }
}

impl RecordBody {
    /// A record with its evidence.
    fn with_evidence(record: RecordLife, evidence: Option<&Vec<Evidence>>) -> Self {
        Self {
            evidence: evidence.cloned().unwrap_or_default(),
            ..record.into()
        }
    }
}

impl From<RecordLife> for RecordBody {
    fn from(stored: RecordLife) -> Self {
        let status = if stored.end.is_some() {
            RecordStatus::Archived
        } else {
            RecordStatus::Active
        };
        let task = stored.task().map(|mut task| RecordTaskFields {
            time: stored.time(),
            failed: task.has_failed(),
            task_id: task.own_id().map(ToString::to_string),
            intent: task.intent,
            summary: task.summary,
            outcome: task.details.outcome.take(),
            epic: task.details.epic,
        });
        let RecordLife {
            record, born, end, ..
        } = stored;
        Self {
            record_id: record.id.to_string(),
            kind: record.id.kind,
            status,
            label: record.label,
            reason: record.reason,
            content: record.content,
            pinned: record.marks.pinned,
            until: record.marks.until,
            created_version: born.version,
            created_at: born.at,
            created_by: born.by.to_string(),
            ended_version: end.as_ref().map(|end| end.mark.version),
            ended_at: end.as_ref().map(|end| end.mark.at),
            ended_by: end.as_ref().map(|end| end.mark.by.to_string()),
            superseded_by: end.as_ref().and_then(|end| Some(end.superseded_by?.to_string())),
            archive_reason: end.and_then(|end| end.reason),
            supersedes: Vec::new(),
            evidence: Vec::new(),
            history: None,
            task,
        }
    }
}

/// Which records to show.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordParams {
    /// Only this kind; without it all kinds.
    #[param(inline)]
    kind: Option<RecordKind>,
    /// Those that stand in the newest version, those that did once, or both; `active` without it.
    #[param(inline)]
    status: Option<StatusChoice>,
}

/// Which records are requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub(in crate::http::routes) enum StatusChoice {
    #[default]
    Active,
    Archived,
    All,
}

listed! {
    /// The values of `status`.
    StatusChoice as "StatusChoice";
}

/// Which records a `status` means: those that are in the newest version, or those that are not; `None` for all.
pub(in crate::http::routes) fn status_of(choice: Option<StatusChoice>) -> Option<RecordStatus> {
    match choice.unwrap_or_default() {
        StatusChoice::Active => Some(RecordStatus::Active),
        StatusChoice::Archived => Some(RecordStatus::Archived),
        StatusChoice::All => None,
    }
}

/// List the records
///
/// By kind and number.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/records",
    params(RecordParams, Page),
    responses(
        (status = 200, description = "One page.", body = List<RecordBody>),
    )
)]
pub(crate) async fn list_records(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(RecordParams { kind, status }): Query<RecordParams>,
    page: Page,
) -> Result<Json<List<RecordBody>>, Problem> {
    let status = status_of(status);
    let after = page.after::<RecordId>()?;
    let filter = RecordFilter { kind, status };
    let _list = state.budget.list().await?;
    let records = state
        .storage
        .list_records(&vault_id, &memory_id, filter, after, page.fetch())
        .await?;
    if records.items.is_empty() {
        contexts::require(&state, &vault_id, &memory_id).await?;
    }
    let ids: Vec<RecordId> = records.items.iter().map(|stored| stored.record.id).collect();
    let evidence = state.storage.evidence(&vault_id, &memory_id, &ids).await?;
    let show = |stored: RecordLife| {
        let evidence = evidence.get(&stored.record.id);
        RecordBody::with_evidence(stored, evidence)
    };
    Ok(Json(page.of(records, |stored| stored.record.id, show)))
}

/// The maximum number of changes in a response; each is read from the text of its version.
const MAX_CHANGES: i64 = 50;

/// What to show of a record.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryParams {
    /// Whether to show what became of it, too: its newest 50 changes with what it said from then on.
    history: Option<bool>,
}

/// Read one record
///
/// Active or archived, with its birth, its end, and what of an update's input carried it.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/records/{record_id}",
    params(HistoryParams),
    responses(
        (status = 200, description = "The record.", body = RecordBody),
    )
)]
pub(crate) async fn get_record(
    State(state): State<AppState>,
    Path((vault_id, memory_id, entry)): EntryPath<RecordId>,
    Query(HistoryParams { history }): Query<HistoryParams>,
) -> Result<Json<RecordBody>, Problem> {
    let asked = [entry];
    let found = state.storage.records(&vault_id, &memory_id, &asked).await?;
    let record = found
        .into_iter()
        .next()
        .ok_or_else(|| Problem::not_found("there is no such memory or record").with("field", "record_id"))?;
    let (evidence, superseded) = tokio::try_join!(
        state.storage.evidence(&vault_id, &memory_id, &asked),
        state.storage.superseded_by(&vault_id, &memory_id, entry),
    )?;
    let mut body = RecordBody::with_evidence(record, evidence.get(&entry));
    body.supersedes = superseded.iter().map(ToString::to_string).collect();
    if history == Some(true) {
        let _list = state.budget.list().await?;
        let changes = state
            .storage
            .record_history(&vault_id, &memory_id, entry, MAX_CHANGES)
            .await?;
        body.history = Some(changes.into_iter().map(RecordChange::from).collect());
    }
    Ok(Json(body))
}
