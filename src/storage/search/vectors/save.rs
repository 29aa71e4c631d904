//! Saves the vectors of a memory.

use super::sources::read_sources;
use super::spaces::EVERYWHERE;
use super::{ARCHIVED, HASH_BYTES, REFUSED, kind_flag};
use crate::domain::ids::{MemoryId, VaultId};
use crate::domain::search::PassageHash;
use crate::domain::search::passages::sign_bytes;
use crate::storage::database::connection::Connection;
use crate::storage::database::transaction::Ending;
use crate::storage::write::lock_memory;
use crate::storage::{Class, Storage, StorageError};
use std::collections::HashMap;

/// The vector of a passage as it is stored: its signs, and its components, one byte each; `None` if the model refused the
/// passage.
pub type StoredVector = Option<(Vec<u8>, Vec<u8>)>;

impl Storage {
    /// The vectors of a memory in a space, by passage hash, without refused passages.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.search_vectors.get", skip_all)]
    pub async fn vectors_of(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        space: &str,
        dimensions: usize,
    ) -> Result<HashMap<PassageHash, StoredVector>, StorageError> {
        let row = sqlx::query!(
            "SELECT hashes, flags, signs, vectors FROM search_vectors
             WHERE vault_id = $1 AND space_id = $2 AND memory_id = $3",
            vault.as_str(),
            space,
            memory.as_str(),
        )
        .fetch_optional(&mut self.reader_for(Class::Maintenance).await?)
        .await?;
        let Some(row) = row else { return Ok(HashMap::new()) };
        let hashes = row.hashes.chunks_exact(HASH_BYTES);
        let signs = row.signs.chunks_exact(sign_bytes(dimensions));
        let vectors = row.vectors.chunks_exact(dimensions);
        let all = hashes.zip(&row.flags).zip(signs.zip(vectors));
        Ok(all
            .filter(|((_, flags), _)| **flags & REFUSED == 0)
            .filter_map(|((hash, _), (signs, vector))| {
                Some((hash.try_into().ok()?, Some((signs.to_vec(), vector.to_vec()))))
            })
            .collect())
    }

    /// Saves the vectors of those passages that the memory has while its row is locked, so that nothing that was
    /// redacted meanwhile is saved. `false` if another model has become the current one; nothing was saved then.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.search_vectors.save", skip_all)]
    pub async fn save_vectors(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        space: &str,
        dimensions: usize,
        known: &HashMap<PassageHash, StoredVector>,
    ) -> Result<bool, StorageError> {
        self.transaction_for(Class::Maintenance, "db.search_vectors.save", |transaction| {
            save(transaction, (vault, memory), (space, dimensions), known)
        })
        .await
    }
}

async fn save(
    mut transaction: Connection,
    (vault, memory): (&VaultId, &MemoryId),
    (space, dimensions): (&str, usize),
    known: &HashMap<PassageHash, StoredVector>,
) -> Result<Ending<bool>, StorageError> {
    if lock_memory(&mut transaction, vault, memory).await?.is_none() {
        return Ok(transaction.roll_back_with(true));
    }
    // After the lock: a concurrent switch of models either marks the memory after this transaction or is visible here.
    let current = sqlx::query_scalar!(
            "SELECT space_id FROM embedding_spaces WHERE vault_id = $1 ORDER BY activated_at DESC, space_id LIMIT 1",
            EVERYWHERE,
        )
        .fetch_optional(&mut transaction)
        .await?;
    if current.as_deref() != Some(space) {
        return Ok(transaction.roll_back_with(false));
    }
    let Some(sources) = read_sources(&mut transaction, vault, memory).await? else {
        return Ok(transaction.roll_back_with(true));
    };
    let (mut hashes, mut flags, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let (mut signs, mut vectors) = (Vec::new(), Vec::new());
    let mut is_whole = true;
    for (passage, record) in sources.passages() {
        let hash = passage.hash();
        let Some(vector) = known.get(&hash) else {
            is_whole = false;
            continue;
        };
        let is_archived = record.is_some_and(|stored| stored.end.is_some());
        let mut flag = kind_flag(record.map(|stored| stored.record.id.kind));
        flag |= if is_archived { ARCHIVED } else { 0 };
        match vector {
            Some((of_signs, of_vector)) => {
                signs.extend_from_slice(of_signs);
                vectors.extend_from_slice(of_vector);
            }
            None => {
                flag |= REFUSED;
                signs.resize(signs.len() + sign_bytes(dimensions), 0);
                vectors.resize(vectors.len() + dimensions, 0);
            }
        }
        hashes.extend_from_slice(&hash);
        flags.push(flag);
        numbers.push(record.map_or(0, |stored| stored.record.id.number));
    }
    sqlx::query!(
        "INSERT INTO search_vectors (vault_id, space_id, memory_id, hashes, flags, numbers, signs, vectors)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
             ON CONFLICT (vault_id, space_id, memory_id) DO UPDATE
             SET hashes = excluded.hashes, flags = excluded.flags, numbers = excluded.numbers,
                 signs = excluded.signs, vectors = excluded.vectors",
        vault.as_str(),
        space,
        memory.as_str(),
        hashes,
        flags,
        &numbers,
        signs,
        vectors,
    )
    .execute(&mut transaction)
    .await?;
    if is_whole {
        sqlx::query!(
            "UPDATE memories SET embedded_version = $3 WHERE vault_id = $1 AND memory_id = $2",
            vault.as_str(),
            memory.as_str(),
            sources.version,
        )
        .execute(&mut transaction)
        .await?;
    }
    Ok(transaction.commit_with(true))
}

/// Deletes the vectors of a memory in the transaction of a redaction; they are created again from the remaining text.
pub(in crate::storage) async fn forget_vectors(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<(), StorageError> {
    sqlx::query!(
        "DELETE FROM search_vectors WHERE vault_id = $1 AND memory_id = $2",
        vault.as_str(),
        memory.as_str(),
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "UPDATE memories SET embedded_version = 0
         WHERE vault_id = $1 AND memory_id = $2 AND embedded_version > 0",
        vault.as_str(),
        memory.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(())
}
