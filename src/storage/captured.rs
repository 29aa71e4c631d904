//! The newest version as it was when a change began that takes its time: what a model is asked about.

use super::change::{ChangeError, Decision, Outcome};
use super::head::{Head, counters_of};
use super::{Storage, StorageError, origins};
use crate::domain::document::Origins;
use crate::domain::ids::{ContextId, MemoryId, RecordId, VaultId};
use crate::domain::memory::Counters;
use chrono::{DateTime, Utc};
use std::sync::Arc;

/// A head that was read and not locked.
#[derive(Debug, Clone)]
pub struct CapturedHead {
    /// The newest version's number; 0 if the memory did not exist.
    pub version: i64,
    /// The newest version's id.
    pub context_id: Option<ContextId>,
    /// The newest version's text; empty if the memory did not exist.
    pub text: Arc<str>,
    counters: Counters,
    origins: Option<Origins>,
    changed_at: DateTime<Utc>,
}

impl Storage {
    /// The head as the database has it.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.memories.capture", skip_all)]
    pub async fn capture_head(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<CapturedHead, StorageError> {
        let row = sqlx::query!(
            "SELECT c.version, c.context_id, c.context, c.line_origins, m.learning_counter, m.verbatim_counter,
                    m.task_counter, m.decision_counter, m.changed_at
             FROM memories m
             JOIN memory_contexts c ON c.vault_id = $1 AND c.memory_id = $2 AND c.version = m.head_version
             WHERE m.vault_id = $1 AND m.memory_id = $2",
            vault.as_str(),
            memory.as_str(),
        )
        .fetch_optional(&mut *self.reader().await?)
        .await?;
        let Some(row) = row else {
            return Ok(CapturedHead {
                version: 0,
                context_id: None,
                text: "".into(),
                counters: Counters::default(),
                origins: None,
                changed_at: DateTime::UNIX_EPOCH,
            });
        };
        let context_id = row.context_id.parse().map_err(|_| StorageError::Corrupt {
            table: "memory_contexts",
            column: "context_id",
            row: format!("({vault}, {memory}, {})", row.version),
            problem: "not an id".to_owned(),
        })?;
        Ok(CapturedHead {
            version: row.version,
            context_id: Some(context_id),
            origins: row
                .line_origins
                .and_then(|stored| origins::from_stored(&stored, &row.context)),
            text: row.context.into(),
            counters: counters_of(
                row.learning_counter,
                row.verbatim_counter,
                row.task_counter,
                row.decision_counter,
            ),
            changed_at: row.changed_at,
        })
    }

    /// As [`Self::change`], where `captured` is likely to be the newest version still: if it is, the change is decided
    /// before anything is locked, and saved together with others. If it is not, or if `decide` makes no version of it,
    /// the change is made as any other; with `None` it is that at once.
    ///
    /// # Errors
    /// As [`Self::change`].
    pub async fn change_captured<T, E>(
        &self,
        (vault, memory): (&VaultId, &MemoryId),
        captured: Option<&CapturedHead>,
        mentioned: &[RecordId],
        mut decide: impl FnMut(&Head) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        if let Some(captured) = captured.filter(|captured| captured.version > 0)
            && self.gathers().await?
        {
            // What a change of this very version mentions stands in it.
            let head = self.head_over(captured);
            let decided = decide(&head);
            if let Some(outcome) = self.save_gathered((vault, memory), head, decided).await? {
                return Ok(outcome);
            }
        }
        self.change(vault, memory, mentioned, decide).await
    }

    fn head_over(&self, captured: &CapturedHead) -> Head {
        Head {
            version: captured.version,
            context_id: captured.context_id.clone(),
            text: (*captured.text).to_owned(),
            origins: captured.origins.clone(),
            counters: captured.counters,
            ..self.empty_head(captured.changed_at)
        }
    }
}
