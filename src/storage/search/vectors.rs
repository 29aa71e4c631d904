//! Semantic search: `search_vectors`, written by the embedding task after full-text indexing, and read by searches.
//!
//! `memories.embedded_version`, which follows `indexed_version`, tells which memories must still be embedded. No text
//! is stored here: a passage is identified by its hash and looked up in its memory at search time. So archiving,
//! redaction and deletion take effect on searches at once.
//!
//! All passages of a vault are compared by the signs of their vectors, then the nearest ones by the full vectors. This
//! is accurate enough without an index, and the cost depends only on the size of the vault.

mod sources;
mod spaces;

pub use sources::{RecordOrigin, Sources};
pub use spaces::{Progress, Space, SpaceSettings, Spaces};

use crate::domain::history::RecordLife;
use crate::domain::ids::{ActorId, MemoryId, RecordId, RecordKind, VaultId};
use crate::domain::search::PassageHash;
use crate::domain::search::passages::{distance, sign_bytes, signs, similarity};
use crate::fair;
use crate::storage::access::keys::INSTALLATION;
use crate::storage::database::connection::Connection;
use crate::storage::records::RecordStatus;
use crate::storage::write::lock_memory;
use crate::storage::{Class, Storage, StorageError};
use chrono::{DateTime, Utc};
use futures::TryStreamExt;
use sources::read_sources;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

/// Length of a passage's hash in bytes.
const HASH_BYTES: usize = size_of::<PassageHash>();

/// One byte for each passage: the kind of its record, as all kinds are counted from 1 on, 0 for free text; whether the record
/// was archived when it was embedded; and whether the model refused it, so that it has no vector.
const KIND: u8 = 0b0000_0111;
const ARCHIVED: u8 = 0b1000_0000;
const REFUSED: u8 = 0b0100_0000;

fn kind_flag(kind: Option<RecordKind>) -> u8 {
    let mut kinds = (1..).zip(RecordKind::ALL);
    kinds
        .find(|(_, known)| Some(*known) == kind)
        .map_or(0, |(flag, _)| flag)
}

/// The record identified by a flag byte and a number.
fn record_of(flags: u8, number: i64) -> Option<RecordId> {
    let kind = RecordKind::ALL.get(usize::from(flags & KIND).checked_sub(1)?)?;
    Some(RecordId::new(*kind, number))
}

/// The vector of a passage as it is stored: its signs, and its components, one byte each; `None` if the model refused the
/// passage.
pub type StoredVector = Option<(Vec<u8>, Vec<u8>)>;

