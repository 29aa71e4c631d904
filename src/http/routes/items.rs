//! `…/items` of a memory and of a vault: `table` serves and describes these routes for both.

use crate::domain::access::AccessRole;
use crate::domain::ids::{Category, VaultId};
use crate::domain::prompt::{MAX_ITEM_BYTES, NewItem, PromptItem, RULES, check_writable};
use crate::http::extract::body::{self, JsonBody, Limit, Object, exact, parse, parse_list};
use crate::http::extract::caller::{Actor, ActorHeader, CallerOf, UnderClaim};
use crate::http::extract::headers::Representation;
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{ItemPath, Query, parsed};
use crate::http::middleware::standard::Detail;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::idempotency::KeptAnswer;
use crate::storage::prompt_items::{ItemFilter, ItemKey, ItemOwner, Replaced};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, SubsecRound, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which items to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ItemParams {
    /// Only this category.
    category: Option<Category>,
}

/// List the items of a memory
///
/// Its own, by category and then as they were added, without those that have expired: those of a vault belong to all of
/// its memories and are listed there. Where nothing was put there are none.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/items",
    params(ItemParams, Page),
    responses((status = 200, description = "One page.", body = List<ItemBody>))
)]
pub(crate) async fn list_items(
    State(state): State<AppState>,
    ItemPath { owner, .. }: ItemPath,
    Query(ItemParams { category }): Query<ItemParams>,
    page: Page,
) -> Result<Json<List<ItemBody>>, Problem> {
    let after = page.after::<ItemKey>()?;
    let items = state
        .storage
        .list_items(&owner, category.as_ref(), after.as_ref(), page.fetch())
        .await?;
    let show = |item| ItemBody::of(&owner.vault, item);
    Ok(Json(page.of(items, ItemKey::of, show)))
}

/// Read an item of a memory
///
/// By its item_id.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/items/{item}",
    responses(
        (status = 200, description = "The item.", body = ItemBody),
        (status = 404, description = "There is no such item, or it has expired."),
    )
)]
pub(crate) async fn get_item(
    State(state): State<AppState>,
    ItemPath { owner, item }: ItemPath,
) -> Result<Json<ItemBody>, Problem> {
    let item_id = parsed("item_id", &item)?;
    let item = state.storage.item(&owner, &item_id).await?.ok_or_else(missing)?;
    Ok(Json(ItemBody::of(&owner.vault, item)))
}

/// An item to be added.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPromptItem {
    /// Its text: not blank, no NUL, at most 65,536 bytes.
    #[schema(value_type = ItemText, required)]
    #[serde(default)]
    content: String,
    /// Its category: not the name of a part of the prompt that is made of the document. `rules`, `user_information`,
    /// `tool_guidance`, `workflow` and `datetime` have their own places in a prompt.
    #[schema(value_type = Category, required)]
    #[serde(default)]
    category: String,
    /// Any JSON object of at most 8,192 bytes; empty if it is missing or null. A number with more digits than a double or a
    /// 64-bit integer keeps is 422: send it as a string.
    #[serde(default, deserialize_with = "exact")]
    metadata: Option<Map<String, Value>>,
    /// From when on it is never shown, a time in the future; it stays if this is missing or null.
    expires_at: Option<DateTime<Utc>>,
}

