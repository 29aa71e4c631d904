//! The models that vectors were created with (`embedding_spaces`), the memories that must still be embedded, and the progress.

use crate::storage::access::keys::INSTALLATION;
use crate::storage::search::Pending;
use crate::storage::{Class, Storage, StorageError};
use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};

/// Rows that are deleted or marked in one transaction.
const AT_ONCE: i64 = 500;

/// The settings that make vectors comparable, and the settings of queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceSettings {
    /// The model's name.
    pub model: String,
    /// The dimension of its vectors.
    pub dimensions: usize,
    /// The prefix of queries.
    pub query_prefix: String,
    /// The prefix of texts.
    pub document_prefix: String,
}

/// A vector space: a model and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Its id.
    pub id: String,
    /// The model.
    pub settings: SpaceSettings,
    /// Since when memories are embedded with it.
    pub activated_at: DateTime<Utc>,
    /// Whether all memories were marked for embedding with it.
    pub is_marked: bool,
    /// Since when all of them have been embedded.
    pub ready_at: Option<DateTime<Utc>>,
}

/// All models that have vectors, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spaces(pub Vec<Space>);

impl SpaceSettings {
    /// The id of the space. The prefix of queries is not part of it, because vectors do not depend on it.
    #[must_use]
    pub fn id(&self) -> String {
        let dimensions = self.dimensions.to_string();
        let members = [&*self.model, &*dimensions, &*self.document_prefix].join("\0");
        hex::encode(&Sha256::digest(members)[..8])
    }
}

impl Spaces {
    /// The model that memories are embedded with.
    #[must_use]
    pub fn current(&self) -> Option<&Space> {
        self.0.first()
    }

    /// The model used for queries: the current one once it is ready, until then the previous one.
    #[must_use]
    pub fn answering(&self) -> Option<&Space> {
        self.0
            .iter()
            .find(|space| space.ready_at.is_some())
            .or(self.current())
    }
}

impl Storage {
    /// All models that have vectors.
    ///
    /// # Errors
    /// Database errors.
    pub async fn embedding_spaces(&self) -> Result<Spaces, StorageError> {
        let rows = sqlx::query!(
            "SELECT space_id, model, dimensions, query_prefix, document_prefix, activated_at, marked_at, ready_at
             FROM embedding_spaces WHERE vault_id = $1
             ORDER BY activated_at DESC, space_id",
            INSTALLATION,
        )
        .fetch_all(&mut self.reader_for(Class::Maintenance).await?)
        .await?;
        let spaces = rows.into_iter().map(|row| Space {
            id: row.space_id,
            settings: SpaceSettings {
                model: row.model,
                dimensions: usize::try_from(row.dimensions).unwrap_or_default(),
                query_prefix: row.query_prefix,
                document_prefix: row.document_prefix,
            },
            activated_at: row.activated_at,
            is_marked: row.marked_at.is_some(),
            ready_at: row.ready_at,
        });
        Ok(Spaces(spaces.collect()))
    }

    /// Makes a model the current one. If it was not, all memories are marked for embedding.
    ///
    /// # Errors
    /// Database errors.
    pub async fn activate_space(&self, settings: &SpaceSettings) -> Result<(), StorageError> {
        let id = settings.id();
        let spaces = self.embedding_spaces().await?;
        let is_current = spaces.current().is_some_and(|space| space.id == id);
        let latest = spaces.current().map(|space| space.activated_at);
        let now = self.clock.now();
        // Later than all existing rows, even if clocks of instances differ.
        let now = latest.map_or(now, |latest| now.max(latest + chrono::TimeDelta::milliseconds(1)));
        let activate = || {
            sqlx::query!(
            "INSERT INTO embedding_spaces (vault_id, space_id, model, dimensions, query_prefix, document_prefix,
                                           activated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (vault_id, space_id) DO UPDATE
             SET query_prefix = excluded.query_prefix,
                 activated_at = CASE WHEN $8 THEN embedding_spaces.activated_at ELSE excluded.activated_at END,
                 marked_at = CASE WHEN $8 THEN embedding_spaces.marked_at END,
                 ready_at = CASE WHEN $8 THEN embedding_spaces.ready_at END",
            INSTALLATION,
            id,
            settings.model,
            i32::try_from(settings.dimensions).unwrap_or(i32::MAX),
            settings.query_prefix,
            settings.document_prefix,
            now,
            is_current,
            )
        };
        self.execute(Class::Maintenance, "db.embedding_spaces.activate", activate)
            .await?;
        Ok(())
    }

