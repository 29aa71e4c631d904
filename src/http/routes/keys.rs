//! `/v1/keys`: the API keys. All routes require the role `admin`. A key limited to vaults can read, create and end
//! only keys limited to a subset of those vaults.

use crate::domain::access::{AccessRole, ApiKey, Caller, MAX_GRACE, Token, VaultScope};
use crate::domain::ids::{ActorId, KeyId, VaultId};
use crate::http::extract::body::JsonBody;
use crate::http::extract::caller::CallerOf;
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{KeyPath, Path, Query, parsed, within};
use crate::http::middleware::idempotency::IDEMPOTENCY_KEY;
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::storage::access::keys::{KeyError, NewKey};
use crate::telemetry;
use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Checks that the caller has all the rights of a key: nobody may obtain the secret of a key with more rights than their own.
///
/// # Errors
/// 403 that names the field.
fn within_own_rights(
    caller: &Caller,
    (scope, role, expires_at, speaks_for_others): (&VaultScope, AccessRole, Option<DateTime<Utc>>, bool),
    done: &str,
) -> Result<(), Problem> {
    let beyond = |field: &str, what: &str| {
        telemetry::refused("rights");
        let detail = format!("a key {done} this key must not {what}");
        Err(Problem::new(Kind::Forbidden, detail).with("field", field))
    };
    if !caller.scope.includes(scope) {
        return beyond("vaults", "reach vaults that this key does not reach");
    }
    if !caller.may(role) {
        return beyond("role", "have more rights than this key");
    }
    let Some(own) = &caller.key else { return Ok(()) };
    if let Some(end) = own.expires_at
        && expires_at.is_none_or(|time| time > end)
    {
        return beyond(
            "expires_at",
            &format!("last longer than this key, which expires at {end:?}"),
        );
    }
    if speaks_for_others && !own.speaks_for_others {
        return beyond("speaks_for_others", "speak for others, which this key may not");
    }
    Ok(())
}

/// Marks a request whose response contains a secret. The response is not stored, so an idempotency key is rejected.
pub(crate) struct NotRepeatable;

impl<S: Sync> FromRequestParts<S> for NotRepeatable {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        if parts.headers.contains_key(IDEMPOTENCY_KEY) {
            return Err(Problem::malformed(
                "Idempotency-Key",
                "Idempotency-Key is not accepted here: the answer holds a secret, which is not kept to be answered again. \
                 Leave the header out; if the answer is lost, revoke or rotate the key",
            ));
        }
        Ok(Self)
    }
}

/// A key that is visible to the caller.
///
/// # Errors
/// 404 if there is none, or its scope exceeds the caller's.
async fn visible(state: &AppState, caller: &Caller, key_id: &KeyId) -> Result<ApiKey, Problem> {
    let key = state.storage.key(key_id).await?;
    key.filter(|key| caller.scope.includes(&key.scope))
        .ok_or_else(missing)
}

fn missing() -> Problem {
    Problem::not_found("there is no such key")
}

impl From<KeyError> for Problem {
    fn from(error: KeyError) -> Self {
        let message = error.to_string();
        match error {
            KeyError::NotFound => missing(),
            KeyError::Ended | KeyError::TooMany => Self::new(Kind::Conflict, message),
            KeyError::TooManyWithin { limit } => Self::new(Kind::Conflict, message)
                .with("limit", limit)
                .with("limit_name", "limits.vault_keys"),
            KeyError::Storage(error) => error.into(),
        }
    }
}

/// A key without its secret.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Key)]
pub(crate) struct KeyBody {
    /// Names it here, and stands in front of its secret: `wm_<key_id>_<secret>`.
    pub(crate) key_id: String,
    /// Who holds it: the actor of what is written with it.
    pub(crate) name: String,
    /// What its holder may do.
    pub(crate) role: AccessRole,
    /// The vaults it reaches, if they are listed.
    pub(crate) vaults: Option<Vec<String>>,
    /// What the ids of the vaults begin with that it reaches. It reaches all if this and `vaults` are null.
    pub(crate) vault_prefix: Option<String>,
    /// Whether `X-Actor-Id` may name somebody else.
    pub(crate) speaks_for_others: bool,
    /// Whether it is taken now: neither revoked nor expired.
    pub(crate) active: bool,
    /// The name of the key that made it; `cli` or `anybody` if none did.
    pub(crate) created_by: String,
    pub(crate) created_at: DateTime<Utc>,
    /// When it last got a new secret.
    pub(crate) rotated_at: Option<DateTime<Utc>>,
    /// From when on it is not taken.
    pub(crate) expires_at: Option<DateTime<Utc>>,
    pub(crate) revoked_at: Option<DateTime<Utc>>,
}

