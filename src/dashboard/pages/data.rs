//! The responses of routes, as far as pages show them.

use crate::dashboard::failure::Failure;
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
    pub(super) last_source: Option<Source>,
}

/// What made a version, shown in words that follow “with”.
#[derive(Debug, Clone, Copy, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
pub(super) enum Source {
    #[strum(serialize = "a whole text")]
    Put,
    #[strum(serialize = "an update")]
    Update,
    #[strum(serialize = "operations")]
    Operations,
    #[strum(serialize = "a task")]
    Task,
    #[strum(serialize = "a decision")]
    Decision,
    #[strum(serialize = "a status")]
    Status,
    #[strum(serialize = "an older version")]
    Restore,
    #[strum(serialize = "an import")]
    Import,
    #[strum(serialize = "the memory tool")]
    Tool,
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
    pub(super) source: Source,
    pub(super) update_id: Option<String>,
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
    pub(super) index: Option<usize>,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) quote: String,
}

impl Evidence {
    /// The text that it quotes, in words.
    pub(super) fn place(&self) -> String {
        match self.index {
            Some(index) => format!("message {}", index + 1),
            None => "the task".to_owned(),
        }
    }

    /// The id of that text on the page of its run.
    pub(super) fn text_id(&self) -> String {
        match self.index {
            Some(index) => format!("message-{}", index + 1),
            None => "task".to_owned(),
        }
    }

