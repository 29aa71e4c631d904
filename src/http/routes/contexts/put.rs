//! `PUT M/context`, `POST M/contexts/{ref}/restore` and `…/redact`

use crate::config::limits::Guard;
use crate::domain::document::{self, InvalidDocument};
use crate::domain::listed;
use crate::http::extract::body::{self, JsonBody, Limit, OptionalJsonBody};
use crate::http::extract::caller::{Actor, ActorHeader, UnderClaim};
use crate::http::extract::headers::{ConditionHeaders, Conditions, Representation};
use crate::http::extract::params::{EntryPath, MemoryPath, Path, Query};
use crate::http::problem::{CollapseBody, Problem};
use crate::http::routes::contexts::{ContextBody, saved};
use crate::http::routes::window::below;
use crate::http::state::AppState;
use crate::storage::idempotency::{Answering, KeptAnswer};
use crate::storage::{ContextRef, Put, PutJob, RestoreJob};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::LOCATION;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// A document as a request body, byte for byte. `limits.context_bytes` bounds it in bytes, not in characters.
#[derive(utoipa::ToSchema)]
#[schema(as = DocumentText, min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000\ufeff][^\u0000]*$")]
#[expect(dead_code, reason = "documents the request body")]
pub(crate) struct DocumentText(String);

/// A document as a request body: any JSON text but a number, a boolean and null.
#[derive(utoipa::ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documents the request body")]
pub(crate) enum DocumentJson {
    /// The text.
    Text(DocumentText),
    /// Stored as its JSON text, as it was sent.
    Object(serde_json::Map<String, Value>),
    /// Stored as its JSON text, as it was sent.
    Array(Vec<Value>),
}

/// What a put came to.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct PutAnswer {
    /// The newest version.
    #[serde(flatten)]
    context: ContextBody,
    /// Whether the document was this already, so that no version was made.
    unchanged: bool,
    /// What the new version lost of the one before, and archived ids that it uses again; empty with
    /// `guard.collapse = "off"`.
    warnings: Vec<CollapseBody>,
}

/// What a writer knows and wants.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PutParams {
    /// `collapse`: make the version even if it loses much, where `guard.collapse = "reject"` would refuse it.
    #[param(inline)]
    confirm: Option<Confirm>,
}

/// What a client can confirm.
#[derive(Debug, Clone, Copy, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
enum Confirm {
    Collapse,
}

listed! {
    /// The values of `confirm`.
    Confirm as "Confirm";
}

/// Put a document
///
/// Makes a new version with this text, byte for byte, unless it is the newest version's text already. The memory
/// is made if it does not exist. A text that drops more than half of the bytes or any active record is told in
/// `warnings`, or refused where the service is set up so.
#[utoipa::path(
    put,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/context",
    params(PutParams, ActorHeader, ConditionHeaders),
    request_body(
        description = "The document: UTF-8, not blank, no NUL, at most `limits.context_bytes` (102,400) bytes.",
        content(
            (DocumentText = "text/plain"),
            (DocumentJson = "application/json"),
        )
    ),
    responses(
        (status = 201, description = "A new version was made.", body = PutAnswer, headers(("ETag"), ("Location"), ("X-Context-Version" = i64))),
        (status = 200, description = "The document was this already; nothing was made.", body = PutAnswer, headers(("ETag"), ("X-Context-Version" = i64))),
        (status = 409, description = "The text would lose much of the document (`warnings` says what) and `guard.collapse` is `reject`; `confirm=collapse` makes the version all the same."),
    )
)]
pub(crate) async fn put_context(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(PutParams { confirm }): Query<PutParams>,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    request: Request,
) -> Result<KeptAnswer, Problem> {
    let text = read_document(&state, request).await?;
    let guard = match (state.settings.config.guard.collapse, confirm) {
        (Guard::Reject, Some(Confirm::Collapse)) => Guard::Warn,
        (guard, _) => guard,
    };
    let job = PutJob {
        vault: vault_id,
        memory: memory_id,
        text,
        actor,
        preconditions: conditions.for_write(),
        guard,
        idempotency: answering(&state, claim),
    };
    let put = Box::pin(state.storage.put_context(job)).await?;
    Ok(answer(state.settings.config.limits.context_bytes, &put))
}

/// The answer that is stored with the version, if the request has an idempotency key.
fn answering(state: &AppState, claim: UnderClaim) -> Option<Answering<'static, Put>> {
    let limit = state.settings.config.limits.context_bytes;
    claim.answering(move |put| answer(limit, put))
}

/// The response of every route that saves a text as the newest version.
fn answer(limit: usize, put: &Put) -> KeptAnswer {
    let (metadata, lost, unchanged) = match put {
        Put::Created(metadata, lost) => (metadata, &**lost, false),
        Put::Unchanged(metadata) => (metadata, &[][..], true),
    };
    let body = PutAnswer {
        context: ContextBody::of(metadata, limit),
        unchanged,
        warnings: lost.iter().cloned().map(CollapseBody::from).collect(),
    };
    let answer = saved(unchanged, metadata, &body);
    if unchanged {
        return answer;
    }
    let version = format!("contexts/{}", metadata.version);
    answer.with(LOCATION, below(&metadata.vault_id, &metadata.memory_id, &version))
}

/// Reads a document's text, or JSON that holds one, which may be several times as long.
pub(in crate::http::routes) async fn read_text_or_json(
    state: &AppState,
    request: Request,
) -> Result<(Representation, String), Problem> {
    let of_text = Limit::of_documents(&state.settings);
    let of_json = Limit {
        bytes: state.settings.config.limits.body_bytes.max(of_text.bytes),
        ..Limit::of_bodies(&state.settings)
    };
    let accepted = [(Representation::Plain, of_text), (Representation::Json, of_json)];
    body::read_text(state, request, &accepted).await
}

