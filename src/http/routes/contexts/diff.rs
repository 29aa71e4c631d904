//! `GET M/contexts/{ref}/diff`

use super::read::{readable, validators};
use crate::domain::document::{Record, Until, unified_diff, written_time};
use crate::domain::ids::RecordId;
use crate::domain::memory::compare;
use crate::fair::{self, Party};
use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::conditions::{ConditionHeaders, Conditions, ETag, Verdict};
use crate::http::extract::params::{EntryPath, Params, Path, Query};
use crate::http::names::{Named, RecordKindName};
use crate::http::problem::Problem;
use crate::http::routes::contexts;
use crate::http::state::AppState;
use crate::storage::window::Archiving;
use crate::storage::{Context, ContextRef};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What to compare with.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DiffParams {
    /// The version to compare with, by its number or its context_id; the one before without it, and nothing for
    /// version 1. It may also be a later one.
    #[param(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    base: Option<ContextRef>,
}

impl Params for DiffParams {}

/// What lies between two versions.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Diff)]
pub(crate) struct DiffBody {
    /// The vault.
    pub(crate) vault_id: String,
    /// The memory.
    pub(crate) memory_id: String,
    /// The number of the version compared with; 0 for nothing.
    #[schema(minimum = 0)]
    pub(crate) base_version: i64,
    /// Its id; null for nothing.
    #[schema(required)]
    pub(crate) base_context_id: Option<String>,
    /// The number of the version.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// Its id.
    pub(crate) context_id: String,
    /// The unified diff from the base to the version; empty if they are equal.
    pub(crate) diff: String,
    /// The same record by record.
    pub(crate) records: RecordsBody,
    /// Whether `Current Progress` says something else.
    pub(crate) progress_rewritten: bool,
    /// The titles of the free sections that say something else, are new, or are gone.
    pub(crate) sections_changed: Vec<String>,
}

/// Records that two versions do not have alike.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = RecordDiff)]
pub(crate) struct RecordsBody {
    /// Those that only the version has.
    pub(crate) added: Vec<WrittenRecord>,
    /// Those that read differently.
    pub(crate) changed: Vec<ChangedRecord>,
    /// Those that only the base has.
    pub(crate) archived: Vec<ArchivedRecord>,
}

/// A record as a version says it.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = WrittenRecord)]
pub(crate) struct WrittenRecord {
    /// Its id.
    #[schema(example = "KL-7")]
    pub(crate) record_id: String,
    /// `KL`, `VC`, `T` or `D`.
    pub(crate) kind: RecordKindName,
    /// The time written on it.
    #[schema(required)]
    pub(crate) time: Option<String>,
    /// Whether it is pinned.
    pub(crate) pinned: bool,
    /// Until when it holds: a date, the last day (UTC), or a time.
    #[schema(required, value_type = Option<String>)]
    pub(crate) until: Option<Until>,
    /// The label of a verbatim record.
    #[schema(required)]
    pub(crate) label: Option<String>,
    /// Why it was worth keeping, where its line says so.
    #[schema(required)]
    pub(crate) reason: Option<String>,
    /// What it says; of a verbatim record the snippet.
    pub(crate) content: String,
}

/// A record that reads differently.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = ChangedRecord)]
pub(crate) struct ChangedRecord {
    /// Its id.
    pub(crate) record_id: String,
    /// As the base says it.
    pub(crate) before: WrittenRecord,
    /// As the version says it.
    pub(crate) after: WrittenRecord,
}

/// A record that the version no longer has.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = ArchivedRecord)]
pub(crate) struct ArchivedRecord {
    /// Its id.
    pub(crate) record_id: String,
    /// Why it was archived, where an operation between the two versions said so.
    #[schema(required)]
    pub(crate) reason: Option<String>,
    /// The version that operation made.
    #[schema(required)]
    pub(crate) archived_version: Option<i64>,
    /// The record that took its place, where that operation named one.
    #[schema(required, example = "KL-8")]
    pub(crate) superseded_by: Option<String>,
    /// As the base says it.
    pub(crate) record: WrittenRecord,
}

