//! The JSON representation of a run.

use crate::http::names::{Named, RunKindName, RunStatusName};
use crate::storage::updates::Run;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One run of `/update` or `/operations`.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Run)]
pub(crate) struct RunBody {
    /// The run's id.
    pub(crate) update_id: String,
    /// The vault.
    pub(crate) vault_id: String,
    /// The memory.
    pub(crate) memory_id: String,
    /// Which route it came by.
    pub(crate) kind: RunKindName,
    /// How it ended, or where it stands.
    pub(crate) status: RunStatusName,
    /// Who asked for it.
    pub(crate) actor_id: String,
    /// When it began.
    pub(crate) created_at: DateTime<Utc>,
    /// When it ended; null while it is queued or running.
    #[schema(required)]
    pub(crate) finished_at: Option<DateTime<Utc>>,
    /// How often it was begun.
    #[schema(minimum = 0)]
    pub(crate) attempts: i32,
    /// The version it captured; 0 for a memory that did not exist.
    #[schema(minimum = 0)]
    pub(crate) base_version: i64,
    /// The version that stood after it.
    #[schema(required)]
    pub(crate) version: Option<i64>,
    /// That version's id.
    #[schema(required)]
    pub(crate) context_id: Option<String>,
    /// The run that finished this one by hand.
    #[schema(required)]
    pub(crate) resolved_by: Option<String>,
    /// What was asked for.
    pub(crate) request: Value,
    /// What each model was asked and answered; not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) exchanges: Option<Value>,
    /// What came of it.
    pub(crate) outcome: Value,
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
            kind: Named(run.kind),
            status: Named(run.status),
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
