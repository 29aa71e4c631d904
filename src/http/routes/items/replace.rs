//! `PUT …/items/{category}`

use super::logged::Change;
use super::view::{ItemBody, ItemContent, below_memory, below_vault, check_category, check_item};
use crate::domain::ids::{ActorId, Category};
use crate::domain::prompt::NewItem;
use crate::http::extract::actor::{Actor, ActorHeader};
use crate::http::extract::body::{self, Limit};
use crate::http::extract::caller::CallerOf;
use crate::http::extract::claim::UnderClaim;
use crate::http::extract::json::{Object, parse, parse_list};
use crate::http::extract::media_type::{self, MediaType};
use crate::http::extract::path::{EntryPath, VaultEntryPath};
use crate::http::extract::query::{NoParams, Query};
use crate::http::json_answer::JsonAnswer;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::prompt_items::{ItemOwner, Replaced};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};

/// The text of the only item of a category.
#[derive(utoipa::ToSchema)]
#[schema(as = ItemText, min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000\ufeff][^\u0000]*$")]
#[expect(dead_code, reason = "documents the request body")]
pub(crate) struct ItemText(String);

/// The items of a category, in their order.
#[derive(utoipa::ToSchema)]
#[schema(as = CategoryItems)]
#[serde(untagged)]
#[expect(dead_code, reason = "documents the request body")]
pub(crate) enum CategoryBody {
    /// Named.
    Named(CategoryObject),
    /// The list alone.
    List(Vec<ItemContent>),
}

/// The items of a category, in their order.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = CategoryObject)]
#[serde(deny_unknown_fields)]
pub(crate) struct CategoryObject {
    /// None removes all that are there.
    #[schema(value_type = Vec<ItemContent>)]
    items: Vec<Object<ItemContent>>,
}

/// The items of a category.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = ReplacedItems)]
pub(crate) struct ReplacedBody {
    /// In their order.
    items: Vec<ItemBody>,
    /// Whether they were these already, so that nothing was written and they keep their ids.
    unchanged: bool,
}

/// Replace a category of a memory's items
///
/// All at once: nobody sees the category without the old or the new items. The place in the path holds the category.
/// The memory need not have a document. `rules` need the role admin.
#[utoipa::path(
    put,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/items/{item}",
    operation_id = "PutItems",
    tag = "prompt",
    params(ActorHeader),
    request_body(
        description = "The items in their order; as text one item, at most `prompt.item_bytes` (65,536) bytes.",
        content((CategoryBody = "application/json"), (ItemText = "text/plain"))
    ),
    responses(
        (status = 200, description = "The items of the category as they are now.", body = ReplacedBody),
        (status = 403, description = "Only administrators write rules."),
        (status = 422, description = "An item is not valid, or there would be too many; nothing was changed."),
    )
)]
pub(crate) async fn of_memory(
    State(state): State<AppState>,
    path: EntryPath<Category>,
    Query(NoParams): Query<NoParams>,
    caller: CallerOf,
    Actor(actor): Actor,
    claim: UnderClaim,
    request: Request,
) -> Response {
    replace_logged(&state, below_memory(path), (&caller, &actor), claim, request).await
}

/// Replace a category of a vault's items
///
/// All at once: nobody sees the category without the old or the new items. The place in the path holds the category.
/// `rules` need the role admin.
#[utoipa::path(
    put,
    path = "/v1/vaults/{vault_id}/items/{item}",
    operation_id = "PutVaultItems",
    tag = "prompt",
    params(ActorHeader),
    request_body(
        description = "The items in their order; as text one item, at most `prompt.item_bytes` (65,536) bytes.",
        content((CategoryBody = "application/json"), (ItemText = "text/plain"))
    ),
    responses(
        (status = 200, description = "The items of the category as they are now.", body = ReplacedBody),
        (status = 403, description = "Only administrators write rules."),
        (status = 422, description = "An item is not valid, or there would be too many; nothing was changed."),
    )
)]
pub(crate) async fn of_vault(
    State(state): State<AppState>,
    path: VaultEntryPath<Category>,
    Query(NoParams): Query<NoParams>,
    caller: CallerOf,
    Actor(actor): Actor,
    claim: UnderClaim,
    request: Request,
) -> Response {
    replace_logged(&state, below_vault(path), (&caller, &actor), claim, request).await
}

async fn replace_logged(
    state: &AppState,
    of: (ItemOwner, Category),
    by: (&CallerOf, &ActorId),
    claim: UnderClaim,
    request: Request,
) -> Response {
    let mut change = Change::new("replaced");
    let replaced = replace(state, of, by, claim, request, &mut change).await;
    change.answer(replaced)
}

async fn replace(
    state: &AppState,
    (owner, category): (ItemOwner, Category),
    (caller, actor): (&CallerOf, &ActorId),
    claim: UnderClaim,
    request: Request,
    change: &mut Change,
) -> Result<JsonAnswer, Problem> {
    check_category(caller, &category)?;
    let items = read_items(state, request).await?;
    let limits = &state.settings.items;
    let under = claim.answering(|replaced| answer(&owner, replaced));
    let replaced = state
        .storage
        .replace_items(&owner, &category, items, actor, limits, under.as_ref())
        .await?;
    for item in &replaced.items {
        change.names(&item.item_id);
    }
    Ok(answer(&owner, &replaced))
}

fn answer(owner: &ItemOwner, replaced: &Replaced) -> JsonAnswer {
    let items = replaced.items.iter().cloned();
    let body = ReplacedBody {
        items: items.map(|item| ItemBody::of(&owner.vault, item)).collect(),
        unchanged: replaced.unchanged,
    };
    JsonAnswer::new(StatusCode::OK, &body)
}

async fn read_items(state: &AppState, request: Request) -> Result<Vec<NewItem>, Problem> {
    let (parts, body) = request.into_parts();
    let media_type = media_type::of_body(&parts.headers, &[MediaType::Json, MediaType::Plain])?;
    let limit = match media_type {
        MediaType::Json => Limit {
            name: "limits.body_bytes",
            bytes: state.settings.body_bytes,
        },
        MediaType::Plain | MediaType::Markdown => Limit {
            name: "prompt.item_bytes",
            bytes: state.settings.items.item_bytes,
        },
    };
    let text = body::text(body::read(&parts.headers, body, limit, state.settings.body_timeout).await?)?;
    if media_type != MediaType::Json {
        let item = NewItem {
            content: text,
            ..NewItem::default()
        };
        check_item(state, &item, "")?;
        return Ok(vec![item]);
    }
    let is_list = text.trim_start().starts_with('[');
    let items: Vec<ItemContent> = if is_list {
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