impl KeyBody {
    /// The key and its state at this time.
    pub(crate) fn of(key: ApiKey, now: DateTime<Utc>) -> Self {
        let vaults = key.scope.vaults();
        Self {
            active: key.is_active(now),
            vaults: vaults.map(|vaults| vaults.iter().map(VaultId::to_string).collect()),
            vault_prefix: key.scope.prefix().map(VaultId::to_string),
            key_id: key.key_id.to_string(),
            name: key.name.to_string(),
            role: key.role,
            speaks_for_others: key.speaks_for_others,
            created_by: key.created_by,
            created_at: key.created_at,
            rotated_at: key.rotated_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
        }
    }
}

/// A key with its secret, which is never shown again.
#[derive(Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = NewKey)]
pub(crate) struct NewKeyBody {
    #[serde(flatten)]
    pub(crate) key: KeyBody,
    /// What to send as `Authorization: Bearer …`.
    #[serde(rename = "key")]
    #[schema(pattern = "^wm_[0-9a-f]+_[0-9a-f]{64}$")]
    pub(crate) token: String,
}

impl NewKeyBody {
    /// The key and its secret.
    pub(crate) fn of(key: ApiKey, token: &Token, now: DateTime<Utc>) -> Self {
        Self {
            key: KeyBody::of(key, now),
            token: token.expose().to_owned(),
        }
    }
}

/// The maximum number of vaults in a key's scope.
const MAX_VAULTS: usize = 1_000;

/// What a key is to be. Without `vaults` and `vault_prefix` it reaches every vault.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyRequest {
    /// Who holds it: the actor of what is written with it.
    #[schema(value_type = ActorId)]
    name: String,
    /// What its holder may do.
    role: AccessRole,
    /// The vaults it reaches.
    #[schema(min_items = 1, max_items = 1_000)]
    vaults: Option<Vec<String>>,
    /// What the ids of the vaults begin with that it reaches.
    #[schema(value_type = Option<VaultId>)]
    vault_prefix: Option<String>,
    /// Whether `X-Actor-Id` may name somebody else.
    #[serde(default)]
    speaks_for_others: bool,
    /// From when on it is not taken; for ever without it.
    expires_at: Option<DateTime<Utc>>,
}

/// Create a key
///
/// Its secret is in this answer and nowhere else: what is stored is a hash of it. So this answer cannot be kept for an
/// `Idempotency-Key`, which is refused: if the answer was lost, revoke the key (it is in the list) and make another.
/// A key makes only keys with rights that it has: of vaults it reaches, that last no longer, and that speak for others
/// only if it does. From the first key on, the service asks everybody for one.
#[utoipa::path(
    post,
    path = "/v1/keys",
    request_body = KeyRequest,
    responses(
        (status = 201, description = "The key with its secret.", body = NewKeyBody),
        (status = 400, description = "The request cannot be read, or has an `Idempotency-Key`: a secret is not kept to be answered again."),
        (status = 409, description = "The limit of active keys is reached, for the service or within the vaults of the caller's key (`limits.vault_keys`)."),
    )
)]
pub(crate) async fn create_key(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    _: NotRepeatable,
    JsonBody(request): JsonBody<KeyRequest>,
) -> Result<(StatusCode, Json<NewKeyBody>), Problem> {
    let now = state.clock.now();
    let mut new = request.checked(&caller, now)?;
    if caller.scope != VaultScope::All {
        new.quota = Some((caller.scope.clone(), state.settings.config.limits.vault_keys));
    }
    let (key, token) = state.storage.create_key(new).await?;
    state.gate.forget();
    tracing::info!(key_id = %key.key_id, "a key was made");
    Ok((StatusCode::CREATED, Json(NewKeyBody::of(key, &token, now))))
}

impl KeyRequest {
    fn checked(self, caller: &Caller, now: DateTime<Utc>) -> Result<NewKey, Problem> {
        let own = caller.key.as_ref();
        let expires_at = self.expires_at;
        let rule = match expires_at {
            Some(time) if time <= now => Some("expires_at must be in the future"),
            // RFC 3339 writes years of four digits.
            Some(time) if time.year() > 9_999 => {
                Some("expires_at must lie before the year 10000; leave it out for a key that does not expire")
            }
            _ => None,
        };
        if let Some(rule) = rule {
            return Err(Problem::invalid("expires_at", rule));
        }
        let scope = self.scope()?;
        let rights = (&scope, self.role, expires_at, self.speaks_for_others);
        within_own_rights(caller, rights, "made with")?;
        Ok(NewKey {
            name: parsed("name", &self.name)?,
            role: self.role,
            scope,
            speaks_for_others: self.speaks_for_others,
            created_by: own.map_or_else(|| caller.id().to_owned(), |key| key.name.to_string()),
            expires_at,
            quota: None,
        })
    }

