//! `M/handoff` and `M/handoffs`: the newest handoff with its freshness, the kept ones, and the refresh.

use crate::domain::handoff::{Freshness, Window, Workspace, preface};
use crate::domain::ids::{HandoffId, MemoryId, VaultId};
use crate::http::extract::body::{Object, OptionalJsonBody};
use crate::http::extract::caller::{Actor, ActorHeader, UnderClaim};
use crate::http::extract::headers::{Accept, ConditionHeaders, Conditions, Representation};
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{EntryPath, MemoryPath, Path, Query, parsed};
use crate::http::problem::{Kind, Problem};
use crate::http::routes::contexts;
use crate::http::routes::window::fields;
use crate::http::state::AppState;
use crate::pipeline::{HandoffError, HandoffRequest, Refreshed, judge};
use crate::storage::handoffs::Handoff;
use crate::storage::idempotency::KeptAnswer;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which handoff it is, and what it shows.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct HandoffHead {
    /// Its id.
    pub(crate) handoff_id: String,
    /// The vault.
    pub(crate) vault_id: String,
    /// The memory.
    pub(crate) memory_id: String,
    /// The moment it shows.
    pub(crate) generated_at: DateTime<Utc>,
    /// Who asked for it.
    pub(crate) generated_by: String,
    /// How far back it looks, as a duration of ISO 8601.
    #[schema(example = "PT2H")]
    pub(crate) window: String,
    /// The newest version of that moment.
    #[schema(minimum = 1)]
    pub(crate) base_version: i64,
}

impl HandoffHead {
    fn of((vault, memory): (&VaultId, &MemoryId), handoff: &Handoff) -> Self {
        Self {
            handoff_id: handoff.handoff_id.to_string(),
            vault_id: vault.to_string(),
            memory_id: memory.to_string(),
            generated_at: handoff.generated_at,
            generated_by: handoff.generated_by.to_string(),
            window: handoff.window.to_string(),
            base_version: handoff.base_version,
        }
    }
}

/// A handoff with its present freshness.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Handoff)]
pub(crate) struct HandoffBody {
    #[serde(flatten)]
    pub(crate) head: HandoffHead,
    /// Its freshness now.
    pub(crate) freshness: Freshness,
    /// The same as Markdown: what stands above the text where it is read as text.
    pub(crate) preface: String,
    /// The eight sections, as they were made.
    pub(crate) markdown: String,
    /// What it was made from: `inputs`, `cited`, `model` (null where rules made it), lines by section, dropped lines.
    pub(crate) manifest: Value,
    /// For a refresh: whether the handoff was generated now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) refreshed: Option<bool>,
}

impl HandoffBody {
    /// A handoff of a memory as JSON. `refreshed` is set in the response of a refresh.
    fn of(
        of: (&VaultId, &MemoryId),
        handoff: Handoff,
        freshness: &Freshness,
        refreshed: Option<bool>,
    ) -> Self {
        Self {
            head: HandoffHead::of(of, &handoff),
            preface: preface(freshness, handoff.generated_at, handoff.base_version),
            freshness: freshness.clone(),
            markdown: handoff.markdown,
            manifest: handoff.manifest,
            refreshed,
        }
    }
}

/// Responds with a handoff and its present freshness, which the entity tag covers: as JSON, or as Markdown below the preface.
async fn judged(
    state: &AppState,
    of: (&VaultId, &MemoryId),
    handoff: Handoff,
    representation: Representation,
    conditions: &Conditions,
) -> Result<Response, Problem> {
    let freshness = judge(&state.storage, of, &handoff).await?;
    let body = HandoffBody::of(of, handoff, &freshness, None);
    let text = match representation {
        Representation::Json => serde_json::to_string(&body).map_err(Problem::internal)?,
        _ => body.preface + &body.markdown,
    };
    conditions.answer(representation, text)
}

/// A handoff in a list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct HandoffEntry {
    #[serde(flatten)]
    head: HandoffHead,
    /// The model that wrote its prose, with its times; null where rules did.
    #[schema(required)]
    model: Option<Value>,
}

impl HandoffEntry {
    fn of(of: (&VaultId, &MemoryId), mut handoff: Handoff) -> Self {
        let model = handoff.manifest.get_mut("model").map(Value::take);
        Self {
            head: HandoffHead::of(of, &handoff),
            model: model.filter(|model| !model.is_null()),
        }
    }
}

