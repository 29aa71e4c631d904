//! `GET …/items/{item_id}`

use super::view::{ItemBody, below_memory, below_vault, missing};
use crate::domain::ids::ItemId;
use crate::http::extract::path::{EntryPath, VaultEntryPath};
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::prompt_items::ItemOwner;
use axum::Json;
use axum::extract::State;

/// Read an item of a memory
///
/// By its item_id.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/items/{item}",
    operation_id = "GetItem",
    tag = "prompt",
    responses(
        (status = 200, description = "The item.", body = ItemBody),
        (status = 404, description = "There is no such item, or it has expired."),
    )
)]
pub(crate) async fn of_memory(
    State(state): State<AppState>,
    path: EntryPath<ItemId>,
    Query(NoParams): Query<NoParams>,
) -> Result<Json<ItemBody>, Problem> {
    get(&state, below_memory(path)).await
}

/// Read an item of a vault
///
/// By its item_id.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/items/{item}",
    operation_id = "GetVaultItem",
    tag = "prompt",
    responses(
        (status = 200, description = "The item.", body = ItemBody),
        (status = 404, description = "There is no such item, or it has expired."),
    )
)]
pub(crate) async fn of_vault(
    State(state): State<AppState>,
    path: VaultEntryPath<ItemId>,
    Query(NoParams): Query<NoParams>,
) -> Result<Json<ItemBody>, Problem> {
    get(&state, below_vault(path)).await
}

async fn get(state: &AppState, (owner, id): (ItemOwner, ItemId)) -> Result<Json<ItemBody>, Problem> {
    let item = state.storage.item(&owner, &id).await?.ok_or_else(missing)?;
    Ok(Json(ItemBody::of(&owner.vault, item)))
}