async fn read_document(state: &AppState, request: Request) -> Result<String, Problem> {
    let (media_type, text) = read_text_or_json(state, request).await?;
    let text = if media_type == Representation::Json {
        document_of_json(text)?
    } else {
        text
    };
    match document::check(&text, state.settings.config.limits.context_bytes) {
        Ok(()) => Ok(text),
        Err(InvalidDocument::TooLarge { bytes, limit }) => Err(Problem::too_large(
            "context",
            "limits.context_bytes",
            limit,
            Some(bytes as u64),
        )),
        Err(rule @ (InvalidDocument::Blank | InvalidDocument::Nul { .. })) => {
            Err(Problem::invalid("body", rule.to_string()))
        }
    }
}

/// A JSON string is decoded to its text; an object or array is stored as it is.
fn document_of_json(body: String) -> Result<String, Problem> {
    let malformed = |error| Problem::malformed("body", format!("the body is not JSON: {error}"));
    match body
        .trim_start_matches([' ', '\t', '\r', '\n'])
        .as_bytes()
        .first()
    {
        Some(b'"') => serde_json::from_str(&body).map_err(malformed),
        Some(b'{' | b'[') => serde_json::from_str::<IgnoredAny>(&body)
            .map(|_| body)
            .map_err(malformed),
        _ => Err(match serde_json::from_str::<IgnoredAny>(&body) {
            Ok(_) => Problem::invalid("body", "the body must be a JSON string, object or array"),
            Err(error) => malformed(error),
        }),
    }
}

/// The maximum length of a reason, in characters.
const REASON_CHARS: usize = 1_000;

/// A reason: not blank, no NUL, at most 1,000 characters.
#[derive(utoipa::ToSchema)]
#[schema(
    min_length = 1,
    max_length = 1_000,
    pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"
)]
#[expect(dead_code, reason = "documents what `checked` checks")]
struct Reason(String);

/// Why a version is restored.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RestoreRequest {
    /// Appears in the log of the new version.
    #[serde(default)]
    #[schema(value_type = Option<Reason>)]
    reason: Option<String>,
}

/// Restore a version
///
/// Makes a new version with the text of an older one, unless the newest has that text already. Records that were
/// archived meanwhile are active again under their ids; numbers given meanwhile are not given again. Active records
/// that do not stand in that text are archived, as left out by the new version, and stand in `warnings`.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}/restore",
    params(ActorHeader, ConditionHeaders),
    request_body(description = "May be left out.", content = Option<RestoreRequest>),
    responses(
        (status = 201, description = "A new version was made.", body = PutAnswer, headers(("ETag"), ("Location"), ("X-Context-Version" = i64))),
        (status = 200, description = "The newest version has this text already; nothing was made.", body = PutAnswer, headers(("ETag"), ("X-Context-Version" = i64))),
        (status = 410, description = "The version was redacted."),
    )
)]
pub(crate) async fn restore_context(
    State(state): State<AppState>,
    Path((vault_id, memory_id, entry)): EntryPath<ContextRef>,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    OptionalJsonBody(RestoreRequest { reason }): OptionalJsonBody<RestoreRequest>,
) -> Result<KeptAnswer, Problem> {
    let job = RestoreJob {
        vault: vault_id,
        memory: memory_id,
        reference: entry,
        actor,
        reason: reason.as_deref().map(checked).transpose()?.map(str::to_owned),
        preconditions: conditions.for_write(),
        limit: state.settings.config.limits.context_bytes,
        idempotency: answering(&state, claim),
    };
    let restored = state.storage.restore_context(&job).await?;
    Ok(answer(state.settings.config.limits.context_bytes, &restored))
}

/// Why the text is to be taken out.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedactRequest {
    /// Shown in place of the text, so it must not repeat what is taken out.
    #[schema(value_type = Reason)]
    reason: String,
}

/// Redact a version
///
/// Takes the text of a version out for good, with everything that quotes it: its log and operations, the runs that
/// made it, started from it or repeat it, and what records say that no other version holds. The version stays in
/// lists, with who redacted it, when and why, and the SHA-256 of the text. The newest version cannot be redacted.
/// Redacting a version again changes nothing.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}/redact",
    params(ActorHeader, ConditionHeaders),
    request_body = RedactRequest,
    responses(
        (status = 200, description = "The version without its text.", body = ContextBody),
        (status = 409, description = "It is the newest version."),
    )
)]
pub(crate) async fn redact_context(
    State(state): State<AppState>,
    Path((vault_id, memory_id, entry)): EntryPath<ContextRef>,
    Actor(actor): Actor,
    conditions: Conditions,
    JsonBody(RedactRequest { reason }): JsonBody<RedactRequest>,
) -> Result<Json<ContextBody>, Problem> {
    let reason = checked(&reason)?;
    let preconditions = conditions.for_write();
    let redacted = state
        .storage
        .redact_context(&vault_id, &memory_id, &entry, &actor, reason, &preconditions)
        .await?;
    Ok(Json(ContextBody::of(
        &redacted,
        state.settings.config.limits.context_bytes,
    )))
}

fn checked(reason: &str) -> Result<&str, Problem> {
    let reason = reason.trim();
    let rule = match reason.chars().count() {
        0 => "must not be blank",
        count if count > REASON_CHARS => "must have at most 1000 characters",
        _ if reason.contains('\0') => "must not contain NUL",
        _ => return Ok(reason),
    };
    Err(Problem::invalid("reason", format!("reason {rule}")).with("limit", REASON_CHARS))
}