    fn scope(&self) -> Result<VaultScope, Problem> {
        match (&self.vaults, &self.vault_prefix) {
            (None, None) => Ok(VaultScope::All),
            (Some(_), Some(_)) => Err(Problem::invalid(
                "vault_prefix",
                "a key has vaults or a vault_prefix, not both",
            )),
            (None, Some(prefix)) => parsed("vault_prefix", prefix).map(VaultScope::Prefix),
            (Some(vaults), None) if vaults.is_empty() || vaults.len() > MAX_VAULTS => Err(Problem::invalid(
                "vaults",
                format!("vaults must name 1 to {MAX_VAULTS} vaults; leave it out for all of them"),
            )
            .with("limit", MAX_VAULTS)),
            (Some(vaults), None) => {
                let vaults = vaults.iter().enumerate();
                let parsed = vaults.map(|(index, id)| parsed(&format!("vaults[{index}]"), id));
                Ok(VaultScope::List(Arc::new(parsed.collect::<Result<_, _>>()?)))
            }
        }
    }
}

/// List the keys
///
/// By id, also revoked and expired ones. A key that is limited to vaults sees those that are limited to some of them.
#[utoipa::path(
    get,
    path = "/v1/keys",
    params(Page),
    responses((status = 200, description = "One page.", body = List<KeyBody>))
)]
pub(crate) async fn list_keys(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    page: Page,
) -> Result<Json<List<KeyBody>>, Problem> {
    let after = page.after::<KeyId>()?;
    let keys = state
        .storage
        .list_keys(&caller.scope, after.as_ref(), page.fetch())
        .await?;
    let now = state.clock.now();
    let show = |key| KeyBody::of(key, now);
    Ok(Json(page.of(keys, |key| key.key_id.clone(), show)))
}

/// Get a key
///
/// All but its secret, which nobody can show again.
#[utoipa::path(
    get,
    path = "/v1/keys/{key_id}",
    responses(
        (status = 200, description = "The key.", body = KeyBody),
        (status = 404, description = "There is no such key."),
    )
)]
pub(crate) async fn get_key(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    Path((key_id,)): KeyPath,
) -> Result<Json<KeyBody>, Problem> {
    let key = visible(&state, &caller, &key_id).await?;
    Ok(Json(KeyBody::of(key, state.clock.now())))
}

/// Revoke a key
///
/// It is refused from now on, by every instance within a second. It stays in the list. Revoking it again changes
/// nothing. When the last key is revoked the service goes on asking for one; `working-memory keys create` makes it.
#[utoipa::path(
    delete,
    path = "/v1/keys/{key_id}",
    responses(
        (status = 204, description = "It is revoked."),
        (status = 404, description = "There is no such key."),
    )
)]
pub(crate) async fn revoke_key(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    Path((key_id,)): KeyPath,
) -> Result<StatusCode, Problem> {
    visible(&state, &caller, &key_id).await?;
    if !state.storage.revoke_key(&key_id).await? {
        return Err(missing());
    }
    state.gate.forget();
    tracing::info!(%key_id, "a key was revoked");
    Ok(StatusCode::NO_CONTENT)
}

/// How a key is rotated.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RotateParams {
    /// How many seconds the old secret is taken too; none without it.
    #[param(value_type = Option<u32>, minimum = 0, maximum = 2_592_000)]
    grace_seconds: Option<String>,
}

/// Rotate a key
///
/// Gives it a new secret, which is in this answer and nowhere else; all else stays, its id too. The old secret ends
/// now, or after `grace_seconds`; a still older one ends now. Who gets the secret of a key has its rights, so a key
/// rotates only those with rights that it has itself.
#[utoipa::path(
    post,
    path = "/v1/keys/{key_id}/rotate",
    params(RotateParams),
    responses(
        (status = 200, description = "The key with its new secret.", body = NewKeyBody),
        (status = 400, description = "The request cannot be read, or has an `Idempotency-Key`: a secret is not kept to be answered again."),
        (status = 404, description = "There is no such key."),
        (status = 409, description = "It was revoked or has expired."),
    )
)]
pub(crate) async fn rotate_key(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    _: NotRepeatable,
    Path((key_id,)): KeyPath,
    Query(RotateParams { grace_seconds }): Query<RotateParams>,
) -> Result<Json<NewKeyBody>, Problem> {
    let grace_seconds = within("grace_seconds", grace_seconds.as_ref(), 0..=MAX_GRACE)?;
    let key = visible(&state, &caller, &key_id).await?;
    let rights = (&key.scope, key.role, key.expires_at, key.speaks_for_others);
    within_own_rights(&caller, rights, "rotated with")?;
    let grace = TimeDelta::seconds(grace_seconds.unwrap_or(0).into());
    let (key, token) = state.storage.rotate_key(&key_id, grace).await?;
    state.gate.forget();
    tracing::info!(%key_id, "a key was rotated");
    Ok(Json(NewKeyBody::of(key, &token, state.clock.now())))
}
