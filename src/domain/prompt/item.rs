//! Prompt items: parts of a system prompt that clients own.

use crate::domain::document::is_blank;
use crate::domain::ids::{ActorId, Category, ItemId, MemoryId};
use crate::domain::text::has_nul;
use chrono::{DateTime, Datelike as _, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Maximum size of an item's metadata as compact JSON, in bytes.
const MAX_METADATA_BYTES: usize = 8_192;

/// Maximum size of one item's content, in bytes.
pub const MAX_ITEM_BYTES: usize = 64 << 10;

/// Maximum number of items of one memory, or of one vault: a prompt is assembled in memory, and a model reads all of it.
const MAX_ITEMS: usize = 500;

/// Maximum total size of their contents, in bytes.
const MAX_TOTAL_BYTES: usize = 1 << 20;

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
    problem: &'static str,
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

impl NewItem {
    /// Checks a single item.
    ///
    /// # Errors
    ///
    /// The first problem found.
    pub fn check(&self, now: DateTime<Utc>) -> Result<(), InvalidItem> {
        const NUL: &str = "contains a NUL character; remove it";
        let content = self.content.len();
        let metadata = Value::Object(self.metadata.clone());
        let bytes = metadata.to_string().len();
        let expires_at = self.expiry();
        let mut too_large = None;
        let (field, problem) = if content > MAX_ITEM_BYTES {
            too_large = Some((content, MAX_ITEM_BYTES));
            ("content", "is too large")
        } else if bytes > MAX_METADATA_BYTES {
            too_large = Some((bytes, MAX_METADATA_BYTES));
            ("metadata", "is too large")
        } else if is_blank(&self.content) {
            ("content", "is empty or blank; it must contain text")
        } else if self.content.contains('\0') {
            ("content", NUL)
        } else if has_nul(&metadata) {
            ("metadata", NUL)
        } else if expires_at.is_some_and(|time| time <= now) {
            // It would expire before anybody saw it.
            ("expires_at", "must lie in the future")
        } else if expires_at.is_some_and(|time| time.year() > 9_999) {
            // RFC 3339 writes years of four digits.
            let problem = "must lie before the year 10000; leave it out for an item that stays";
            ("expires_at", problem)
        } else {
            return Ok(());
        };
        Err(InvalidItem {
            field,
            problem,
            too_large,
        })
    }

    /// When it expires, as the database stores it: in microseconds, and without leap seconds.
    #[must_use]
    pub fn expiry(&self) -> Option<DateTime<Utc>> {
        let stored = |time: DateTime<Utc>| DateTime::from_timestamp_micros(time.timestamp_micros());
        self.expires_at.and_then(stored)
    }

    /// Whether a stored item is equal.
    #[must_use]
    pub fn is(&self, item: &PromptItem) -> bool {
        self.content == item.content && self.metadata == item.metadata && self.expiry() == item.expires_at
    }
}

/// Checks the items that a memory, or a vault, would have: their number, and the bytes of their contents.
///
/// # Errors
///
/// The limit that would be exceeded.
pub fn check_total(items: usize, bytes: usize) -> Result<(), TooManyItems> {
    let (result, limit) = if items > MAX_ITEMS {
        (format!("there would be {items} items here"), MAX_ITEMS)
    } else if bytes > MAX_TOTAL_BYTES {
        (
            format!("the items here would have {bytes} bytes"),
            MAX_TOTAL_BYTES,
        )
    } else {
        return Ok(());
    };
    Err(TooManyItems { result, limit })
}
