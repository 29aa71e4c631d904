//! The responses of routes, as far as pages show them.

mod runs;
mod views;

pub(super) use runs::{Exchange, Outcome, Run};
pub(super) use views::{
    ArchivedTask, Dropped, Epic, Event, Found, Handoff, Prompt, Spent, StaleLine, Usage, UsageOfDay, Window,
};

use super::super::failure::Failure;
use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

/// One page of a list.
#[derive(Debug, Deserialize)]
pub(super) struct List<T> {
    pub(super) items: Vec<T>,
    pub(super) next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Vault {
    pub(super) vault_id: String,
    pub(super) memories: i64,
    pub(super) changed_at: DateTime<Utc>,
}

#[derive(Debug, Deserialize)]
pub(super) struct MemoryEntry {
    pub(super) memory_id: String,
    pub(super) version: i64,
    /// `None` if it has prompt items and no document.
    pub(super) context_id: Option<String>,
    pub(super) created_at: DateTime<Utc>,
    pub(super) changed_at: DateTime<Utc>,
    pub(super) bytes: i64,
    pub(super) last_actor_id: String,
    pub(super) last_source: Option<String>,
}

impl MemoryEntry {
    /// The entry, if it has a document; otherwise 404, like a route of documents.
    pub(super) fn with_document(self) -> Result<Self, Failure> {
        match self.context_id {
            Some(_) => Ok(self),
            None => Err(Failure::with_status(
                StatusCode::NOT_FOUND,
                "The memory has no document yet.",
            )),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Memory {
    #[serde(flatten)]
    pub(super) entry: MemoryEntry,
    pub(super) records: RecordCounts,
}

#[derive(Debug, Deserialize)]
pub(super) struct RecordCounts {
    pub(super) active: ByKind,
    pub(super) archived: ByKind,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) struct ByKind {
    pub(super) kl: i64,
    pub(super) vc: i64,
    pub(super) t: i64,
    pub(super) d: i64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Context {
    pub(super) context_id: String,
    pub(super) version: i64,
    pub(super) actor_id: String,
    pub(super) creation_time: DateTime<Utc>,
    pub(super) source: String,
    pub(super) bytes: i64,
    pub(super) estimated_tokens: i64,
    pub(super) percent_of_cap: f64,
    #[serde(default)]
    pub(super) context: String,
    #[serde(default)]
    pub(super) redacted: bool,
    pub(super) redaction_reason: Option<String>,
    pub(super) redacted_at: Option<DateTime<Utc>>,
    pub(super) redacted_by: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Record {
    pub(super) record_id: String,
    pub(super) kind: String,
    pub(super) status: String,
    pub(super) label: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) content: String,
    pub(super) created_version: i64,
    pub(super) created_at: DateTime<Utc>,
    pub(super) created_by: String,
    pub(super) ended_version: Option<i64>,
    pub(super) ended_at: Option<DateTime<Utc>>,
    pub(super) ended_by: Option<String>,
    pub(super) archive_reason: Option<String>,
    pub(super) superseded_by: Option<String>,
    #[serde(default)]
    pub(super) evidence: Vec<Evidence>,
    pub(super) task_id: Option<String>,
    pub(super) outcome: Option<Value>,
    #[serde(default)]
    pub(super) failed: bool,
    pub(super) epic: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Evidence {
    pub(super) from: String,
    pub(super) index: Option<i64>,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) quote: String,
}

impl Evidence {
    /// Its location, in words.
    pub(super) fn place(&self) -> String {
        match self.index {
            Some(index) => format!("message {index}, bytes {} to {}", self.start, self.end),
            None => format!("{}, bytes {} to {}", self.from, self.start, self.end),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct LogEntry {
    pub(super) version: i64,
    pub(super) log: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Diff {
    pub(super) diff: String,
    pub(super) records: RecordDiff,
    pub(super) progress_rewritten: bool,
    pub(super) sections_changed: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RecordDiff {
    pub(super) added: Vec<WrittenRecord>,
    pub(super) changed: Vec<ChangedRecord>,
    pub(super) archived: Vec<ArchivedRecord>,
}

impl RecordDiff {
    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.archived.is_empty()
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct WrittenRecord {
    pub(super) record_id: String,
    pub(super) label: Option<String>,
    pub(super) content: String,
}

impl WrittenRecord {
    pub(super) fn short(&self) -> String {
        short(self.label.as_deref().unwrap_or(&self.content))
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct ChangedRecord {
    pub(super) record_id: String,
    pub(super) after: WrittenRecord,
}

#[derive(Debug, Deserialize)]
pub(super) struct ArchivedRecord {
    pub(super) record_id: String,
    pub(super) reason: Option<String>,
    pub(super) superseded_by: Option<String>,
    pub(super) record: WrittenRecord,
}

#[derive(Debug, Deserialize)]
pub(super) struct Blame {
    pub(super) version: i64,
    pub(super) lines: Vec<BlameLine>,
}

#[derive(Debug, Deserialize)]
pub(super) struct BlameLine {
    pub(super) line: i64,
    pub(super) version: i64,
    pub(super) actor_id: Option<String>,
    pub(super) creation_time: Option<DateTime<Utc>>,
    pub(super) text: String,
}

/// The maximum size of a text in a list.
const SHORT_BYTES: usize = 300;

/// The beginning of a text.
pub(super) fn short(text: &str) -> String {
    if text.len() <= SHORT_BYTES {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(SHORT_BYTES)])
}

#[derive(Debug, Deserialize)]
pub(super) struct Key {
    pub(super) key_id: String,
    pub(super) name: String,
    pub(super) role: String,
    pub(super) vaults: Option<Vec<String>>,
    pub(super) vault_prefix: Option<String>,
    pub(super) speaks_for_others: bool,
    pub(super) active: bool,
    pub(super) created_by: String,
    pub(super) created_at: DateTime<Utc>,
    pub(super) rotated_at: Option<DateTime<Utc>>,
    pub(super) expires_at: Option<DateTime<Utc>>,
    pub(super) revoked_at: Option<DateTime<Utc>>,
    /// The secret, if the key was just created.
    pub(super) key: Option<String>,
}
