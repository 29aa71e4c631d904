//! Versions without their texts.

use super::{ContextMetadata, Row};
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::pages::{Reading, Rows};
use crate::storage::{Storage, StorageError};

impl Storage {
    /// Versions with numbers below `before` (all if `None`), newest first, at most `limit`, without texts. Empty if the
    /// memory does not exist: every memory has at least one version.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memory_contexts.list", skip_all)]
    pub async fn list_contexts(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Rows<ContextMetadata>, StorageError> {
        let mut page = Reading::new(limit, 20);
        while let Some(batch) = page.next() {
            let before = page
                .items
                .last()
                .map(|version: &ContextMetadata| version.version)
                .or(before);
            let rows = sqlx::query_as!(
            Row,
            r#"SELECT vault_id, memory_id, context_id, actor_id, '' AS "context!", creation_time, version, source,
                      bytes, update_id, log, redacted_at, redacted_by, redaction_reason, redacted_sha256,
                      NULL::bigint[] AS line_origins
               FROM memory_contexts
               WHERE vault_id = $1 AND memory_id = $2 AND version < $3
               ORDER BY version DESC
               LIMIT $4"#,
            vault.as_str(),
            memory.as_str(),
            before.unwrap_or(i64::MAX),
            batch,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
            let read = rows.into_iter().map(|row| row.into_context().metadata);
            page.add(read.collect(), |version| version.log.len());
        }
        Ok(page.rows())
    }

    /// The existing versions among these numbers, without texts.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memory_contexts.versions", skip_all)]
    pub(in crate::storage) async fn versions(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        versions: &[i64],
    ) -> Result<Vec<ContextMetadata>, StorageError> {
        let rows = sqlx::query_as!(
            Row,
            r#"SELECT vault_id, memory_id, context_id, actor_id, '' AS "context!", creation_time, version, source,
                      bytes, update_id, log, redacted_at, redacted_by, redaction_reason, redacted_sha256,
                      NULL::bigint[] AS line_origins
               FROM memory_contexts
               WHERE vault_id = $1 AND memory_id = $2 AND version = ANY($3)"#,
            vault.as_str(),
            memory.as_str(),
            versions,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(rows.into_iter().map(|row| row.into_context().metadata).collect())
    }
}