    /// Marks memories for embedding: all of them for a model that has embedded none, otherwise those that were written
    /// while embeddings were not configured.
    ///
    /// # Errors
    /// Database errors.
    pub async fn mark_for_embedding(&self, space: &Space) -> Result<(), StorageError> {
        let all = !space.is_marked;
        let (mut last_vault, mut last_memory) = (String::new(), String::new());
        loop {
            // Rare read over all vaults; the change then goes vault by vault.
            let memories = sqlx::query!(
                "SELECT vault_id, memory_id FROM memories
                 WHERE (vault_id, memory_id) > ($1, $2)
                   AND (embedded_version IS NULL OR ($3 AND embedded_version > 0))
                 ORDER BY vault_id, memory_id
                 LIMIT $4",
                last_vault,
                last_memory,
                all,
                AT_ONCE,
            )
            .fetch_all(&mut self.reader_for(Class::Maintenance).await?)
            .await?;
            let Some(last) = memories.last() else { break };
            (last_vault, last_memory) = (last.vault_id.to_string(), last.memory_id.to_string());
            for of_vault in memories.chunk_by(|one, next| one.vault_id == next.vault_id) {
                let memories: Vec<&str> = of_vault.iter().map(|row| row.memory_id.as_str()).collect();
                let mark = || {
                    sqlx::query!(
                        "UPDATE memories SET embedded_version = 0 WHERE vault_id = $1 AND memory_id = ANY ($2)",
                        of_vault[0].vault_id.as_str(),
                        &memories as &[&str],
                    )
                };
                let name = "db.memories.mark_for_embedding";
                self.execute(Class::Maintenance, name, mark).await?;
            }
        }
        self.set_time(&space.id, false).await
    }

    /// Records that every memory has its vectors, and deletes those of other models.
    ///
    /// # Errors
    /// Database errors.
    pub async fn space_is_ready(&self, space: &Space) -> Result<(), StorageError> {
        self.set_time(&space.id, true).await?;
        let delete_vectors = || {
            sqlx::query!(
                "DELETE FROM search_vectors
                 WHERE (vault_id, space_id, memory_id) IN (
                   SELECT vault_id, space_id, memory_id FROM search_vectors WHERE space_id <> $1 LIMIT $2
                 )",
                space.id,
                AT_ONCE,
            )
        };
        let (class, name) = (Class::Maintenance, "db.search_vectors.delete");
        // Another instance may make another model the current one meanwhile: its vectors are newer than these.
        while self.is_current(space).await? && self.execute(class, name, delete_vectors).await? > 0 {}
        let delete_spaces = || {
            sqlx::query!(
                "DELETE FROM embedding_spaces
                 WHERE vault_id = $1 AND space_id <> $2 AND activated_at < $3",
                INSTALLATION,
                space.id,
                space.activated_at,
            )
        };
        self.execute(class, "db.embedding_spaces.delete", delete_spaces)
            .await?;
        Ok(())
    }

    async fn is_current(&self, space: &Space) -> Result<bool, StorageError> {
        let spaces = self.embedding_spaces().await?;
        Ok(spaces.current().is_some_and(|current| current.id == space.id))
    }

    /// Marks all memories for embedding again. Existing vectors are reused, and passages that models refused are tried
    /// again.
    ///
    /// # Errors
    /// Database errors.
    pub async fn rebuild_embeddings(&self) -> Result<bool, StorageError> {
        let spaces = self.embedding_spaces().await?;
        let Some(current) = spaces.current() else {
            return Ok(false);
        };
        let anew = Space {
            is_marked: false,
            ..current.clone()
        };
        self.mark_for_embedding(&anew).await?;
        Ok(true)
    }

    /// Sets when all memories were embedded or, before, marked for it.
    async fn set_time(&self, space: &str, is_ready: bool) -> Result<(), StorageError> {
        let now = self.clock.now();
        let set = || {
            sqlx::query!(
            "UPDATE embedding_spaces
             SET marked_at = CASE WHEN $3 THEN $5 ELSE marked_at END, ready_at = CASE WHEN $4 THEN $5 ELSE ready_at END
             WHERE vault_id = $1 AND space_id = $2",
            INSTALLATION,
            space,
            !is_ready,
            is_ready,
            now,
            )
        };
        self.execute(Class::Maintenance, "db.embedding_spaces.set_time", set)
            .await?;
        Ok(())
    }
}

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
    /// A batch of memories that must still be embedded, by vault and memory, those after `after`.
    ///
    /// # Errors
    /// Database errors.
    pub async fn pending_for_embedding(&self, after: Option<&Pending>) -> Result<Vec<Pending>, StorageError> {
        let rows = sqlx::query_as!(
            Pending,
            "SELECT vault_id AS vault, memory_id AS memory, changed_at FROM memories
             WHERE embedded_version < indexed_version AND (vault_id, memory_id) > ($1, $2)
             ORDER BY vault_id, memory_id
             LIMIT $3",
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
