//! `POST …/items`

use super::logged::Change;
use super::view::{ItemBody, ItemContent, check_category, check_item};
use crate::domain::ids::{ActorId, Category};
use crate::domain::prompt::{NewItem, PromptItem};
use crate::http::extract::actor::{Actor, ActorHeader};
use crate::http::extract::caller::CallerOf;
use crate::http::extract::claim::UnderClaim;
use crate::http::extract::exact::exact;
use crate::http::extract::json::JsonBody;
use crate::http::extract::path::{MemoryPath, VaultPath};
use crate::http::extract::query::{NoParams, Query};
use crate::http::json_answer::JsonAnswer;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::prompt_items::ItemOwner;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Map, Value};

/// An item to be added.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = NewPromptItem)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewItemBody {
    /// Its text: not blank, no NUL, at most `prompt.item_bytes` (65,536) bytes.
    #[schema(
        min_length = 1,
        pattern = r"^[^\u0000]*[^\s\u0000\ufeff][^\u0000]*$",
        required
    )]
    #[serde(default)]
    content: String,
    /// Its category: letters of any script, blanks and other visible characters but commas, with no blank at its ends;
    /// not the name of a part of the prompt that is made of the document. `rules`, `user_information`,
    /// `tool_guidance`, `workflow` and `datetime` have their own places in a prompt.
    #[schema(
        min_length = 1,
        max_length = 128,
        pattern = r"^[^\s,\u0000-\u001f]([^,\u0000-\u001f]*[^\s,\u0000-\u001f])?$",
        required
    )]
    #[serde(default)]
    category: String,
    /// Any JSON object of at most 8,192 bytes; empty if it is missing or null.
    #[schema(value_type = Option<std::collections::HashMap<String, Value>>)]
    #[serde(default, deserialize_with = "exact")]
    metadata: Option<Map<String, Value>>,
    /// From when on it is never shown, a time in the future; it stays if this is missing or null.
    #[serde(default)]
    expires_at: Option<DateTime<Utc>>,
}

/// Add an item to the prompts of a memory
///
/// Behind those of its category. The memory need not have a document. The category `rules` needs the role admin.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/items",
    operation_id = "AddItem",
    tag = "prompt",
    params(ActorHeader),
    request_body = NewItemBody,
    responses(
        (status = 201, description = "It was added.", body = ItemBody, headers(("Location" = String, description = "Of the item."))),
        (status = 403, description = "Only administrators write rules."),
        (status = 422, description = "The item is not valid, or there would be too many."),
    )
)]
pub(crate) async fn to_memory(
    State(state): State<AppState>,
    path: MemoryPath,
    Query(NoParams): Query<NoParams>,
    caller: CallerOf,
    Actor(actor): Actor,
    claim: UnderClaim,
    JsonBody(body): JsonBody<NewItemBody>,
) -> Response {
    add_logged(&state, path.into(), (&caller, &actor), claim, body).await
}

/// Add an item to the prompts of all memories of a vault
///
/// Behind those of its category. The category `rules` needs the role admin.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/items",
    operation_id = "AddVaultItem",
    tag = "prompt",
    params(ActorHeader),
    request_body = NewItemBody,
    responses(
        (status = 201, description = "It was added.", body = ItemBody, headers(("Location" = String, description = "Of the item."))),
        (status = 403, description = "Only administrators write rules."),
        (status = 422, description = "The item is not valid, or there would be too many."),
    )
)]
pub(crate) async fn to_vault(
    State(state): State<AppState>,
    path: VaultPath,
    Query(NoParams): Query<NoParams>,
    caller: CallerOf,
    Actor(actor): Actor,
    claim: UnderClaim,
    JsonBody(body): JsonBody<NewItemBody>,
) -> Response {
    add_logged(&state, path.into(), (&caller, &actor), claim, body).await
}

async fn add_logged(
    state: &AppState,
    owner: ItemOwner,
    by: (&CallerOf, &ActorId),
    claim: UnderClaim,
    body: NewItemBody,
) -> Response {
    let mut change = Change::new("added");
    let added = add(state, owner, by, claim, body, &mut change).await;
    change.answer(added)
}

async fn add(
    state: &AppState,
    owner: ItemOwner,
    (caller, actor): (&CallerOf, &ActorId),
    claim: UnderClaim,
    body: NewItemBody,
    change: &mut Change,
) -> Result<JsonAnswer, Problem> {
    let category: Category = body
        .category
        .parse()
        .map_err(|rule| Problem::invalid("category", format!("category {rule}")))?;
    check_category(caller, &category)?;
    let item = NewItem::from(ItemContent {
        content: body.content,
        metadata: body.metadata,
        expires_at: body.expires_at,
    });
    check_item(state, &item, "")?;
    let limits = &state.settings.items;
    let under = claim.answering(|item| answer(&owner, item));
    let item = state
        .storage
        .add_item(&owner, &category, item, actor, limits, under.as_ref())
        .await?;
    change.names(&item.item_id);
    Ok(answer(&owner, &item))
}

/// The response for an added item.
fn answer(owner: &ItemOwner, item: &PromptItem) -> JsonAnswer {
    let below = match &owner.memory {
        Some(memory) => format!("memories/{memory}/items"),
        None => "items".to_owned(),
    };
    let location = format!("/v1/vaults/{}/{below}/{}", owner.vault, item.item_id);
    let body = ItemBody::of(&owner.vault, item.clone());
    JsonAnswer::new(StatusCode::CREATED, &body).at(&location)
}
