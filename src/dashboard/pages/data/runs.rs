//! Runs of updates, with the prompts and answers of their models.

use super::{Evidence, short};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Run {
    pub(in crate::dashboard::pages) update_id: String,
    pub(in crate::dashboard::pages) memory_id: String,
    pub(in crate::dashboard::pages) kind: String,
    pub(in crate::dashboard::pages) status: String,
    pub(in crate::dashboard::pages) actor_id: String,
    pub(in crate::dashboard::pages) created_at: DateTime<Utc>,
    pub(in crate::dashboard::pages) finished_at: Option<DateTime<Utc>>,
    pub(in crate::dashboard::pages) attempts: i64,
    pub(in crate::dashboard::pages) base_version: i64,
    pub(in crate::dashboard::pages) version: Option<i64>,
    pub(in crate::dashboard::pages) resolved_by: Option<String>,
    pub(in crate::dashboard::pages) request: Value,
    #[serde(default)]
    pub(in crate::dashboard::pages) exchanges: Option<Vec<Exchange>>,
    pub(in crate::dashboard::pages) outcome: Option<Outcome>,
}

impl Run {
    /// The colour of its status.
    pub(in crate::dashboard::pages) fn tone(&self) -> &'static str {
        match self.status.as_str() {
            "applied" | "approved" | "resolved" => "good",
            "failed" | "invalid" | "conflict" | "rejected" => "bad",
            "proposed" | "queued" | "running" => "warn",
            _ => "",
        }
    }

    /// Its task, shortened.
    pub(in crate::dashboard::pages) fn task(&self) -> String {
        let task = self.request.get("task").and_then(Value::as_str);
        task.map(short).unwrap_or_default()
    }

    /// Its duration in milliseconds.
    pub(in crate::dashboard::pages) fn millis(&self) -> Option<i64> {
        self.finished_at
            .map(|end| (end - self.created_at).num_milliseconds())
    }
}

/// The outcome of a run; an old or unfinished run has only some members.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::dashboard::pages) struct Outcome {
    pub(in crate::dashboard::pages) problem: Option<String>,
    pub(in crate::dashboard::pages) operations: Vec<Operation>,
    pub(in crate::dashboard::pages) rejected: Vec<Rejection>,
    pub(in crate::dashboard::pages) warnings: Vec<Rejection>,
    pub(in crate::dashboard::pages) diff: String,
    pub(in crate::dashboard::pages) log: String,
    pub(in crate::dashboard::pages) rebased: bool,
    pub(in crate::dashboard::pages) review: Option<Review>,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Operation {
    pub(in crate::dashboard::pages) number: Option<u64>,
    pub(in crate::dashboard::pages) op: String,
    pub(in crate::dashboard::pages) id: Option<String>,
    pub(in crate::dashboard::pages) label: Option<String>,
    pub(in crate::dashboard::pages) reason: Option<String>,
    pub(in crate::dashboard::pages) content: Option<String>,
    pub(in crate::dashboard::pages) superseded_by: Option<String>,
    #[serde(default)]
    pub(in crate::dashboard::pages) evidence: Vec<Evidence>,
}

impl Operation {
    /// What it does, in words.
    pub(in crate::dashboard::pages) fn verb(&self) -> &str {
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
pub(in crate::dashboard::pages) struct Rejection {
    pub(in crate::dashboard::pages) section: Option<String>,
    pub(in crate::dashboard::pages) kind: String,
    pub(in crate::dashboard::pages) detail: String,
    #[serde(default)]
    pub(in crate::dashboard::pages) text: String,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Review {
    pub(in crate::dashboard::pages) decision: String,
    pub(in crate::dashboard::pages) by: String,
    pub(in crate::dashboard::pages) at: DateTime<Utc>,
    pub(in crate::dashboard::pages) comment: Option<String>,
    pub(in crate::dashboard::pages) reason: Option<String>,
}

/// A prompt and answer of a model.
#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Exchange {
    pub(in crate::dashboard::pages) section: Option<String>,
    pub(in crate::dashboard::pages) model: Option<String>,
    #[serde(default)]
    pub(in crate::dashboard::pages) system: String,
    #[serde(default)]
    pub(in crate::dashboard::pages) messages: Vec<Turn>,
    pub(in crate::dashboard::pages) answer: Option<String>,
    #[serde(default)]
    pub(in crate::dashboard::pages) stopped_at_limit: bool,
    pub(in crate::dashboard::pages) error: Option<String>,
    pub(in crate::dashboard::pages) attempts: Option<i64>,
    pub(in crate::dashboard::pages) input_tokens: Option<i64>,
    pub(in crate::dashboard::pages) cached_tokens: Option<i64>,
    pub(in crate::dashboard::pages) output_tokens: Option<i64>,
    pub(in crate::dashboard::pages) millis: Option<i64>,
}

#[derive(Debug, Deserialize)]
pub(in crate::dashboard::pages) struct Turn {
    pub(in crate::dashboard::pages) role: String,
    pub(in crate::dashboard::pages) content: String,
}