/// Add an item to the prompts of a memory
///
/// Behind those of its category; nothing else has to be there. The category `rules` needs the role admin.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/items",
    params(ActorHeader),
    request_body = NewPromptItem,
    responses(
        (status = 201, description = "It was added.", body = ItemBody, headers(("Location"))),
        (status = 403, description = "Only administrators write rules."),
        (status = 422, description = "The item is not valid, or there would be too many."),
    )
)]
pub(crate) async fn add_item(
    State(state): State<AppState>,
    ItemPath { owner, .. }: ItemPath,
    caller: CallerOf,
    Actor(actor): Actor,
    claim: UnderClaim,
    JsonBody(body): JsonBody<NewPromptItem>,
) -> Response {
    let added = async {
        let category: Category = parsed("category", &body.category)?;
        check_category(&caller, &category)?;
        let item = NewItem::from(ItemOfCategory {
            content: body.content,
            metadata: body.metadata,
            expires_at: body.expires_at,
        });
        check_item(&state, &item, "")?;
        let under = claim.answering(|item| added_answer(&owner, item));
        let item = state
            .storage
            .add_item(&owner, &category, item, &actor, under.as_ref())
            .await?;
        Ok((added_answer(&owner, &item), ids(&[item])))
    };
    logged("added", added.await)
}

/// The response for an added item.
fn added_answer(owner: &ItemOwner, item: &PromptItem) -> KeptAnswer {
    let below = match &owner.memory {
        Some(memory) => format!("memories/{memory}/items"),
        None => "items".to_owned(),
    };
    let location = format!("/v1/vaults/{}/{below}/{}", owner.vault, item.item_id);
    let body = ItemBody::of(&owner.vault, item.clone());
    KeptAnswer::json(StatusCode::CREATED, &body).with(LOCATION, location)
}

/// The text of an item: not blank, no NUL, at most 65,536 bytes.
#[derive(utoipa::ToSchema)]
#[schema(min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000\ufeff][^\u0000]*$")]
#[expect(dead_code, reason = "documents the request body")]
pub(crate) struct ItemText(String);

/// The items of a category, in their order.
#[derive(utoipa::ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documents the request body")]
pub(crate) enum CategoryItems {
    /// Named.
    Named(CategoryObject),
    /// The list alone.
    List(Vec<ItemOfCategory>),
}

/// The items of a category, in their order.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CategoryObject {
    /// None removes all that are there.
    #[schema(value_type = Vec<ItemOfCategory>)]
    items: Vec<Object<ItemOfCategory>>,
}

/// The items of a category.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ReplacedItems {
    /// In their order.
    items: Vec<ItemBody>,
    /// Whether they were these already, so that nothing was written and they keep their ids.
    unchanged: bool,
}

/// Replace a category of a memory's items
///
/// All at once: nobody sees the category without the old or the new items. The place in the path holds the category;
/// nothing else has to be there. `rules` need the role admin.
#[utoipa::path(
    put,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/items/{item}",
    params(ActorHeader),
    request_body(
        description = "The items in their order; as text one item, at most 65,536 bytes.",
        content((CategoryItems = "application/json"), (ItemText = "text/plain"))
    ),
    responses(
        (status = 200, description = "The items of the category as they are now.", body = ReplacedItems),
        (status = 403, description = "Only administrators write rules."),
        (status = 422, description = "An item is not valid, or there would be too many; nothing was changed."),
    )
)]
pub(crate) async fn put_items(
    State(state): State<AppState>,
    ItemPath { owner, item }: ItemPath,
    caller: CallerOf,
    Actor(actor): Actor,
    claim: UnderClaim,
    request: Request,
) -> Response {
    let replaced = async {
        let category = parsed("category", &item)?;
        check_category(&caller, &category)?;
        let items = read_items(&state, request).await?;
        let under = claim.answering(|replaced| replaced_answer(&owner, replaced));
        let replaced = state
            .storage
            .replace_items(&owner, &category, items, &actor, under.as_ref())
            .await?;
        Ok((replaced_answer(&owner, &replaced), ids(&replaced.items)))
    };
    logged("replaced", replaced.await)
}

fn replaced_answer(owner: &ItemOwner, replaced: &Replaced) -> KeptAnswer {
    let items = replaced.items.iter().cloned();
    let body = ReplacedItems {
        items: items.map(|item| ItemBody::of(&owner.vault, item)).collect(),
        unchanged: replaced.unchanged,
    };
    KeptAnswer::json(StatusCode::OK, &body)
}

