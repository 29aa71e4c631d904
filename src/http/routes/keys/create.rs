//! `POST /v1/keys`

use super::view::NewKeyBody;
use super::{NotRepeatable, Rights};
use crate::domain::access::{Caller, VaultScope};
use crate::domain::ids::VaultId;
use crate::http::extract::caller::CallerOf;
use crate::http::extract::json::JsonBody;
use crate::http::extract::query::{NoParams, Query};
use crate::http::names::AccessRoleName;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::access::keys::NewKey;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use std::sync::Arc;

/// The maximum number of vaults in a key's scope.
const MAX_VAULTS: usize = 1_000;

/// What a key is to be. Without `vaults` and `vault_prefix` it reaches every vault.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = KeyRequest)]
pub(crate) struct KeyRequest {
    /// Who holds it: the actor of what is written with it.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    name: String,
    /// What its holder may do.
    role: AccessRoleName,
    /// The vaults it reaches.
    #[schema(min_items = 1, max_items = 1_000)]
    vaults: Option<Vec<String>>,
    /// What the ids of the vaults begin with that it reaches.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    vault_prefix: Option<String>,
    /// Whether `X-Actor-Id` may name somebody else.
    #[serde(default)]
    speaks_for_others: bool,
    /// From when on it is not taken; for ever without it.
    #[schema(value_type = Option<DateTime<Utc>>)]
    expires_at: Option<String>,
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
    operation_id = "CreateKey",
    tag = "keys",
    request_body = KeyRequest,
    responses(
        (status = 201, description = "The key with its secret.", body = NewKeyBody),
        (status = 400, description = "The request cannot be read, or has an `Idempotency-Key`: a secret is not kept to be answered again."),
        (status = 409, description = "The limit of active keys is reached, for the service or within the vaults of the caller's key (`limits.vault_keys`)."),
    )
)]
pub(crate) async fn create(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    _: NotRepeatable,
    Query(NoParams): Query<NoParams>,
    JsonBody(request): JsonBody<KeyRequest>,
) -> Result<(StatusCode, Json<NewKeyBody>), Problem> {
    let now = state.clock.now();
    let mut new = request.checked(&caller, now)?;
    if caller.scope != VaultScope::All {
        new.quota = Some((caller.scope.clone(), state.settings.tariff.limits.vault_keys));
    }
    let (key, token) = state.storage.create_key(new).await?;
    state.gate.forget();
    tracing::info!(key_id = %key.key_id, "a key was made");
    Ok((StatusCode::CREATED, Json(NewKeyBody::of(key, &token, now))))
}

impl KeyRequest {
    fn checked(self, caller: &Caller, now: DateTime<Utc>) -> Result<NewKey, Problem> {
        let own = caller.key.as_ref();
        let expires_at = self.expires_at.as_deref().map(read_time).transpose()?;
        if expires_at.is_some_and(|time| time <= now) {
            return Err(Problem::invalid("expires_at", "expires_at must be in the future"));
        }
        let scope = self.scope()?;
        let rights = Rights {
            scope: &scope,
            role: self.role.0,
            expires_at,
            speaks_for_others: self.speaks_for_others,
        };
        rights.are_within(caller, "made with")?;
        let name = self.name.parse();
        Ok(NewKey {
            name: name.map_err(|rule| Problem::invalid("name", format!("name {rule}")))?,
            role: rights.role,
            scope: rights.scope.clone(),
            speaks_for_others: rights.speaks_for_others,
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
            (None, Some(prefix)) => vault("vault_prefix", prefix).map(VaultScope::Prefix),
            (Some(vaults), None) if vaults.is_empty() || vaults.len() > MAX_VAULTS => Err(Problem::invalid(
                "vaults",
                format!("vaults must name 1 to {MAX_VAULTS} vaults; leave it out for all of them"),
            )
            .with("limit", MAX_VAULTS)),
            (Some(vaults), None) => {
                let vaults = vaults.iter().enumerate();
                let parsed = vaults.map(|(index, id)| vault(&format!("vaults[{index}]"), id));
                Ok(VaultScope::List(Arc::new(parsed.collect::<Result<_, _>>()?)))
            }
        }
    }
}

fn vault(field: &str, text: &str) -> Result<VaultId, Problem> {
    text.parse()
        .map_err(|rule| Problem::invalid(field, format!("{field} {rule}")))
}

fn read_time(text: &str) -> Result<DateTime<Utc>, Problem> {
    let time = DateTime::parse_from_rfc3339(text).map_err(|_| {
        Problem::invalid(
            "expires_at",
            "expires_at must be a time as in 2026-11-21T02:00:00Z (RFC 3339)",
        )
    })?;
    Ok(time.to_utc())
}
