//! Derived views of a memory and its vault: window, prompt, handoff, search, usage, events.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Window {
    pub(in crate::dashboard::pages) version: i64,
    pub(in crate::dashboard::pages) status: WindowStatus,
    pub(in crate::dashboard::pages) tasks: Vec<WindowTask>,
    pub(in crate::dashboard::pages) decisions: Vec<WindowDecision>,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct WindowStatus {
    pub(in crate::dashboard::pages) goal: Option<String>,
    pub(in crate::dashboard::pages) blocker: Option<String>,
    pub(in crate::dashboard::pages) updated: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct WindowTask {
    pub(in crate::dashboard::pages) record_id: String,
    pub(in crate::dashboard::pages) time: Option<String>,
    pub(in crate::dashboard::pages) intent: String,
    pub(in crate::dashboard::pages) summary: String,
    pub(in crate::dashboard::pages) failed: bool,
    pub(in crate::dashboard::pages) epic: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct WindowDecision {
    pub(in crate::dashboard::pages) record_id: String,
    pub(in crate::dashboard::pages) time: Option<String>,
    pub(in crate::dashboard::pages) decision: String,
    pub(in crate::dashboard::pages) reason: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct ArchivedTask {
    pub(in crate::dashboard::pages) record_id: String,
    pub(in crate::dashboard::pages) time: String,
    pub(in crate::dashboard::pages) intent: String,
    pub(in crate::dashboard::pages) summary: String,
    pub(in crate::dashboard::pages) failed: bool,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Epic {
    pub(in crate::dashboard::pages) name: Option<String>,
    pub(in crate::dashboard::pages) tasks: i64,
    pub(in crate::dashboard::pages) first: String,
    pub(in crate::dashboard::pages) last: String,
    pub(in crate::dashboard::pages) latest: Vec<ArchivedTask>,
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::dashboard::pages) struct Prompt {
    pub(in crate::dashboard::pages) text: String,
    pub(in crate::dashboard::pages) tokens: i64,
    pub(in crate::dashboard::pages) parts: Vec<PromptPart>,
    pub(in crate::dashboard::pages) dropped: Vec<Dropped>,
    pub(in crate::dashboard::pages) version: Option<i64>,
    pub(in crate::dashboard::pages) prefix_hash: String,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct PromptPart {
    pub(in crate::dashboard::pages) name: String,
    pub(in crate::dashboard::pages) source: String,
    pub(in crate::dashboard::pages) tokens: i64,
    pub(in crate::dashboard::pages) items: Vec<String>,
    pub(in crate::dashboard::pages) records: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Dropped {
    pub(in crate::dashboard::pages) name: String,
    pub(in crate::dashboard::pages) whole: bool,
    pub(in crate::dashboard::pages) items: Vec<String>,
    pub(in crate::dashboard::pages) records: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Handoff {
    pub(in crate::dashboard::pages) generated_at: DateTime<Utc>,
    pub(in crate::dashboard::pages) generated_by: String,
    pub(in crate::dashboard::pages) window: String,
    pub(in crate::dashboard::pages) base_version: i64,
    pub(in crate::dashboard::pages) freshness: Freshness,
    pub(in crate::dashboard::pages) markdown: String,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Freshness {
    pub(in crate::dashboard::pages) status: String,
    pub(in crate::dashboard::pages) reasons: Vec<StaleReason>,
    pub(in crate::dashboard::pages) stale_lines: Vec<StaleLine>,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct StaleReason {
    pub(in crate::dashboard::pages) kind: String,
    pub(in crate::dashboard::pages) detail: String,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct StaleLine {
    pub(in crate::dashboard::pages) line: usize,
    pub(in crate::dashboard::pages) citation: String,
    pub(in crate::dashboard::pages) reason: String,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Found {
    pub(in crate::dashboard::pages) memory_id: String,
    pub(in crate::dashboard::pages) version: i64,
    pub(in crate::dashboard::pages) creation_time: DateTime<Utc>,
    pub(in crate::dashboard::pages) extract: String,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Usage {
    pub(in crate::dashboard::pages) from: String,
    pub(in crate::dashboard::pages) to: String,
    pub(in crate::dashboard::pages) currency: String,
    pub(in crate::dashboard::pages) totals: Spent,
    pub(in crate::dashboard::pages) without_price: Vec<String>,
    pub(in crate::dashboard::pages) tokens_today: i64,
    pub(in crate::dashboard::pages) tokens_per_day: Option<i64>,
    pub(in crate::dashboard::pages) items: Vec<UsageOfDay>,
    pub(in crate::dashboard::pages) next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct UsageOfDay {
    pub(in crate::dashboard::pages) day: String,
    pub(in crate::dashboard::pages) model: String,
    #[serde(flatten)]
    pub(in crate::dashboard::pages) spent: Spent,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Spent {
    pub(in crate::dashboard::pages) runs: i64,
    pub(in crate::dashboard::pages) calls: i64,
    pub(in crate::dashboard::pages) failures: i64,
    pub(in crate::dashboard::pages) input_tokens: i64,
    pub(in crate::dashboard::pages) cached_tokens: i64,
    pub(in crate::dashboard::pages) output_tokens: i64,
    pub(in crate::dashboard::pages) millis: i64,
    pub(in crate::dashboard::pages) cost: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Event {
    pub(in crate::dashboard::pages) kind: String,
    pub(in crate::dashboard::pages) time: DateTime<Utc>,
    pub(in crate::dashboard::pages) memory_id: String,
    pub(in crate::dashboard::pages) version: Option<i64>,
    pub(in crate::dashboard::pages) actor: Option<String>,
    pub(in crate::dashboard::pages) update_id: Option<String>,
    pub(in crate::dashboard::pages) details: Option<Value>,
}
