//! `POST M/handoff/refresh`

use super::view::HandoffBody;
use crate::domain::handoff::{Window, Workspace};
use crate::http::extract::caller::{Actor, ActorHeader};
use crate::http::extract::json::{self, Object};
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::{FromQuery, Query, QueryReader};
use crate::http::problem::{Kind, Problem};
use crate::http::routes::lookup;
use crate::http::state::AppState;
use crate::pipeline::{HandoffError, HandoffRequest, Refreshed};
use crate::telemetry;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::Deserialize;

/// The maximum number of files in a request.
const MAX_FILES: usize = 500;

/// `Retry-After` in seconds when too many refreshes of a memory are waiting.
const QUEUE_RETRY_SECONDS: u64 = 5;

/// How a handoff is refreshed.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RefreshParams {
    /// Make one although the newest is fresh.
    force: Option<bool>,
    /// How far back it looks: a duration of ISO 8601 or short, such as `PT6H` or `6h`; `handoff.window` (2 h)
    /// without it. At most 366 days; of a younger memory it takes all that there is.
    #[param(value_type = Option<String>, example = "PT6H", min_length = 2)]
    window: Option<Window>,
}

impl FromQuery for RefreshParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            force: query.flag("force")?,
            window: query.parse("window")?,
        })
    }
}

/// What a refresh may be told.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RefreshHandoffRequest)]
pub(crate) struct RefreshBody {
    /// The caller's folder, for the section Workspace Snapshot.
    #[serde(default)]
    #[schema(value_type = Option<WorkspaceBody>)]
    workspace: Option<Object<WorkspaceBody>>,
}

/// The caller's folder.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Workspace)]
pub(crate) struct WorkspaceBody {
    /// Its path.
    #[serde(default)]
    #[schema(max_length = 1024)]
    folder: Option<String>,
    /// The git branch.
    #[serde(default)]
    #[schema(max_length = 255)]
    branch: Option<String>,
    /// The commit.
    #[serde(default)]
    #[schema(max_length = 128)]
    head: Option<String>,
    /// Files with changes that are not committed.
    #[serde(default)]
    #[schema(max_items = 500)]
    dirty_files: Vec<String>,
}

impl WorkspaceBody {
    fn checked(self) -> Result<Workspace, Problem> {
        let within = |field: &str, value: Option<&String>, limit: usize| match value {
            Some(text) if text.len() > limit => Err(Problem::invalid(
                field,
                format!("{field} has {} bytes; at most {limit} are accepted", text.len()),
            )
            .with("limit", limit)),
            _ => Ok(()),
        };
        within("workspace.folder", self.folder.as_ref(), 1_024)?;
        within("workspace.branch", self.branch.as_ref(), 255)?;
        within("workspace.head", self.head.as_ref(), 128)?;
        if self.dirty_files.len() > MAX_FILES {
            return Err(Problem::invalid(
                "workspace.dirty_files",
                format!(
                    "workspace.dirty_files has {} entries; at most {MAX_FILES} are accepted",
                    self.dirty_files.len()
                ),
            )
            .with("limit", MAX_FILES));
        }
        for (index, file) in self.dirty_files.iter().enumerate() {
            within(&format!("workspace.dirty_files[{index}]"), Some(file), 1_024)?;
        }
        Ok(Workspace {
            folder: self.folder,
            branch: self.branch,
            head: self.head,
            dirty_files: self.dirty_files,
        })
    }
}

/// Refresh the handoff
///
/// Makes a new one if the newest is stale or missing, if it looks back over another window, or by force; otherwise it does
/// nothing and answers with the newest. Rules make it, or a model where one is configured; a model that fails leaves
/// it to the rules, and the manifest says so.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoff/refresh",
    operation_id = "RefreshHandoff",
    tag = "handoff",
    params(RefreshParams, ActorHeader),
    request_body(description = "May be left out.", content = Option<RefreshBody>),
    responses(
        (status = 200, description = "The newest is fresh; nothing was made.", body = HandoffBody),
        (status = 201, description = "A new one.", body = HandoffBody),
        (status = 404, description = "There is no such memory."),
        (status = 409, description = "The memory kept changing meanwhile."),
        (status = 422, description = "The request is not valid."),
        (status = 429, description = "The queue of refreshes of this memory is full."),
    )
)]
pub(crate) async fn refresh(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(params): Query<RefreshParams>,
    Actor(actor): Actor,
    request: Request,
) -> Result<(StatusCode, Json<HandoffBody>), Problem> {
    let RefreshBody { workspace } = json::optional(&state, request).await?;
    let request = HandoffRequest {
        vault: vault_id,
        memory: memory_id,
        actor,
        window: params.window,
        force: params.force.unwrap_or(false),
        workspace: workspace.map(|Object(body)| body.checked()).transpose()?,
    };
    let Refreshed {
        handoff,
        freshness,
        is_new,
    } = state.pipeline.refresh_handoff(&request).await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(HandoffBody::of(handoff, &freshness, Some(is_new)))))
}

impl From<HandoffError> for Problem {
    fn from(error: HandoffError) -> Self {
        let message = error.to_string();
        match error {
            HandoffError::NoMemory => lookup::missing(),
            HandoffError::QueueFull { limit } => {
                telemetry::refused("queue");
                Self::new(Kind::TooManyRequests, message)
                    .with("limit", limit)
                    .with("limit_name", "pipeline.queue_per_memory")
                    .retry_after(QUEUE_RETRY_SECONDS)
            }
            HandoffError::Moved => Self::new(Kind::Conflict, format!("{message}; try again")),
            HandoffError::Storage(error) => error.into(),
        }
    }
}
