//! Maintenance of versions: redaction, retention and rebuilding records.

pub(in crate::storage) mod rebuild;
pub mod redact;
pub(in crate::storage) mod retention;

pub use rebuild::Rebuilt;

use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::{Class, Storage, StorageError};

/// Memories listed at once.
const MEMORIES_AT_ONCE: i64 = 500;

/// A memory with a document.
struct Candidate {
    vault_id: VaultId,
    memory_id: MemoryId,
    head_version: i64,
}

impl Storage {
    /// The next memories whose newest version has a number over `least`, by vault and memory; of one vault, or with one id,
    /// if given.
    async fn candidates(
        &self,
        after: Option<&Candidate>,
        (vault, memory): (Option<&VaultId>, Option<&MemoryId>),
        least: i64,
    ) -> Result<Vec<Candidate>, StorageError> {
        Ok(sqlx::query_as!(
            Candidate,
            "SELECT vault_id, memory_id, head_version FROM memories
             WHERE (vault_id, memory_id) > ($1, $2) AND head_version > $3
               AND ($4::text IS NULL OR vault_id = $4) AND ($5::text IS NULL OR memory_id = $5)
             ORDER BY vault_id, memory_id
             LIMIT $6",
            after.map_or("", |after| after.vault_id.as_str()),
            after.map_or("", |after| after.memory_id.as_str()),
            least,
            vault.map(VaultId::as_str),
            memory.map(MemoryId::as_str),
            MEMORIES_AT_ONCE,
        )
        .fetch_all(&mut self.reader_for(Class::Maintenance).await?)
        .await?)
    }
}
