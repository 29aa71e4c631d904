//! The JSON representation of a run.

use crate::http::names::{RunKindName, RunStatusName};
use crate::storage::updates::Run;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

/// One run of `/update` or `/operations`.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Run)]
pub(crate) struct RunBody {
    /// The run's id.
    update_id: String,
    /// The vault.
    vault_id: String,
    /// The memory.
    memory_id: String,
    /// Which route it came by.
    #[schema(value_type = RunKindName)]
    kind: &'static str,
    /// How it ended, or where it stands.
    #[schema(value_type = RunStatusName)]
    status: &'static str,
    /// Who asked for it.
    actor_id: String,
    /// When it began.
    created_at: DateTime<Utc>,
    /// When it ended; null while it is queued or running.
    #[schema(required)]
    finished_at: Option<DateTime<Utc>>,
    /// How often it was begun.
    #[schema(minimum = 0)]
    attempts: i32,
    /// The version it captured; 0 for a memory that did not exist.
    #[schema(minimum = 0)]
    base_version: i64,
    /// The version that stood after it.
    #[schema(required)]
    version: Option<i64>,
    /// That version's id.
    #[schema(required)]
    context_id: Option<String>,
    /// The run that finished this one by hand.
    #[schema(required)]
    resolved_by: Option<String>,
    /// What was asked for.
    request: Value,
    /// What each model was asked and answered; not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    exchanges: Option<Value>,
    /// What came of it.
    outcome: Value,
}

impl RunBody {
    /// A run in a list.
    pub(crate) fn summary(run: Run) -> Self {
        Self {
            exchanges: None,
            ..Self::full(run)
        }
    }

    /// A run with its model exchanges.
    pub(crate) fn full(run: Run) -> Self {
        let (version, context_id) = run.version.unzip();
        Self {
            update_id: run.update_id.to_string(),
            vault_id: run.vault_id.to_string(),
            memory_id: run.memory_id.to_string(),
            kind: run.kind.name(),
            status: run.status.name(),
            actor_id: run.actor_id.to_string(),
            created_at: run.created_at,
            finished_at: run.finished_at,
            attempts: run.attempts,
            base_version: run.base_version,
            version,
            context_id: context_id.map(|id| id.to_string()),
            resolved_by: run.resolved_by.map(|id| id.to_string()),
            request: run.request,
            exchanges: Some(run.exchanges),
            outcome: run.outcome,
        }
    }
}
