//! `GET /v1/keys`, and `GET`, `DELETE` and `POST …/rotate` of `/v1/keys/{key_id}`

use super::view::{KeyBody, NewKeyBody};
use super::{NotRepeatable, Rights};
use crate::domain::ids::KeyId;
use crate::http::extract::caller::CallerOf;
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::KeyPath;
use crate::http::extract::query::{FromQuery, NoParams, Query, QueryReader};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chrono::TimeDelta;

/// List the keys
///
/// By id, those too that were revoked or have expired. A key that is limited to vaults sees those that are limited to
/// some of them.
#[utoipa::path(
    get,
    path = "/v1/keys",
    operation_id = "ListKeys",
    tag = "keys",
    params(Page),
    responses((status = 200, description = "One page.", body = List<KeyBody>))
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    Query(page): Query<Page>,
) -> Result<Json<List<KeyBody>>, Problem> {
    let after = page.after::<KeyId>("keys")?;
    let keys = state
        .storage
        .list_keys(&caller.scope, after.as_ref(), page.fetch())
        .await?;
    let now = state.clock.now();
    Ok(Json(page.of(
        "keys",
        keys,
        |key| key.key_id.clone(),
        |key| KeyBody::of(key, now),
    )))
}

/// Get a key
///
/// All but its secret, which nobody can show again.
#[utoipa::path(
    get,
    path = "/v1/keys/{key_id}",
    operation_id = "GetKey",
    tag = "keys",
    responses(
        (status = 200, description = "The key.", body = KeyBody),
        (status = 404, description = "There is no such key."),
    )
)]
pub(crate) async fn get(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    KeyPath { key_id }: KeyPath,
    Query(NoParams): Query<NoParams>,
) -> Result<Json<KeyBody>, Problem> {
    let key = super::visible(&state, &caller, &key_id).await?;
    Ok(Json(KeyBody::of(key, state.clock.now())))
}

/// Revoke a key
///
/// It is refused from now on, by every instance within a second. It stays in the list. Revoking it again changes
/// nothing. When the last key is revoked the service goes on asking for one; `working-memory keys create` makes it.
#[utoipa::path(
    delete,
    path = "/v1/keys/{key_id}",
    operation_id = "RevokeKey",
    tag = "keys",
    responses(
        (status = 204, description = "It is revoked."),
        (status = 404, description = "There is no such key."),
    )
)]
pub(crate) async fn revoke(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    KeyPath { key_id }: KeyPath,
    Query(NoParams): Query<NoParams>,
) -> Result<StatusCode, Problem> {
    super::visible(&state, &caller, &key_id).await?;
    if !state.storage.revoke_key(&key_id).await? {
        return Err(super::missing());
    }
    state.gate.forget();
    tracing::info!(%key_id, "a key was revoked");
    Ok(StatusCode::NO_CONTENT)
}

/// How long an old secret may remain valid, in seconds: thirty days.
const MAX_GRACE: u32 = 30 * 86_400;

/// How a key is rotated.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RotateParams {
    /// How many seconds the old secret is taken too; none without it.
    #[param(minimum = 0, maximum = 2_592_000)]
    grace_seconds: Option<u32>,
}

impl FromQuery for RotateParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            grace_seconds: query.number("grace_seconds", 0..=MAX_GRACE)?,
        })
    }
}

/// Rotate a key
///
/// Gives it a new secret, which is in this answer and nowhere else; all else stays, its id too. The old secret ends
/// now, or after `grace_seconds`; a still older one ends now. Who gets the secret of a key has its rights, so a key
/// rotates only those with rights that it has itself.
#[utoipa::path(
    post,
    path = "/v1/keys/{key_id}/rotate",
    operation_id = "RotateKey",
    tag = "keys",
    params(RotateParams),
    responses(
        (status = 200, description = "The key with its new secret.", body = NewKeyBody),
        (status = 400, description = "The request cannot be read, or has an `Idempotency-Key`: a secret is not kept to be answered again."),
        (status = 404, description = "There is no such key."),
        (status = 409, description = "It was revoked or has expired."),
    )
)]
pub(crate) async fn rotate(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    _: NotRepeatable,
    KeyPath { key_id }: KeyPath,
    Query(RotateParams { grace_seconds }): Query<RotateParams>,
) -> Result<Json<NewKeyBody>, Problem> {
    let key = super::visible(&state, &caller, &key_id).await?;
    Rights::of(&key).are_within(&caller, "rotated with")?;
    let grace = TimeDelta::seconds(grace_seconds.unwrap_or(0).into());
    let (key, token) = state.storage.rotate_key(&key_id, grace).await?;
    state.gate.forget();
    tracing::info!(%key_id, "a key was rotated");
    Ok(Json(NewKeyBody::of(key, &token, state.clock.now())))
}
