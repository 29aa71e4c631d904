//! `POST M/consolidate`

use super::update::{PreferHeader, ResponseMode, respond};
use crate::http::extract::caller::{Actor, ActorHeader, CallerOf, UnderClaim};
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::json::OptionalJsonBody;
use crate::http::extract::path::{MemoryPath, Path};
use crate::http::extract::query::{NoParams, Query};
use crate::http::feed::ServerSentEvent;
use crate::http::names::{ModeName, Named};
use crate::http::problem::Problem;
use crate::http::routes::updates::RunBody;
use crate::http::routes::window::fields;
use crate::http::state::AppState;
use crate::pipeline::report::UpdateAnswer;
use crate::pipeline::{ModeKind, Steps, UpdateInput, UpdateRequest};
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

/// The longest instructions, in bytes.
const MAX_INSTRUCTIONS: usize = 10_000;

/// How a memory is consolidated.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConsolidateRequest)]
pub(crate) struct ConsolidateBody {
    /// `propose`, the default: the operations wait until somebody approves them. `apply`: they are saved.
    #[serde(default = "propose")]
    #[schema(required = false, default = json!("propose"))]
    mode: ModeName,
    /// What the model is told besides its instructions, such as what to look at. It allows nothing that is refused without it.
    #[serde(default)]
    #[schema(max_length = 10_000, nullable = false, pattern = r"^[^\u0000]*$")]
    instructions: Option<String>,
}

fn propose() -> ModeName {
    Named(ModeKind::Propose)
}

impl Default for ConsolidateBody {
    fn default() -> Self {
        Self {
            mode: propose(),
            instructions: None,
        }
    }
}

/// Consolidate a memory
///
/// Finds records that can be archived without losing anything: those that have expired, learnings and snippets that say no
/// more than another one, and decisions that a newer one names as superseded. A learning goes only if every number, date,
/// name, identifier, path and content word of it stands in the one that stays, and both negate the same. If the role
/// `learnings` has a model, that is asked for more: archivings on such grounds, and merges of several learnings into one that
/// says all that they say. Never a pinned record, and at most a share of a section at once (`consolidation.max_share`). Each
/// step is checked by code, and again on the version that it is saved on, also when it is approved. Without a model the same
/// memory gives the same steps.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/consolidate",
    operation_id = "ConsolidateMemory",
    tag = "updates",
    params(ActorHeader, ConditionHeaders, PreferHeader),
    request_body(content = Option<ConsolidateBody>, content_type = "application/json"),
    responses(
        (status = 200, description = "What is proposed or was changed, and why; `unchanged` if nothing can go. With `Accept: text/event-stream` as `UpdateContext`.", content(
            (UpdateAnswer = "application/json"),
            (ServerSentEvent<'static> = "text/event-stream"),
        )),
        (status = 202, description = "With `Prefer: respond-async`: it is stored and will be run; its run as `GetUpdate` shows it.", body = RunBody, headers(("Location"), ("Preference-Applied"))),
        (status = 409, description = "The memory was deleted meanwhile."),
        (status = 429, description = "The queue of updates of this memory or this vault is full, or the models of the vault have used the day's tokens; `Retry-After` says when to come back."),
        (status = 502, description = "The model failed; nothing was saved."),
        (status = 504, description = "The model did not answer in time; nothing was saved."),
    )
)]
#[expect(clippy::too_many_arguments, reason = "one for each extractor")]
pub(crate) async fn consolidate(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(NoParams): Query<NoParams>,
    caller: CallerOf,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    response_mode: ResponseMode,
    OptionalJsonBody(body): OptionalJsonBody<ConsolidateBody>,
) -> Result<Response, Problem> {
    let instructions = body.instructions.unwrap_or_default();
    fields::optional("instructions", &instructions, MAX_INSTRUCTIONS)?;
    if !state.storage.memory_exists(&vault_id, &memory_id).await? {
        return Err(Problem::not_found("there is no such memory"));
    }
    let mode = caller.mode(body.mode == propose());
    let request = UpdateRequest {
        vault: vault_id,
        memory: memory_id,
        actor,
        preconditions: conditions.for_write(),
        input: UpdateInput::consolidation(instructions, mode),
        steps: Steps::default(),
        idempotency: None,
    };
    respond(&state, request, claim, response_mode).await
}