/// Read the handoff
///
/// The newest one: its freshness, judged now, above the Markdown as it was made; or both as JSON. Reading never
/// makes it fresh.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoff",
    params(ConditionHeaders),
    responses(
        (status = 200, description = "The handoff.", headers(("ETag")), content(
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
            (HandoffBody = "application/json"),
        )),
        (status = 404, description = "There is no such memory, or it has no handoff yet: then `freshness` is `missing`."),
    )
)]
pub(crate) async fn get_handoff(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    accept: Accept,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let representation = accept.choose(&Representation::OF_MARKDOWN)?;
    let Some(handoff) = state.storage.handoff(&vault_id, &memory_id, None).await? else {
        contexts::require(&state, &vault_id, &memory_id).await?;
        return Err(Problem::not_found(
            "the memory has no handoff yet: make one with POST …/handoff/refresh",
        )
        .with("freshness", "missing"));
    };
    let of = (&vault_id, &memory_id);
    judged(&state, of, handoff, representation, &conditions).await
}

/// Whether the newest handoff can be relied on.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct HandoffStatus {
    /// What is so now.
    #[serde(flatten)]
    freshness: Freshness,
    /// The handoff; null if there is none.
    handoff_id: Option<String>,
    /// The moment it shows.
    generated_at: Option<DateTime<Utc>>,
    /// How far back it looks, as a duration of ISO 8601.
    window: Option<String>,
}

/// Read the handoff's freshness
///
/// `missing` for a memory without a handoff.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoff/status",
    responses(
        (status = 200, description = "The freshness.", body = HandoffStatus),
    )
)]
pub(crate) async fn get_handoff_status(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
) -> Result<Json<HandoffStatus>, Problem> {
    let handoff = state.storage.handoff(&vault_id, &memory_id, None).await?;
    let handoff = handoff.as_ref();
    let freshness = match handoff {
        Some(handoff) => judge(&state.storage, (&vault_id, &memory_id), handoff).await?,
        None => {
            contexts::require(&state, &vault_id, &memory_id).await?;
            Freshness::missing()
        }
    };
    Ok(Json(HandoffStatus {
        freshness,
        handoff_id: handoff.map(|handoff| handoff.handoff_id.to_string()),
        generated_at: handoff.map(|handoff| handoff.generated_at),
        window: handoff.map(|handoff| handoff.window.to_string()),
    }))
}

/// List the handoffs
///
/// Those that are kept (`handoff.keep`), the newest first, without their Markdown.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoffs",
    params(Page),
    responses(
        (status = 200, description = "One page.", body = List<HandoffEntry>),
    )
)]
pub(crate) async fn list_handoffs(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    page: Page,
) -> Result<Json<List<HandoffEntry>>, Problem> {
    let before = page.after::<i64>()?;
    let handoffs = state
        .storage
        .list_handoffs(&vault_id, &memory_id, before, page.fetch())
        .await?;
    if handoffs.is_empty() {
        contexts::require(&state, &vault_id, &memory_id).await?;
    }
    Ok(Json(page.of(
        handoffs,
        |handoff| handoff.number,
        |handoff| HandoffEntry::of((&vault_id, &memory_id), handoff),
    )))
}

/// Read one handoff
///
/// The Markdown as it was made, or JSON with its manifest and its freshness now.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoffs/{handoff_id}",
    params(ConditionHeaders),
    responses(
        (status = 200, description = "The handoff.", headers(("ETag")), content(
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
            (HandoffBody = "application/json"),
        )),
    )
)]
pub(crate) async fn get_handoff_artifact(
    State(state): State<AppState>,
    Path((vault_id, memory_id, entry)): EntryPath<HandoffId>,
    accept: Accept,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let representation = accept.choose(&Representation::OF_MARKDOWN)?;
    let handoff = state.storage.handoff(&vault_id, &memory_id, Some(&entry)).await?;
    let handoff = handoff.ok_or_else(|| {
        Problem::not_found("there is no such memory or handoff").with("field", "handoff_id")
    })?;
    match representation {
        Representation::Json => {
            let of = (&vault_id, &memory_id);
            judged(&state, of, handoff, representation, &conditions).await
        }
        _ => conditions.answer(representation, handoff.markdown),
    }
}

