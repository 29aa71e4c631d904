//! `GET …/items` and `GET …/items/{item_id}`

use super::view::{ItemBody, below_memory, below_vault, missing};
use crate::domain::ids::{Category, ItemId};
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::{EntryPath, MemoryPath, VaultEntryPath, VaultPath};
use crate::http::extract::query::{FromQuery, NoParams, Query, QueryReader};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::prompt_items::{ItemKey, ItemOwner};
use axum::Json;
use axum::extract::State;

/// Which items to list.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ItemParams {
    /// Only this category.
    #[param(value_type = Option<String>, min_length = 1, max_length = 128)]
    category: Option<Category>,
}

impl FromQuery for ItemParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            category: query.parse("category")?,
        })
    }
}

/// List the items of a memory
///
/// Its own, by category and then as they were added, without those that have expired; those of the vault are listed
/// there. A memory that nothing was put into has none.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/items",
    operation_id = "ListItems",
    tag = "prompt",
    params(ItemParams, Page),
    responses((status = 200, description = "One page.", body = List<ItemBody>))
)]
pub(crate) async fn list_of_memory(
    State(state): State<AppState>,
    path: MemoryPath,
    Query((params, page)): Query<(ItemParams, Page)>,
) -> Result<Json<List<ItemBody>>, Problem> {
    Ok(Json(list(&state, &path.into(), params, &page).await?))
}

/// List the items of a vault
///
/// Those that belong to all of its memories, by category and then as they were added, without those that have
/// expired. A vault that nothing was put into has none.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/items",
    operation_id = "ListVaultItems",
    tag = "prompt",
    params(ItemParams, Page),
    responses((status = 200, description = "One page.", body = List<ItemBody>))
)]
pub(crate) async fn list_of_vault(
    State(state): State<AppState>,
    path: VaultPath,
    Query((params, page)): Query<(ItemParams, Page)>,
) -> Result<Json<List<ItemBody>>, Problem> {
    Ok(Json(list(&state, &path.into(), params, &page).await?))
}

async fn list(
    state: &AppState,
    owner: &ItemOwner,
    ItemParams { category }: ItemParams,
    page: &Page,
) -> Result<List<ItemBody>, Problem> {
    let chosen = category.as_ref().map_or("", Category::as_str);
    let memory = owner.memory.as_ref().map_or("", |memory| memory.as_str());
    let name = format!("items/{}/{memory}/{chosen}", owner.vault);
    let after = page.after::<ItemKey>(&name)?;
    let items = state
        .storage
        .list_items(owner, category.as_ref(), after.as_ref(), page.fetch())
        .await?;
    Ok(page.of(&name, items, ItemKey::of, |item| ItemBody::of(&owner.vault, item)))
}

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
pub(crate) async fn get_of_memory(
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
pub(crate) async fn get_of_vault(
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