/// Compare two versions
///
/// As a unified diff with three lines of context, or as JSON that also tells the difference record by record.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}/diff",
    operation_id = "DiffContexts",
    tag = "contexts",
    params(DiffParams, ConditionHeaders),
    responses(
        (status = 200, description = "The difference; an empty text if there is none.", headers(("ETag"), ("Last-Modified"), ("X-Context-Version" = i64)), content(
            (String = "text/plain; charset=utf-8"),
            (String = "text/x-diff; charset=utf-8"),
            (DiffBody = "application/json"),
        )),
        (status = 404, description = "There is no such memory or version, or none with the reference `base`."),
        (status = 410, description = "The version was redacted."),
    )
)]
pub(crate) async fn diff(
    State(state): State<AppState>,
    Path((vault_id, memory_id, entry)): EntryPath<ContextRef>,
    Query(DiffParams { base }): Query<DiffParams>,
    accept: Accept,
    conditions: Conditions,
) -> Result<Response, Problem> {
    use Representation::{Diff, Json as AsJson, Plain};
    let representation = accept.choose(&[Plain, Diff, AsJson])?;
    let version = state.storage.context(&vault_id, &memory_id, &entry).await?;
    let version = version.ok_or_else(contexts::no_such_version)?;
    let version = readable(version, "ref")?;
    let before = version.metadata.version - 1;
    let base = match base.or((before > 0).then_some(ContextRef::Version(before))) {
        None => None,
        Some(base) => {
            let base = state.storage.context(&vault_id, &memory_id, &base).await?;
            let missing = || Problem::not_found("there is no version to compare with").with("field", "base");
            Some(readable(base.ok_or_else(missing)?, "base")?)
        }
    };
    let etag = entity_tag(&version, base.as_ref(), representation);
    let headers = validators(&version.metadata, &etag);
    if conditions.for_read(&etag)? == Verdict::NotModified {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let bytes = version.text.len() + base.as_ref().map_or(0, |base| base.text.len());
    let _work = state.budget.work(&Party::current(), bytes).await?;
    if representation == AsJson {
        let archivings = archivings(&state, base.as_ref(), &version).await?;
        let compare = || DiffBody::of(base.as_ref(), &version, archivings);
        let body = fair::on_cpu(bytes, compare).await;
        return Ok((headers, Json(body)).into_response());
    }
    let text = fair::on_cpu(bytes, || text_of(base.as_ref(), &version)).await;
    Ok((headers, representation, text).into_response())
}

/// Versions are immutable, so their ids and the representation identify the response.
fn entity_tag(version: &Context, base: Option<&Context>, representation: Representation) -> ETag {
    let base = base.map_or("", |base| base.metadata.context_id.as_str());
    let etag = ETag::of(&version.metadata.context_id).representation(&format!("diff={base}"));
    match representation {
        Representation::Json => etag.representation("json"),
        _ => etag,
    }
}

/// The archive operations between the base and a later version. Compared with an earlier version they are undone.
async fn archivings(
    state: &AppState,
    base: Option<&Context>,
    version: &Context,
) -> Result<HashMap<RecordId, Archiving>, Problem> {
    let to = &version.metadata;
    match base {
        Some(base) if base.metadata.version < to.version => Ok(state
            .storage
            .archivings(&to.vault_id, &to.memory_id, base.metadata.version, to.version)
            .await?),
        _ => Ok(HashMap::new()),
    }
}

fn text_of(base: Option<&Context>, version: &Context) -> String {
    let name = |context: &Context| format!("version {}", context.metadata.version);
    let before = base.map_or("", |base| base.text.as_str());
    let before_name = base.map_or_else(|| "/dev/null".to_owned(), name);
    unified_diff(before, &version.text, &before_name, &name(version))
}

impl DiffBody {
    fn of(base: Option<&Context>, version: &Context, mut archivings: HashMap<RecordId, Archiving>) -> Self {
        let comparison = compare(base.map_or("", |base| base.text.as_str()), &version.text);
        let archived = comparison.archived.into_iter().map(|record| {
            let (archived_version, reason, superseded_by) = match archivings.remove(&record.id) {
                Some(done) => (Some(done.version), done.reason, done.superseded_by),
                None => (None, None, None),
            };
            ArchivedRecord {
                record_id: record.id.to_string(),
                archived_version,
                reason,
                superseded_by,
                record: record.into(),
            }
        });
        let changed = comparison
            .changed
            .into_iter()
            .map(|(before, after)| ChangedRecord {
                record_id: after.id.to_string(),
                before: before.into(),
                after: after.into(),
            });
        let metadata = &version.metadata;
        Self {
            vault_id: metadata.vault_id.to_string(),
            memory_id: metadata.memory_id.to_string(),
            base_version: base.map_or(0, |base| base.metadata.version),
            base_context_id: base.map(|base| base.metadata.context_id.to_string()),
            version: metadata.version,
            context_id: metadata.context_id.to_string(),
            diff: text_of(base, version),
            records: RecordsBody {
                added: comparison.added.into_iter().map(WrittenRecord::from).collect(),
                changed: changed.collect(),
                archived: archived.collect(),
            },
            progress_rewritten: comparison.sections.progress,
            sections_changed: comparison.sections.free,
        }
    }
}

impl From<Record> for WrittenRecord {
    fn from(record: Record) -> Self {
        Self {
            record_id: record.id.to_string(),
            kind: Named(record.id.kind),
            time: record.time.map(written_time),
            pinned: record.marks.pinned,
            until: record.marks.until,
            label: record.label,
            reason: record.reason,
            content: record.content,
        }
    }
}
