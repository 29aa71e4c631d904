//! `POST M/operations` and `POST M/consolidate`

use crate::domain::dsl::requests::{OperationRequest, first_nul};
use crate::domain::faults::MAX_TEXT_ITEMS;
use crate::domain::ids::UpdateId;
use crate::http::extract::body::{self, Limit, Object, OptionalJsonBody};
use crate::http::extract::caller::{Actor, ActorHeader, CallerOf, UnderClaim};
use crate::http::extract::headers::{ConditionHeaders, Conditions, Representation};
use crate::http::extract::params::{MemoryPath, Path, Query, within};
use crate::http::feed::ServerSentEvent;
use crate::http::problem::Problem;
use crate::http::routes::update::{PreferHeader, ResponseMode, ok, respond};
use crate::http::routes::window::fields::{self, NonBlank};
use crate::http::state::AppState;
use crate::pipeline::report::UpdateAnswer;
use crate::pipeline::{
    Mode, ModeKind, OnInvalid, OperationsInput, OperationsRequest, Target, UpdateInput, UpdateRequest,
};
use crate::storage::idempotency::KeptAnswer;
use crate::storage::updates::Run;
use axum::extract::{Request, State};
use axum::response::Response;
use serde::Deserialize;

/// Operations as JSON: a list of them, or the text that models write. One of the two.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OperationsRequest, example = json!({"operations": [
    {"op": "add", "section": "learnings", "reason": "CI has no database", "content": "commit the query data", "replaces": "KL-1"},
    {"op": "add", "section": "verbatim", "reason": "the tests call it", "label": "src/lib.rs, signature of parse", "content": "pub fn parse(text: &str) -> Parsed"},
    {"op": "archive", "id": "KL-2", "reason": "the module is gone"},
    {"op": "rewrite_progress", "completed": ["Wrote the parser"], "in_progress": ["Wire it to the route"], "remaining": []},
]}))]
pub(crate) struct OperationsBody {
    /// The operations. An empty list changes nothing.
    #[schema(value_type = Option<Vec<OperationRequest>>, nullable = false)]
    operations: Option<Vec<Object<OperationRequest>>>,
    /// The text that models write, see docs/dsl.md.
    #[schema(value_type = Option<NonBlank>, nullable = false)]
    text: Option<String>,
}

/// How a text of operations is applied.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OperationsParams {
    /// Do everything but save.
    dry_run: Option<bool>,
    /// What to do about faulty items.
    #[param(inline)]
    on_invalid: Option<OnInvalid>,
    /// How many additions a section takes; any number without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    max_additions: Option<String>,
    /// The invalid run that this text finishes by hand.
    update_id: Option<UpdateId>,
    /// `propose`: everything but the save; it waits until somebody approves it.
    #[param(inline)]
    mode: Option<ModeKind>,
}

/// Apply operations
///
/// Takes operations from an agent or a person, as a list in JSON or in the text that models write, and applies them
/// without asking any model. The memory is created if it does not exist.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/operations",
    params(OperationsParams, ActorHeader, ConditionHeaders),
    request_body(
        description = "Operations: a list, or a text with CURRENT_PROGRESS, KEY_LEARNINGS, VERBATIM_CONTEXT. Not blank, at most `limits.body_bytes` (1 MiB).",
        content((OperationsBody = "application/json"), (NonBlank = "text/plain"), (NonBlank = "text/markdown"))
    ),
    responses(
        (status = 200, description = "What was changed, what was not, and why.", body = UpdateAnswer),
        (status = 404, description = "There is no run `update_id`."),
        (status = 409, description = "Run `update_id` is not one to be finished by hand, or the memory was deleted meanwhile."),
        (status = 422, description = "The request is not valid, items are faulty with `on_invalid=fail`, or the document would be too large; nothing was saved."),
        (status = 429, description = "The queue of updates of this memory is full."),
    )
)]
#[expect(clippy::too_many_arguments, reason = "one for each extractor")]
pub(crate) async fn apply_operations(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(params): Query<OperationsParams>,
    caller: CallerOf,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    request: Request,
) -> Result<KeptAnswer, Problem> {
    let max_additions = within("max_additions", params.max_additions.as_ref(), 1..=100)?;
    let mode = caller.mode(params.mode == Some(ModeKind::Propose));
    if params.update_id.is_some() && mode != Mode::Apply {
        return Err(Problem::invalid(
            "update_id",
            "a run is finished by operations that are applied, not by proposed ones: leave update_id or mode=propose out",
        ));
    }
    let request = OperationsRequest {
        to: Target::new(vault_id, memory_id, actor, conditions.for_write()),
        input: read_input(&state, request).await?,
        dry_run: params.dry_run.unwrap_or(false),
        on_invalid: params.on_invalid.unwrap_or_default(),
        max_additions: max_additions.map(|number| number as usize),
        resolves: params.update_id,
        idempotency: claim.answering(ok),
        mode,
    };
    Ok(ok(&Box::pin(state.pipeline.apply_operations(request)).await?))
}

