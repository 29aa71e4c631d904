//! `DELETE …/items/{item_id}` and `DELETE …/items?category=`

use super::logged::Change;
use super::view::{below_memory, below_vault, missing, require_role};
use crate::domain::ids::{Category, ItemId};
use crate::http::extract::caller::CallerOf;
use crate::http::extract::path::{EntryPath, MemoryPath, VaultEntryPath, VaultPath};
use crate::http::extract::query::{FromQuery, NoParams, Query, QueryReader};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::prompt_items::ItemOwner;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

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

/// Which items to remove.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemovedParams {
    /// All items of this category.
    #[param(value_type = String, min_length = 1, max_length = 128)]
    category: Category,
}

impl FromQuery for RemovedParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        let category = query.parse("category")?.ok_or_else(|| {
            Problem::invalid(
                "category",
                "category is needed: it names the items that are removed",
            )
        })?;
        Ok(Self { category })
    }
}

/// What was removed.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = RemovedItems)]
pub(crate) struct RemovedBody {
    /// How many items there were.
    #[schema(minimum = 0)]
    removed: u64,
}

/// Remove a category of a memory's items
///
/// `rules` need the role admin.
#[utoipa::path(
    delete,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/items",
    operation_id = "RemoveItems",
    tag = "prompt",
    params(RemovedParams),
    responses(
        (status = 200, description = "How many there were; 0 if there were none.", body = RemovedBody),
        (status = 403, description = "Only administrators remove rules."),
    )
)]
pub(crate) async fn category_of_memory(
    State(state): State<AppState>,
    path: MemoryPath,
    Query(RemovedParams { category }): Query<RemovedParams>,
    caller: CallerOf,
) -> Response {
    remove_category_logged(&state, path.into(), &category, &caller).await
}

/// Remove a category of a vault's items
///
/// `rules` need the role admin.
#[utoipa::path(
    delete,
    path = "/v1/vaults/{vault_id}/items",
    operation_id = "RemoveVaultItems",
    tag = "prompt",
    params(RemovedParams),
    responses(
        (status = 200, description = "How many there were; 0 if there were none.", body = RemovedBody),
        (status = 403, description = "Only administrators remove rules."),
    )
)]
pub(crate) async fn category_of_vault(
    State(state): State<AppState>,
    path: VaultPath,
    Query(RemovedParams { category }): Query<RemovedParams>,
    caller: CallerOf,
) -> Response {
    remove_category_logged(&state, path.into(), &category, &caller).await
}

async fn remove_category_logged(
    state: &AppState,
    owner: ItemOwner,
    category: &Category,
    caller: &CallerOf,
) -> Response {
    let mut change = Change::new("removed");
    let removed = remove_category(state, owner, category, caller).await;
    if let Ok(Json(RemovedBody { removed })) = &removed {
        change.counts(*removed);
    }
    change.answer(removed)
}

async fn remove_category(
    state: &AppState,
    owner: ItemOwner,
    category: &Category,
    caller: &CallerOf,
) -> Result<Json<RemovedBody>, Problem> {
    require_role(caller, category)?;
    let removed = state.storage.remove_items(&owner, category).await?;
    Ok(Json(RemovedBody { removed }))
}