/// The limit of an item's content, for problems: no setting raises it.
const OF_AN_ITEM: &str = "a fixed limit";

async fn read_items(state: &AppState, request: Request) -> Result<Vec<NewItem>, Problem> {
    let of_text = Limit {
        name: OF_AN_ITEM,
        bytes: MAX_ITEM_BYTES,
    };
    let accepted = [
        (Representation::Json, Limit::of_bodies(&state.settings)),
        (Representation::Plain, of_text),
    ];
    let (media_type, text) = body::read_text(state, request, &accepted).await?;
    if media_type != Representation::Json {
        let item = NewItem {
            content: text,
            ..NewItem::default()
        };
        check_item(state, &item, "")?;
        return Ok(vec![item]);
    }
    let is_list = text.trim_start().starts_with('[');
    let items: Vec<ItemOfCategory> = if is_list {
        parse_list(&text)?
    } else {
        let CategoryObject { items } = parse(&text)?;
        items.into_iter().map(|Object(item)| item).collect()
    };
    let within = if is_list { "" } else { "items" };
    let items: Vec<NewItem> = items.into_iter().map(NewItem::from).collect();
    for (place, item) in items.iter().enumerate() {
        check_item(state, item, &format!("{within}[{place}]."))?;
    }
    Ok(items)
}

/// Remove an item of a memory
///
/// By its item_id. The category `rules` needs the role admin.
#[utoipa::path(
    delete,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/items/{item}",
    responses(
        (status = 204, description = "It is gone."),
        (status = 403, description = "Only administrators remove rules."),
        (status = 404, description = "There is no such item, or it has expired."),
    )
)]
pub(crate) async fn remove_item(
    State(state): State<AppState>,
    ItemPath { owner, item }: ItemPath,
    caller: CallerOf,
) -> Response {
    let removed = async {
        let entry = parsed("item_id", &item)?;
        // An item never changes its category, so the check is still valid when it is deleted.
        let item = state.storage.item(&owner, &entry).await?.ok_or_else(missing)?;
        require_role(&caller, &item.category)?;
        let this = ItemFilter {
            id: Some(&entry),
            ..ItemFilter::default()
        };
        match state.storage.remove_items(&owner, this).await? {
            0 => Err(missing()),
            _ => Ok((StatusCode::NO_CONTENT, ids(&[item]))),
        }
    };
    logged("removed", removed.await)
}

/// Which items to remove.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemovedParams {
    /// All items of this category.
    category: Category,
}

/// What was removed.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RemovedItems {
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
    params(RemovedParams),
    responses(
        (status = 200, description = "How many there were; 0 if there were none.", body = RemovedItems),
        (status = 403, description = "Only administrators remove rules."),
    )
)]
pub(crate) async fn remove_items(
    State(state): State<AppState>,
    ItemPath { owner, .. }: ItemPath,
    Query(RemovedParams { category }): Query<RemovedParams>,
    caller: CallerOf,
) -> Response {
    let removed = async {
        require_role(&caller, &category)?;
        let these = ItemFilter {
            category: Some(&category),
            ..ItemFilter::default()
        };
        let removed = state.storage.remove_items(&owner, these).await?;
        Ok((Json(RemovedItems { removed }), format!(": {removed}")))
    };
    logged("removed", removed.await)
}

/// A part of a system prompt that a component owns.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = PromptItem)]
pub(crate) struct ItemBody {
    /// Its id, made by the service.
    item_id: String,
    /// The vault.
    vault_id: String,
    /// The memory; null for an item of the vault, which belongs to all of its memories.
    memory_id: Option<String>,
    /// Its category.
    category: String,
    /// Its text.
    content: String,
    /// What its component keeps with it.
    metadata: Map<String, Value>,
    /// From when on it is never shown; null if it stays.
    expires_at: Option<DateTime<Utc>>,
    /// When it was added.
    created_at: DateTime<Utc>,
    /// Who added it.
    created_by: String,
}