impl Storage {
    /// The vectors of a memory in a space, by passage hash, without refused passages.
    ///
    /// # Errors
    /// Database errors.
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
) -> Result<(Connection, bool), StorageError> {
    if lock_memory(&mut transaction, vault, memory).await?.is_none() {
        return Ok((transaction.rollback().await?, true));
    }
    // After the lock: a concurrent switch of models either marks the memory after this transaction or is visible here.
    let current = sqlx::query_scalar!(
            "SELECT space_id FROM embedding_spaces WHERE vault_id = $1 ORDER BY activated_at DESC, space_id LIMIT 1",
            INSTALLATION,
        )
        .fetch_optional(&mut transaction)
        .await?;
    if current.as_deref() != Some(space) {
        return Ok((transaction.rollback().await?, false));
    }
    let Some(sources) = read_sources(&mut transaction, vault, memory).await? else {
        return Ok((transaction.rollback().await?, true));
    };
    let (mut hashes, mut flags, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let (mut signs, mut vectors) = (Vec::new(), Vec::new());
    let none = (vec![0; sign_bytes(dimensions)], vec![0; dimensions]);
    let mut is_whole = true;
    for (passage, record) in sources.passages() {
        let hash = passage.hash();
        let Some(vector) = known.get(&hash) else {
            is_whole = false;
            continue;
        };
        let mut flag = kind_flag(record.map(|stored| stored.record.id.kind));
        if record.is_some_and(|stored| stored.end.is_some()) {
            flag |= ARCHIVED;
        }
        if vector.is_none() {
            flag |= REFUSED;
        }
        let (of_signs, of_vector) = vector.as_ref().unwrap_or(&none);
        signs.extend_from_slice(of_signs);
        vectors.extend_from_slice(of_vector);
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
    Ok((transaction, true))
}

/// Deletes the words of a version and the vectors of its memory in the transaction of a redaction; they are created again from the
/// remaining text.
pub(in crate::storage) async fn forget_version(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    version: i64,
) -> Result<(), StorageError> {
    sqlx::query!(
        "DELETE FROM search_entries WHERE vault_id = $1 AND memory_id = $2 AND version = $3",
        vault.as_str(),
        memory.as_str(),
        version,
    )
    .execute(&mut *connection)
    .await?;
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

/// Restricts the passages. Actor and times of a record are those of the version that introduced it. Free text belongs
/// to the newest version and counts as active.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassageFilter {
    /// Only records, no free text.
    pub records_only: bool,
    /// Only records of this kind.
    pub kind: Option<RecordKind>,
    /// Only of this status.
    pub status: Option<RecordStatus>,
    /// Only of this actor.
    pub actor: Option<ActorId>,
    /// Only from this time on.
    pub since: Option<DateTime<Utc>>,
    /// Only before this time.
    pub until: Option<DateTime<Utc>>,
}

/// A nearest-neighbour query.
#[derive(Debug, Clone)]
pub struct Nearest<'a> {
    /// The vault.
    pub vault: &'a VaultId,
    /// The memory; `None` for all.
    pub memory: Option<&'a MemoryId>,
    /// The vector space, that is, the model.
    pub space: &'a str,
    /// The query's vector.
    pub query: &'a [f32],
    /// The filter.
    pub filter: &'a PassageFilter,
    /// Maximum number of results.
    pub limit: usize,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    /// Its memory.
    pub memory: MemoryId,
    /// Its record; `None` for free text.
    pub record: Option<RecordId>,
    /// The hash of the passage.
    pub hash: PassageHash,
    /// The similarity: the cosine of the angle to the query.
    pub score: f32,
}

impl PassageFilter {
    /// Whether a record passes the filter.
    #[must_use]
    pub fn takes_record(&self, stored: &RecordLife) -> bool {
        let takes_status = |status| stored.end.is_some() == (status == RecordStatus::Archived);
        self.kind.is_none_or(|kind| stored.record.id.kind == kind)
            && self.status.is_none_or(takes_status)
            && self.takes_version(&stored.born.by, stored.born.at)
    }

    /// Whether the free text of a version passes the filter.
    #[must_use]
    pub fn takes_text(&self, by: &ActorId, at: DateTime<Utc>) -> bool {
        !self.records_only
            && self.kind.is_none()
            && self.status != Some(RecordStatus::Archived)
            && self.takes_version(by, at)
    }

    fn takes_version(&self, by: &ActorId, at: DateTime<Utc>) -> bool {
        self.actor.as_ref().is_none_or(|actor| actor == by)
            && self.since.is_none_or(|since| at >= since)
            && self.until.is_none_or(|until| at < until)
    }

    /// Whether the flags of a passage pass the filter; the current state is checked for the nearest ones.
    fn takes(&self, flags: u8) -> bool {
        let is_archived = flags & ARCHIVED != 0;
        flags & REFUSED == 0
            && (!self.records_only || flags & KIND != 0)
            && self.kind.is_none_or(|kind| flags & KIND == kind_flag(Some(kind)))
            && self
                .status
                .is_none_or(|status| is_archived == (status == RecordStatus::Archived))
    }
}

impl Storage {
    /// The nearest passages whose records and newest versions pass the filter at this moment, nearest first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn nearest_passages(&self, wanted: Nearest<'_>) -> Result<Vec<Near>, StorageError> {
        let _permit = self.search_permit().await?;
        let mut transaction = self.begin(Class::Search).await?;
        let (memories, places) = nearest_by_signs(&mut transaction, &wanted).await?;
        let filter = wanted.filter;
        // Between the two statements a memory may have been embedded again. Then another passage is at this position,
        // with its own hash, flags, number and vector. A passage is of a record, or else of the newest version.
        let rows = sqlx::query!(
            r#"SELECT v.memory_id, substr(v.hashes, place * $5 + 1, $5) AS "hash!", passage.flags AS "flags!",
                      passage.number AS "number!", substr(v.vectors, place * $6 + 1, $6) AS "vector!"
               FROM unnest($3::text[], $4::int[]) AS wanted (memory_id, place)
               JOIN search_vectors v ON v.memory_id = wanted.memory_id
               CROSS JOIN LATERAL (
                   SELECT get_byte(v.flags, place) AS flags, v.numbers[place + 1] AS number
               ) AS passage
               LEFT JOIN records r
                 ON r.vault_id = $1 AND r.memory_id = v.memory_id AND r.kind = ($7::text[])[passage.flags & $8]
                AND r.number = passage.number
               LEFT JOIN memories m
                 ON m.vault_id = $1 AND m.memory_id = v.memory_id AND passage.flags & $8 = 0
               LEFT JOIN memory_contexts c
                 ON c.vault_id = $1 AND c.memory_id = m.memory_id AND c.version = m.head_version
               WHERE v.vault_id = $1 AND v.space_id = $2 AND place < octet_length(v.flags)
                 AND ($9::text IS NULL OR r.status IS NULL OR r.status = $9)
                 AND ($10::text IS NULL OR COALESCE(r.created_by, c.actor_id) = $10)
                 AND ($11::timestamptz IS NULL OR COALESCE(r.created_at, c.creation_time) >= $11)
                 AND COALESCE(r.created_at, c.creation_time) < COALESCE($12::timestamptz, 'infinity')"#,
            wanted.vault.as_str(),
            wanted.space,
            &memories as &[MemoryId],
            &places,
            i32::try_from(HASH_BYTES).unwrap_or(i32::MAX),
            i32::try_from(wanted.query.len()).unwrap_or(i32::MAX),
            &RecordKind::ALL.map(RecordKind::prefix) as &[&str],
            i32::from(KIND),
            filter.status.map(RecordStatus::name),
            filter.actor.as_ref().map(ActorId::as_str),
            filter.since,
            filter.until,
        )
        .fetch_all(&mut transaction)
        .await?;
        transaction.commit().await?;
        let bytes = rows.iter().map(|row| row.vector.len()).sum();
        Ok(fair::on_cpu(bytes, || {
            let near = rows.into_iter().filter_map(|row| {
                let flags = u8::try_from(row.flags).ok();
                let flags = flags.filter(|flags| filter.takes(*flags))?;
                Some(Near {
                    memory: row.memory_id,
                    record: record_of(flags, row.number),
                    hash: row.hash.try_into().ok()?,
                    score: similarity(wanted.query, &row.vector),
                })
            });
            let mut all: Vec<Near> = near.collect();
            all.sort_by(by_score);
            all
        })
        .await)
    }
}

