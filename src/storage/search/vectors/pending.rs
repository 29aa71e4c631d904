//! Memories that must still be embedded, and the progress.

use crate::domain::ids::VaultId;
use crate::storage::search::Pending;
use crate::storage::{Class, Storage, StorageError};

/// Memories listed at once.
const BATCH: i64 = 64;

/// The progress of embedding with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// All memories.
    pub memories: i64,
    /// Memories that must still be embedded.
    pub pending: i64,
    /// Embedded passages.
    pub passages: i64,
    /// Of these, the ones that the model refused.
    pub refused: i64,
}

impl Storage {
    /// A batch of memories that must still be embedded, by vault and memory, those after `after`; of all vaults or of
    /// one.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memories.embedding_pending", skip_all)]
    pub async fn pending_for_embedding(
        &self,
        vault: Option<&VaultId>,
        after: Option<&Pending>,
    ) -> Result<Vec<Pending>, StorageError> {
        let rows = sqlx::query_as!(
            Pending,
            "SELECT vault_id AS vault, memory_id AS memory, changed_at FROM memories
             WHERE embedded_version < indexed_version AND ($1::text IS NULL OR vault_id = $1)
               AND (vault_id, memory_id) > ($2, $3)
             ORDER BY vault_id, memory_id
             LIMIT $4",
            vault.map(VaultId::as_str),
            after.map_or("", |after| after.vault.as_str()),
            after.map_or("", |after| after.memory.as_str()),
            BATCH,
        )
        .fetch_all(&mut self.reader_for(Class::Maintenance).await?)
        .await?;
        Ok(rows)
    }

    /// The progress of embedding with a model. Reads all its rows: for an operator who asks, not for every scrape of
    /// metrics.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.search_vectors.progress", skip_all)]
    pub async fn embedding_progress(&self, space: &str) -> Result<Progress, StorageError> {
        let mut reader = self.reader_for(Class::Maintenance).await?;
        let memories = sqlx::query!(
            r#"SELECT count(*) AS "memories!",
                      count(*) FILTER (WHERE embedded_version IS NULL OR embedded_version < indexed_version)
                        AS "pending!"
               FROM memories WHERE head_version > 0"#,
        )
        .fetch_one(&mut reader)
        .await?;
        let passages = sqlx::query!(
            r#"SELECT COALESCE(sum(octet_length(flags)), 0)::bigint AS "passages!",
                      COALESCE(sum(refused), 0)::bigint AS "refused!"
               FROM search_vectors
               CROSS JOIN LATERAL (
                   SELECT count(*) AS refused FROM generate_series(0, octet_length(flags) - 1) AS place
                   WHERE get_byte(flags, place) & 64 <> 0
               ) AS counted
               WHERE space_id = $1"#,
            space,
        )
        .fetch_one(&mut reader)
        .await?;
        Ok(Progress {
            memories: memories.memories,
            pending: memories.pending,
            passages: passages.passages,
            refused: passages.refused,
        })
    }
}
