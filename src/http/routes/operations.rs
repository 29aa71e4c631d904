//! `POST M/operations`

use super::update::{OnInvalidName, refuse_nul};
use crate::domain::ids::UpdateId;
use crate::http::extract::actor::{Actor, ActorHeader};
use crate::http::extract::body::{self, Limit};
use crate::http::extract::conditions::{Conditions, WriteHeaders};
use crate::http::extract::media_type::{self, MediaType};
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::{FromQuery, Query, QueryReader};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::pipeline::OperationsRequest;
use crate::pipeline::report::UpdateAnswer;
use axum::Json;
use axum::extract::{Request, State};

/// Operations as a request body.
#[derive(utoipa::ToSchema)]
#[schema(as = OperationsText, min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$")]
#[expect(dead_code, reason = "documents the request body")]
pub(crate) struct OperationsText(String);

/// How a text of operations is applied.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OperationsParams {
    /// Do everything but save.
    dry_run: Option<bool>,
    /// What to do about faulty items.
    #[param(value_type = Option<OnInvalidName>, inline)]
    on_invalid: Option<OnInvalidName>,
    /// How many additions a section takes; `pipeline.max_additions` (3) without it.
    #[param(minimum = 1, maximum = 100)]
    max_additions: Option<u32>,
    /// The invalid run that this text finishes by hand.
    #[param(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    update_id: Option<UpdateId>,
}

impl FromQuery for OperationsParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        let on_invalid = [("drop", OnInvalidName::Drop), ("fail", OnInvalidName::Fail)];
        Ok(Self {
            dry_run: query.flag("dry_run")?,
            on_invalid: query.one_of("on_invalid", &on_invalid)?,
            max_additions: query.number("max_additions", 1..=100)?,
            update_id: query.parse("update_id")?,
        })
    }
}

/// Apply operations
///
/// Takes the text of operations that models write, from an agent or a person, and applies it without asking any
/// model. The memory is made if it does not exist.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/operations",
    operation_id = "ApplyOperations",
    tag = "updates",
    params(OperationsParams, ActorHeader, WriteHeaders),
    request_body(
        description = "Operations: CURRENT_PROGRESS, KEY_LEARNINGS, VERBATIM_CONTEXT. Not blank, at most `limits.body_bytes` (1 MiB).",
        content((OperationsText = "text/plain"), (OperationsText = "text/markdown"))
    ),
    responses(
        (status = 200, description = "What was changed, what was not, and why.", body = UpdateAnswer),
        (status = 404, description = "There is no run `update_id`."),
        (status = 409, description = "Run `update_id` is not one to be finished by hand, or the memory was deleted meanwhile."),
        (status = 412, description = "A precondition does not hold; nothing was saved."),
        (status = 422, description = "The request is not valid, items are faulty with `on_invalid=fail`, or the document would be too large; nothing was saved."),
        (status = 429, description = "As many updates of this memory as may wait are waiting."),
    )
)]
pub(crate) async fn operations(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(params): Query<OperationsParams>,
    Actor(actor): Actor,
    conditions: Conditions,
    request: Request,
) -> Result<Json<UpdateAnswer>, Problem> {
    let request = OperationsRequest {
        vault: vault_id,
        memory: memory_id,
        actor,
        preconditions: conditions.for_write(),
        text: read_text(&state, request).await?,
        dry_run: params.dry_run.unwrap_or(false),
        on_invalid: params.on_invalid.unwrap_or_default().into(),
        max_additions: params.max_additions.map(|number| number as usize),
        resolves: params.update_id,
    };
    let answer = Box::pin(state.pipeline.apply_operations(request)).await?;
    Ok(Json(answer))
}

async fn read_text(state: &AppState, request: Request) -> Result<String, Problem> {
    let (parts, body) = request.into_parts();
    media_type::of_body(&parts.headers, &[MediaType::Plain, MediaType::Markdown])?;
    let limit = Limit {
        name: "limits.body_bytes",
        bytes: state.settings.body_bytes,
    };
    let text = body::text(body::read(&parts.headers, body, limit, state.settings.body_timeout).await?)?;
    if text.trim().is_empty() {
        return Err(Problem::invalid(
            "body",
            "the body is empty; it must hold operations",
        ));
    }
    refuse_nul("body", &text)?;
    Ok(text)
}
