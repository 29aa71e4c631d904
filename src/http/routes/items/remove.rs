//! `DELETE …/items/{item_id}`

use super::logged::Change;
use super::view::{below_memory, below_vault, missing, require_role};
use crate::domain::ids::ItemId;
use crate::http::extract::caller::CallerOf;
use crate::http::extract::path::{EntryPath, VaultEntryPath};
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::prompt_items::ItemOwner;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

/// Remove an item of a memory
///
/// By its item_id. The category `rules` needs the role admin.
#[utoipa::path(
    delete,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/items/{item}",
    operation_id = "RemoveItem",
    tag = "prompt",
    responses(
        (status = 204, description = "It is gone."),
        (status = 403, description = "Only administrators remove rules."),
        (status = 404, description = "There is no such item, or it has expired."),
    )
)]
pub(crate) async fn of_memory(
    State(state): State<AppState>,
    path: EntryPath<ItemId>,
    Query(NoParams): Query<NoParams>,
    caller: CallerOf,
) -> Response {
    remove_logged(&state, below_memory(path), &caller).await
}

/// Remove an item of a vault
///
/// By its item_id. The category `rules` needs the role admin.
#[utoipa::path(
    delete,
    path = "/v1/vaults/{vault_id}/items/{item}",
    operation_id = "RemoveVaultItem",
    tag = "prompt",
    responses(
        (status = 204, description = "It is gone."),
        (status = 403, description = "Only administrators remove rules."),
        (status = 404, description = "There is no such item, or it has expired."),
    )
)]
pub(crate) async fn of_vault(
    State(state): State<AppState>,
    path: VaultEntryPath<ItemId>,
    Query(NoParams): Query<NoParams>,
    caller: CallerOf,
) -> Response {
    remove_logged(&state, below_vault(path), &caller).await
}

async fn remove_logged(state: &AppState, (owner, id): (ItemOwner, ItemId), caller: &CallerOf) -> Response {
    let mut change = Change::new("removed");
    change.names(&id);
    let removed = remove(state, (owner, id), caller).await;
    change.answer(removed)
}

async fn remove(
    state: &AppState,
    (owner, id): (ItemOwner, ItemId),
    caller: &CallerOf,
) -> Result<StatusCode, Problem> {
    // An item never changes its category, so the check is still valid when it is deleted.
    let item = state.storage.item(&owner, &id).await?.ok_or_else(missing)?;
    require_role(caller, &item.category)?;
    if state.storage.remove_item(&owner, &id).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(missing())
    }
}
