//! Prompt items: parts of a system prompt that clients own.

use crate::domain::document::is_blank;
use crate::domain::ids::{ActorId, Category, ItemId, MemoryId};
use chrono::{DateTime, Datelike as _, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Maximum size of an item's metadata as compact JSON, in bytes.
pub const MAX_METADATA_BYTES: usize = 8_192;

/// Limits for the items of one memory, or of one vault: a prompt is assembled in memory, and a model reads all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemLimits {
    /// Maximum size of one item's content, in bytes.
    pub item_bytes: usize,
    /// Maximum number of items.
    pub max_items: usize,
    /// Maximum total size of all contents, in bytes.
    pub total_bytes: usize,
}

impl Default for ItemLimits {
    fn default() -> Self {
        Self {
            item_bytes: 64 << 10,
            max_items: 500,
            total_bytes: 1 << 20,
        }
    }
}

/// A stored item. It is immutable: it can only be added and removed. In JSON it does not tell what it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptItem {
    /// Its id.
    pub item_id: ItemId,
    /// The memory it belongs to; `None` for an item of the vault, which applies to all of its memories.
    #[serde(skip)]
    pub memory: Option<MemoryId>,
    /// Its category.
    pub category: Category,
    /// Its text.
    pub content: String,
    /// Free metadata of the client that owns it.
    pub metadata: Map<String, Value>,
    /// When it expires; `None` if it does not.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was added.
    pub created_at: DateTime<Utc>,
    /// Who added it.
    pub created_by: ActorId,
}

/// An item to be added.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewItem {
    /// Its text.
    pub content: String,
    /// Free metadata of the client that owns it.
    pub metadata: Map<String, Value>,
    /// When it expires; `None` if it does not.
    pub expires_at: Option<DateTime<Utc>>,
}

/// Why an item cannot be added; the message follows the name of the member.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct InvalidItem {
    /// The invalid member.
    pub field: &'static str,
    problem: String,
    /// How large it is and may be, in bytes, if it is too large.
    pub too_large: Option<(usize, usize)>,
}

/// Why items cannot be added to the existing ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{result}, at most {limit} are allowed; remove some")]
pub struct TooManyItems {
    /// The number of items, or the bytes of all contents, that there would be.
    result: String,
    /// How many there may be.
    pub limit: usize,
}

impl InvalidItem {
    fn too_large(field: &'static str, bytes: usize, limit: usize) -> Self {
        Self {
            field,
            problem: format!("has {bytes} bytes, at most {limit} are accepted"),
            too_large: Some((bytes, limit)),
        }
    }
}

impl NewItem {
    /// Checks a single item.
    ///
    /// # Errors
    ///
    /// The first problem found.
    pub fn check(&self, limits: &ItemLimits, now: DateTime<Utc>) -> Result<(), InvalidItem> {
        const NUL: &str = "contains a NUL character; remove it";
        let content = self.content.len();
        let metadata = Value::Object(self.metadata.clone());
        let bytes = metadata.to_string().len();
        if content > limits.item_bytes {
            return Err(InvalidItem::too_large("content", content, limits.item_bytes));
        } else if bytes > MAX_METADATA_BYTES {
            return Err(InvalidItem::too_large("metadata", bytes, MAX_METADATA_BYTES));
        }
        let (field, problem) = if is_blank(&self.content) {
            ("content", "is empty or blank; it must contain text")
        } else if self.content.contains('\0') {
            ("content", NUL)
        } else if holds_nul(&metadata) {
            ("metadata", NUL)
        } else if self.expires_at.is_some_and(|time| time <= now) {
            // It would expire before anybody saw it.
            ("expires_at", "must lie in the future")
        } else if self.expires_at.is_some_and(|time| time.year() > 9_999) {
            // RFC 3339 writes years of four digits.
            let problem = "must lie before the year 10000; leave it out for an item that stays";
            ("expires_at", problem)
        } else {
            return Ok(());
        };
        Err(InvalidItem {
            field,
            problem: problem.to_owned(),
            too_large: None,
        })
    }

    /// Whether a stored item is equal.
    #[must_use]
    pub fn is(&self, item: &PromptItem) -> bool {
        self.content == item.content && self.metadata == item.metadata && self.expires_at == item.expires_at
    }
}

impl ItemLimits {
    /// Checks the resulting total: the number of items and the bytes of their contents.
    ///
    /// # Errors
    ///
    /// The limit that would be exceeded.
    pub fn hold(&self, items: usize, bytes: usize) -> Result<(), TooManyItems> {
        let (result, limit) = if items > self.max_items {
            (format!("there would be {items} items here"), self.max_items)
        } else if bytes > self.total_bytes {
            (
                format!("the items here would have {bytes} bytes"),
                self.total_bytes,
            )
        } else {
            return Ok(());
        };
        Err(TooManyItems { result, limit })
    }
}

/// The recursion depth is bounded by the JSON parser.
fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(holds_nul),
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| name.contains('\0') || holds_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