/// How a handoff is refreshed.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RefreshParams {
    /// Make one although the newest is fresh.
    force: Option<bool>,
    /// How far back it looks: a duration of ISO 8601 or short, such as `PT6H` or `6h`; `handoff.window` (2 h)
    /// without it. At most 366 days; of a younger memory it takes all that there is.
    #[param(example = "PT6H", min_length = 2)]
    window: Option<String>,
}

/// What a refresh may be told.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RefreshHandoffRequest {
    /// The caller's folder, for the section Workspace Snapshot.
    #[serde(default)]
    #[schema(value_type = Option<Workspace>)]
    workspace: Option<Object<Workspace>>,
}

/// Checks the sizes of what the caller tells about its folder.
fn checked(workspace: Workspace) -> Result<Workspace, Problem> {
    for (name, text, limit) in [
        ("folder", &workspace.folder, Workspace::MAX_PATH_BYTES),
        ("branch", &workspace.branch, Workspace::MAX_BRANCH_BYTES),
        ("head", &workspace.head, Workspace::MAX_HEAD_BYTES),
    ] {
        let text = text.as_deref().unwrap_or_default();
        fields::optional(&format!("workspace.{name}"), text, limit)?;
    }
    let (files, limit) = (&workspace.dirty_files, Workspace::MAX_FILES);
    if files.len() > limit {
        let count = files.len();
        let detail = format!("workspace.dirty_files has {count} entries; at most {limit} are accepted");
        return Err(Problem::invalid("workspace.dirty_files", detail).with("limit", limit));
    }
    for (index, file) in files.iter().enumerate() {
        let field = format!("workspace.dirty_files[{index}]");
        fields::optional(&field, file, Workspace::MAX_PATH_BYTES)?;
    }
    Ok(workspace)
}

/// Refresh the handoff
///
/// Makes a new one if the newest is stale or missing, if it looks back over another window, or by force; otherwise it does
/// nothing and answers with the newest. Rules make it, or a model where one is configured; a model that fails leaves
/// it to the rules, and the manifest says so.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoff/refresh",
    params(RefreshParams, ActorHeader),
    request_body(description = "May be left out.", content = Option<RefreshHandoffRequest>),
    responses(
        (status = 200, description = "The newest is fresh; nothing was made.", body = HandoffBody),
        (status = 201, description = "A new one.", body = HandoffBody),
        (status = 409, description = "The memory kept changing meanwhile."),
        (status = 429, description = "The queue of refreshes of this memory is full."),
    )
)]
pub(crate) async fn refresh_handoff(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(params): Query<RefreshParams>,
    Actor(actor): Actor,
    claim: UnderClaim,
    OptionalJsonBody(RefreshHandoffRequest { workspace }): OptionalJsonBody<RefreshHandoffRequest>,
) -> Result<KeptAnswer, Problem> {
    let request = HandoffRequest {
        vault: vault_id,
        memory: memory_id,
        actor,
        window: params
            .window
            .map(|window| parsed::<Window>("window", &window))
            .transpose()?,
        force: params.force.unwrap_or(false),
        workspace: workspace
            .map(|Object(workspace)| checked(workspace))
            .transpose()?,
    };
    let of = (&request.vault, &request.memory);
    let under = claim.answering(|done| refreshed(of, done));
    let done = state.pipeline.refresh_handoff(&request, under.as_ref()).await?;
    Ok(refreshed(of, &done))
}

/// The response to a refresh.
fn refreshed(of: (&VaultId, &MemoryId), done: &Refreshed) -> KeptAnswer {
    let status = match done.is_new {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    let body = HandoffBody::of(of, done.handoff.clone(), &done.freshness, Some(done.is_new));
    KeptAnswer::json(status, &body)
}

impl From<HandoffError> for Problem {
    fn from(error: HandoffError) -> Self {
        let message = error.to_string();
        match error {
            HandoffError::NoMemory => contexts::missing(),
            HandoffError::Full(full) => full.into(),
            HandoffError::Moved => Self::new(Kind::Conflict, format!("{message}; try again")),
            HandoffError::Storage(error) => error.into(),
        }
    }
}