    /// The id of the quoted passage there.
    pub(super) fn id(&self) -> String {
        format!("{}-at-{}", self.text_id(), self.start)
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

#[derive(Debug, Deserialize)]
pub(super) struct Window {
    pub(super) version: i64,
    pub(super) status: WindowStatus,
    pub(super) tasks: Vec<WindowTask>,
    pub(super) decisions: Vec<WindowDecision>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WindowStatus {
    pub(super) goal: Option<String>,
    pub(super) blocker: Option<String>,
    pub(super) updated: Option<DateTime<Utc>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WindowTask {
    pub(super) record_id: String,
    pub(super) time: Option<DateTime<Utc>>,
    pub(super) intent: String,
    pub(super) summary: String,
    pub(super) failed: bool,
    pub(super) epic: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WindowDecision {
    pub(super) record_id: String,
    pub(super) time: Option<DateTime<Utc>>,
    pub(super) decision: String,
    pub(super) reason: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ArchivedTask {
    pub(super) record_id: String,
    pub(super) time: DateTime<Utc>,
    pub(super) intent: String,
    pub(super) summary: String,
    pub(super) failed: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct Epic {
    pub(super) name: Option<String>,
    pub(super) tasks: i64,
    pub(super) first: DateTime<Utc>,
    pub(super) last: DateTime<Utc>,
    pub(super) latest: Vec<ArchivedTask>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Prompt {
    pub(super) text: String,
    pub(super) tokens: i64,
    pub(super) parts: Vec<PromptPart>,
    pub(super) dropped: Vec<Dropped>,
    pub(super) version: Option<i64>,
    pub(super) prefix_hash: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct PromptPart {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) tokens: i64,
    pub(super) items: Vec<String>,
    pub(super) records: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Dropped {
    pub(super) name: String,
    pub(super) whole: bool,
    pub(super) items: Vec<String>,
    pub(super) records: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Handoff {
    pub(super) generated_at: DateTime<Utc>,
    pub(super) generated_by: String,
    pub(super) window: String,
    pub(super) base_version: i64,
    pub(super) freshness: Freshness,
    pub(super) markdown: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Freshness {
    pub(super) status: String,
    pub(super) reasons: Vec<StaleReason>,
    pub(super) stale_lines: Vec<StaleLine>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StaleReason {
    pub(super) kind: String,
    pub(super) detail: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct StaleLine {
    pub(super) line: usize,
    pub(super) citation: String,
    pub(super) reason: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Found {
    pub(super) memory_id: String,
    pub(super) version: i64,
    pub(super) creation_time: DateTime<Utc>,
    pub(super) extract: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Usage {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) currency: String,
    pub(super) totals: Spent,
    pub(super) without_price: Vec<String>,
    pub(super) tokens_today: i64,
    pub(super) tokens_per_day: Option<i64>,
    pub(super) items: Vec<UsageOfDay>,
    pub(super) next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct UsageOfDay {
    pub(super) day: String,
    pub(super) model: String,
    #[serde(flatten)]
    pub(super) spent: Spent,
}

#[derive(Debug, Deserialize)]
pub(super) struct Spent {
    pub(super) runs: i64,
    pub(super) calls: i64,
    pub(super) failures: i64,
    pub(super) input_tokens: i64,
    pub(super) cached_tokens: i64,
    pub(super) output_tokens: i64,
    pub(super) millis: i64,
    pub(super) cost: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Event {
    pub(super) kind: String,
    pub(super) time: DateTime<Utc>,
    pub(super) memory_id: String,
    pub(super) version: Option<i64>,
    pub(super) actor: Option<String>,
    pub(super) update_id: Option<String>,
    pub(super) details: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Run {
    pub(super) update_id: String,
    pub(super) memory_id: String,
    pub(super) kind: String,
    pub(super) status: String,
    pub(super) actor_id: String,
    pub(super) created_at: DateTime<Utc>,
    pub(super) finished_at: Option<DateTime<Utc>>,
    pub(super) attempts: i64,
    pub(super) base_version: i64,
    pub(super) version: Option<i64>,
    pub(super) resolved_by: Option<String>,
    pub(super) request: Value,
    #[serde(default)]
    pub(super) exchanges: Option<Vec<Exchange>>,
    pub(super) outcome: Option<Outcome>,
}

impl Run {
    /// The colour of its status.
    pub(super) fn tone(&self) -> &'static str {
        match self.status.as_str() {
            "applied" | "approved" | "resolved" => "good",
            "failed" | "invalid" | "conflict" | "rejected" => "bad",
            "proposed" | "queued" | "running" => "warn",
            _ => "",
        }
    }

    /// Its task, shortened.
    pub(super) fn task(&self) -> String {
        let task = self.request.get("task").and_then(Value::as_str);
        task.map(short).unwrap_or_default()
    }

    /// Its duration in milliseconds.
    pub(super) fn millis(&self) -> Option<i64> {
        self.finished_at
            .map(|end| (end - self.created_at).num_milliseconds())
    }
}

/// The outcome of a run; an old or unfinished run has only some members.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outcome {
    pub(super) problem: Option<String>,
    pub(super) operations: Vec<Operation>,
    pub(super) rejected: Vec<Rejection>,
    pub(super) warnings: Vec<Rejection>,
    pub(super) diff: String,
    pub(super) log: String,
    pub(super) rebased: bool,
    pub(super) review: Option<Review>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Operation {
    pub(super) number: Option<u64>,
    pub(super) op: String,
    pub(super) id: Option<String>,
    pub(super) label: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) content: Option<String>,
    pub(super) superseded_by: Option<String>,
    #[serde(default)]
    pub(super) evidence: Vec<Evidence>,
}

impl Operation {
    /// What it does, in words.
    pub(super) fn verb(&self) -> &str {
        match self.op.as_str() {
            "add" => "+ add",
            "archive" => "− archive",
            "rewrite_progress" => "~ rewrite Current Progress",
            "rewrite_status" => "~ rewrite Active Context",
            other => other,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Rejection {
    pub(super) section: Option<String>,
    pub(super) kind: String,
    pub(super) detail: String,
    #[serde(default)]
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Review {
    pub(super) decision: String,
    pub(super) by: String,
    pub(super) at: DateTime<Utc>,
    pub(super) comment: Option<String>,
    pub(super) reason: Option<String>,
}

/// A prompt and answer of a model.
#[derive(Debug, Deserialize)]
pub(super) struct Exchange {
    pub(super) section: Option<String>,
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) system: String,
    #[serde(default)]
    pub(super) messages: Vec<Turn>,
    pub(super) answer: Option<String>,
    #[serde(default)]
    pub(super) stopped_at_limit: bool,
    pub(super) error: Option<String>,
    pub(super) attempts: Option<i64>,
    pub(super) input_tokens: Option<i64>,
    pub(super) cached_tokens: Option<i64>,
    pub(super) output_tokens: Option<i64>,
    pub(super) millis: Option<i64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Turn {
    pub(super) role: String,
    pub(super) content: String,
}