impl ItemBody {
    fn of(vault: &VaultId, item: PromptItem) -> Self {
        Self {
            item_id: item.item_id.to_string(),
            vault_id: vault.to_string(),
            memory_id: item.memory.map(|memory| memory.to_string()),
            category: item.category.to_string(),
            content: item.content,
            metadata: item.metadata,
            expires_at: item.expires_at,
            created_at: item.created_at,
            created_by: item.created_by.to_string(),
        }
    }
}

/// An item of a category that is named elsewhere.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemOfCategory {
    /// Its text: not blank, no NUL, at most 65,536 bytes.
    #[schema(value_type = ItemText, required)]
    #[serde(default)]
    content: String,
    /// Any JSON object of at most 8,192 bytes; empty if it is missing or null.
    #[serde(default, deserialize_with = "exact")]
    metadata: Option<Map<String, Value>>,
    /// From when on it is never shown, a time in the future; it stays if this is missing or null.
    expires_at: Option<DateTime<Utc>>,
}

impl From<ItemOfCategory> for NewItem {
    fn from(item: ItemOfCategory) -> Self {
        Self {
            content: item.content,
            metadata: item.metadata.unwrap_or_default(),
            // With the precision of the database, so that repeating the PUT changes nothing.
            expires_at: item.expires_at.map(|time| time.trunc_subsecs(6)),
        }
    }
}

/// Requires the role `admin` for changes to the rules.
///
/// # Errors
/// 403 for any other role.
fn require_role(caller: &CallerOf, category: &Category) -> Result<(), Problem> {
    if category.as_str() == RULES {
        caller.require(AccessRole::Admin, "items of the category rules are written")
    } else {
        Ok(())
    }
}

/// Checks that the category is valid and that the caller may write to it.
///
/// # Errors
/// 403 and 422.
fn check_category(caller: &CallerOf, category: &Category) -> Result<(), Problem> {
    check_writable(category)
        .map_err(|reserved| Problem::invalid("category", format!("category: {reserved}")))?;
    require_role(caller, category)
}

/// Validates a new item. `within` is the prefix of its members' names in problems, for example `items[0].`.
///
/// # Errors
/// 413 and 422.
fn check_item(state: &AppState, item: &NewItem, within: &str) -> Result<(), Problem> {
    item.check(state.clock.now()).map_err(|invalid| {
        let field = format!("{within}{}", invalid.field);
        match invalid.too_large {
            Some((bytes, limit)) => {
                let name = match invalid.field {
                    "content" => OF_AN_ITEM,
                    _ => "as compact JSON",
                };
                Problem::too_large(&field, name, limit, Some(bytes as u64))
            }
            None => Problem::invalid(&field, format!("{field} {invalid}")),
        }
    })
}

/// 404 for an item that does not exist.
fn missing() -> Problem {
    Problem::not_found("there is no such item; a list with ?category= shows those of a category")
        .with("field", "item_id")
}

/// The maximum number of ids in a log line.
const NAMED: usize = 20;

/// The response to a change of items, with what the request's log line says of it: what was done, and the ids or the number;
/// never the category or the content, which are texts of a body.
fn logged(done: &str, change: Result<(impl IntoResponse, String), Problem>) -> Response {
    let (mut response, words) = match change {
        Ok((response, items)) => (response.into_response(), format!("items {done}{items}")),
        Err(problem) => (problem.into_response(), "items refused".to_owned()),
    };
    response.extensions_mut().insert(Detail(words.into()));
    response
}

/// The ids of items, for a log line.
fn ids(items: &[PromptItem]) -> String {
    let ids: Vec<&str> = items
        .iter()
        .take(NAMED)
        .map(|item| item.item_id.as_str())
        .collect();
    match items.len() {
        0 => String::new(),
        1..=NAMED => format!(": {}", ids.join(" ")),
        count => format!(": {} and {} more", ids.join(" "), count - NAMED),
    }
}
