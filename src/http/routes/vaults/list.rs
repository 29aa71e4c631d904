//! `GET /v1/vaults`

use crate::domain::ids::VaultId;
use crate::http::extract::caller::CallerOf;
use crate::http::extract::page::{List, Page};
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::memories::VaultSummary;
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A vault (tenant).
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Vault)]
pub(crate) struct VaultBody {
    /// Its id.
    pub(crate) vault_id: String,
    /// How many memories it has, with those that have prompt items of their own and no document.
    #[schema(minimum = 1)]
    pub(crate) memories: i64,
    /// When one of them last got a new version, or prompt items where it has no document.
    pub(crate) changed_at: DateTime<Utc>,
}

impl From<VaultSummary> for VaultBody {
    fn from(vault: VaultSummary) -> Self {
        Self {
            vault_id: vault.vault_id.to_string(),
            memories: vault.memories,
            changed_at: vault.changed_at,
        }
    }
}

/// List the vaults
///
/// By id. A vault is there as long as it has a memory; its own prompt items make it none. Shown are those that the caller's key reaches.
#[utoipa::path(
    get,
    path = "/v1/vaults",
    operation_id = "ListVaults",
    tag = "vaults",
    params(Page),
    responses((status = 200, description = "One page.", body = List<VaultBody>))
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    Query(page): Query<Page>,
) -> Result<Json<List<VaultBody>>, Problem> {
    let after = page.after::<VaultId>("vaults")?;
    let vaults = state
        .storage
        .list_vaults(&caller.scope, after.as_ref(), page.fetch())
        .await?;
    Ok(Json(page.of(
        "vaults",
        vaults,
        |vault| vault.vault_id.clone(),
        VaultBody::from,
    )))
}
