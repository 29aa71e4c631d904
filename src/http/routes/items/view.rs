//! The representation of an item in requests and responses, for both levels.

use crate::domain::access::AccessRole;
use crate::domain::ids::{Category, VaultId};
use crate::domain::prompt::{InvalidItem, NewItem, PromptItem, RULES, check_writable};
use crate::http::extract::caller::CallerOf;
use crate::http::extract::exact::exact;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::prompt_items::AddItemsError;
use chrono::{DateTime, SubsecRound, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A part of a system prompt that a component owns.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = PromptItem)]
pub(crate) struct ItemBody {
    /// Its id, made by the service.
    item_id: String,
    /// The vault.
    vault_id: String,
    /// The memory; null for an item of the vault, which belongs to all of its memories.
    #[schema(required)]
    memory_id: Option<String>,
    /// Its category.
    category: String,
    /// Its text.
    content: String,
    /// What its component keeps with it.
    #[schema(value_type = std::collections::HashMap<String, Value>)]
    metadata: Map<String, Value>,
    /// From when on it is never shown; null if it stays.
    #[schema(required)]
    expires_at: Option<DateTime<Utc>>,
    /// When it was added.
    created_at: DateTime<Utc>,
    /// Who added it.
    created_by: String,
}

impl ItemBody {
    pub(super) fn of(vault: &VaultId, item: PromptItem) -> Self {
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
#[schema(as = ItemOfCategory)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemContent {
    /// Its text: not blank, no NUL, at most 65,536 bytes.
    #[schema(
        min_length = 1,
        pattern = r"^[^\u0000]*[^\s\u0000\ufeff][^\u0000]*$",
        required
    )]
    #[serde(default)]
    pub(super) content: String,
    /// Any JSON object of at most 8,192 bytes; empty if it is missing or null.
    #[schema(value_type = Option<std::collections::HashMap<String, Value>>)]
    #[serde(default, deserialize_with = "exact")]
    pub(super) metadata: Option<Map<String, Value>>,
    /// From when on it is never shown, a time in the future; it stays if this is missing or null.
    #[serde(default)]
    pub(super) expires_at: Option<DateTime<Utc>>,
}

impl From<ItemContent> for NewItem {
    fn from(item: ItemContent) -> Self {
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
pub(super) fn require_role(caller: &CallerOf, category: &Category) -> Result<(), Problem> {
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
pub(super) fn check_category(caller: &CallerOf, category: &Category) -> Result<(), Problem> {
    check_writable(category)
        .map_err(|reserved| Problem::invalid("category", format!("category: {reserved}")))?;
    require_role(caller, category)
}

/// Validates a new item. `within` is the prefix of its members' names in problems, for example `items[0].`.
///
/// # Errors
/// 413 and 422.
pub(super) fn check_item(state: &AppState, item: &NewItem, within: &str) -> Result<(), Problem> {
    item.check(&state.settings.items, state.clock.now())
        .map_err(|invalid| {
            let field = format!("{within}{}", invalid.field());
            match invalid {
                InvalidItem::TooLarge { bytes, limit, .. } => {
                    let name = match invalid.field() {
                        "content" => "prompt.item_bytes",
                        _ => "as compact JSON",
                    };
                    Problem::too_large(&field, name, limit, Some(bytes as u64))
                }
                InvalidItem::Blank | InvalidItem::Nul { .. } | InvalidItem::Past | InvalidItem::TooFar => {
                    Problem::invalid(&field, format!("{field} {invalid}"))
                }
            }
        })
}

/// 404 for an item that does not exist.
pub(super) fn missing() -> Problem {
    Problem::not_found("there is no such item; a list with ?category= shows those of a category")
        .with("field", "item_id")
}

impl From<AddItemsError> for Problem {
    fn from(error: AddItemsError) -> Self {
        match error {
            AddItemsError::TooMany(too_many) => {
                let limit = match too_many {
                    crate::domain::prompt::TooManyItems::Items { limit, .. }
                    | crate::domain::prompt::TooManyItems::Bytes { limit, .. } => limit,
                };
                Self::invalid("items", too_many.to_string()).with("limit", limit)
            }
            AddItemsError::Storage(error) => error.into(),
        }
    }
}