/// The memories and positions of the passages whose signs are nearest. Filtered by flags only, which describe the state when a
/// memory was embedded.
async fn nearest_by_signs(
    connection: &mut Connection,
    wanted: &Nearest<'_>,
) -> Result<(Vec<MemoryId>, Vec<i32>), StorageError> {
    let query_signs = signs(wanted.query);
    let bytes = sign_bytes(wanted.query.len());
    let mut memories: Vec<MemoryId> = Vec::new();
    // By Hamming distance, the farthest first; each with its memory and its position there.
    let mut best: BinaryHeap<(u32, usize, usize)> = BinaryHeap::with_capacity(wanted.limit);
    let mut rows = sqlx::query!(
        "SELECT memory_id, flags, signs FROM search_vectors
         WHERE vault_id = $1 AND space_id = $2 AND ($3::text IS NULL OR memory_id = $3)",
        wanted.vault.as_str(),
        wanted.space,
        wanted.memory.map(MemoryId::as_str),
    )
    .fetch(connection);
    while let Some(row) = rows.try_next().await? {
        let all = row.flags.iter().zip(row.signs.chunks_exact(bytes)).enumerate();
        for (place, (_, signs)) in all.filter(|(_, (flags, _))| wanted.filter.takes(**flags)) {
            let distance = distance(&query_signs, signs);
            if best.len() == wanted.limit {
                if best.peek().is_none_or(|(farthest, ..)| *farthest <= distance) {
                    continue;
                }
                best.pop();
            }
            best.push((distance, memories.len(), place));
        }
        memories.push(row.memory_id);
    }
    let place = |(_, memory, place): (u32, usize, usize)| {
        (memories[memory].clone(), i32::try_from(place).unwrap_or(i32::MAX))
    };
    Ok(best.into_iter().map(place).unzip())
}

/// Nearest first; ties by memory and passage, so that the order is deterministic.
fn by_score(one: &Near, other: &Near) -> Ordering {
    let by_place = || one.memory.cmp(&other.memory).then(one.hash.cmp(&other.hash));
    other.score.total_cmp(&one.score).then_with(by_place)
}