async fn read_input(state: &AppState, request: Request) -> Result<OperationsInput, Problem> {
    use Representation::{Json, Markdown, Plain};
    let limit = Limit::of_bodies(&state.settings);
    let accepted = [Json, Plain, Markdown].map(|form| (form, limit));
    let (media_type, text) = body::read_text(state, request, &accepted).await?;
    if media_type == Json && !text.trim().is_empty() {
        return body::parse::<OperationsBody>(&text)?.into_input();
    }
    text_input("body", text)
}

fn text_input(field: &str, text: String) -> Result<OperationsInput, Problem> {
    if text.trim().is_empty() {
        return Err(Problem::invalid(
            field,
            format!("the {field} is empty; it must contain operations"),
        ));
    }
    fields::refuse_nul(field, &text)?;
    Ok(OperationsInput::Text(text))
}

impl OperationsBody {
    fn into_input(self) -> Result<OperationsInput, Problem> {
        let list = match (self.operations, self.text) {
            (Some(list), None) => list,
            (None, Some(text)) => return text_input("text", text),
            (Some(_), Some(_)) => {
                return Err(Problem::invalid(
                    "text",
                    "text and operations are two forms of the same; send one of them",
                ));
            }
            (None, None) => {
                return Err(Problem::invalid(
                    "operations",
                    "operations is missing: send a list of operations, or text",
                ));
            }
        };
        if list.len() > MAX_TEXT_ITEMS {
            let detail = format!(
                "operations has {} items; at most {MAX_TEXT_ITEMS} are accepted at once",
                list.len()
            );
            let problem = Problem::invalid("operations", detail);
            return Err(problem.with("limit", MAX_TEXT_ITEMS).with("actual", list.len()));
        }
        let list: Vec<OperationRequest> = list.into_iter().map(|Object(operation)| operation).collect();
        match first_nul(&list) {
            Some((path, at)) => Err(Problem::invalid(
                &path,
                format!("{path} contains a NUL character at byte {at}; remove it"),
            )),
            None => Ok(OperationsInput::List(list)),
        }
    }
}

/// The longest instructions, in bytes.
const MAX_INSTRUCTIONS: usize = 10_000;

/// How a memory is consolidated.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConsolidateRequest {
    /// `propose`, the default: the operations wait until somebody approves them. `apply`: they are saved.
    #[serde(default)]
    #[schema(nullable = false, default = json!("propose"))]
    mode: Option<ModeKind>,
    /// What the model is told besides its instructions, such as what to look at; at most 10,000 bytes. It allows nothing that is
    /// refused without it.
    #[serde(default)]
    #[schema(nullable = false, pattern = r"^[^\u0000]*$")]
    instructions: Option<String>,
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
    params(ActorHeader, ConditionHeaders, PreferHeader),
    request_body(content = Option<ConsolidateRequest>, content_type = "application/json"),
    responses(
        (status = 200, description = "What is proposed or was changed, and why; `unchanged` if nothing can go. With `Accept: text/event-stream` as `UpdateContext`.", content(
            (UpdateAnswer = "application/json"),
            (ServerSentEvent<'static> = "text/event-stream"),
        )),
        (status = 202, description = "With `Prefer: respond-async`: it is stored and will be run; its run as `GetUpdate` shows it.", body = Run, headers(("Location"), ("Preference-Applied"))),
        (status = 409, description = "The memory was deleted meanwhile."),
        (status = 429, description = "The queue of updates of this memory or this vault is full, or the models of the vault have used the day's tokens; `Retry-After` says when to come back."),
        (status = 502, description = "The model failed; nothing was saved."),
        (status = 504, description = "The model did not answer in time; nothing was saved."),
    )
)]
#[expect(clippy::too_many_arguments, reason = "one for each extractor")]
pub(crate) async fn consolidate_memory(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    caller: CallerOf,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    response_mode: ResponseMode,
    OptionalJsonBody(body): OptionalJsonBody<ConsolidateRequest>,
) -> Result<Response, Problem> {
    let instructions = body.instructions.unwrap_or_default();
    fields::optional("instructions", &instructions, MAX_INSTRUCTIONS)?;
    if !state.storage.memory_exists(&vault_id, &memory_id).await? {
        return Err(Problem::not_found("there is no such memory"));
    }
    let mode = caller.mode(body.mode != Some(ModeKind::Apply));
    let request = UpdateRequest {
        to: Target::new(vault_id, memory_id, actor, conditions.for_write()),
        input: UpdateInput::consolidation(instructions, mode),
        watcher: None,
        idempotency: None,
    };
    respond(&state, request, claim, response_mode).await
}
