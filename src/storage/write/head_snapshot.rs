//! Head snapshots: the newest version when a long change began, which a model is called with.

use super::head::Head;
use crate::domain::document::Origins;
use crate::domain::ids::{ContextId, MemoryId, VaultId};
use crate::domain::memory::Counters;
use crate::storage::{Storage, StorageError, contexts::origins};
use chrono::{DateTime, Utc};
use std::sync::Arc;

/// A head that was read without a lock.
#[derive(Debug, Clone)]
pub struct HeadSnapshot {
    /// The newest version's number; 0 if the memory did not exist.
    pub version: i64,
    /// The identity of the memory; `None` if it did not exist.
    pub identity: Option<String>,
    /// The newest version's id.
    pub context_id: Option<ContextId>,
    /// The newest version's text; empty if the memory did not exist.
    pub text: Arc<str>,
    counters: Counters,
    origins: Option<Origins>,
    changed_at: DateTime<Utc>,
}

impl Storage {
    /// Reads the head from the database.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memories.snapshot", skip_all)]
    pub async fn head_snapshot(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<HeadSnapshot, StorageError> {
        let row = sqlx::query!(
            "SELECT c.version, c.context_id, c.context, c.line_origins, m.identity, m.counters, m.changed_at
             FROM memories m
             JOIN memory_contexts c ON c.vault_id = $1 AND c.memory_id = $2 AND c.version = m.head_version
             WHERE m.vault_id = $1 AND m.memory_id = $2",
            vault.as_str(),
            memory.as_str(),
        )
        .fetch_optional(&mut *self.reader().await?)
        .await?;
        let Some(row) = row else {
            return Ok(HeadSnapshot {
                version: 0,
                identity: None,
                context_id: None,
                text: "".into(),
                counters: Counters::default(),
                origins: None,
                changed_at: DateTime::UNIX_EPOCH,
            });
        };
        Ok(HeadSnapshot {
            version: row.version,
            identity: Some(row.identity),
            context_id: Some(row.context_id),
            origins: row
                .line_origins
                .and_then(|stored| origins::from_stored(&stored, &row.context)),
            text: row.context.into(),
            counters: Counters::of_numbers(&row.counters),
            changed_at: row.changed_at,
        })
    }

    pub(super) fn head_of(&self, snapshot: &HeadSnapshot) -> Head {
        Head {
            version: snapshot.version,
            identity: snapshot.identity.clone(),
            context_id: snapshot.context_id.clone(),
            text: (*snapshot.text).to_owned(),
            origins: snapshot.origins.clone(),
            counters: snapshot.counters,
            ..self.empty_head(snapshot.changed_at)
        }
    }
}
