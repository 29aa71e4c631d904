//! Finds the passages whose vectors are nearest to a query's vector.
//!
//! All passages of a vault are compared by the signs of their vectors, then the nearest ones by the full vectors. This
//! is accurate enough without an index, and the cost depends only on the size of the vault.

use super::{ARCHIVED, HASH_BYTES, KIND, REFUSED, kind_flag, record_of};
use crate::domain::history::RecordLife;
use crate::domain::ids::{ActorId, MemoryId, RecordId, RecordKind, VaultId};
use crate::domain::search::PassageHash;
use crate::domain::search::passages::{distance, sign_bytes, signs, similarity};
use crate::fair;
use crate::storage::records::RecordStatus;
use crate::storage::{Class, Storage, StorageError};
use chrono::{DateTime, Utc};
use futures::TryStreamExt;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

/// Restricts the passages. Actor and times of a record are those of the version that introduced it. Free text belongs
/// to the newest version and counts as active.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassageFilter {
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

/// A passage by position, ordered by Hamming distance of the signs; the farthest is the greatest.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    distance: u32,
    row: usize,
    place: usize,
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
        self.kind.is_none() && self.status != Some(RecordStatus::Archived) && self.takes_version(by, at)
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
            && self.kind.is_none_or(|kind| flags & KIND == kind_flag(Some(kind)))
            && self
                .status
                .is_none_or(|status| is_archived == (status == RecordStatus::Archived))
    }
}

impl Storage {
    /// The nearest passages, nearest first.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.search_vectors.nearest", skip_all)]
    pub async fn nearest_passages(&self, wanted: Nearest<'_>) -> Result<Vec<Near>, StorageError> {
        let near = self.near(&wanted).await?;
        self.that_hold(wanted.vault, near, wanted.filter).await
    }

    /// Filters by flags only, which describe the state when a memory was embedded.
    async fn near(&self, wanted: &Nearest<'_>) -> Result<Vec<Near>, StorageError> {
        let _permit = self.search_permit().await?;
        let mut transaction = self.begin(Class::Search).await?;
        let query_signs = signs(wanted.query);
        let bytes = sign_bytes(wanted.query.len());
        let mut memories: Vec<MemoryId> = Vec::new();
        let mut best: BinaryHeap<Candidate> = BinaryHeap::with_capacity(wanted.limit + 1);
        {
            let mut rows = sqlx::query!(
                "SELECT memory_id, flags, signs FROM search_vectors
                 WHERE vault_id = $1 AND space_id = $2 AND ($3::text IS NULL OR memory_id = $3)",
                wanted.vault.as_str(),
                wanted.space,
                wanted.memory.map(MemoryId::as_str),
            )
            .fetch(&mut transaction);
            while let Some(row) = rows.try_next().await? {
                let all = row.flags.iter().zip(row.signs.chunks_exact(bytes)).enumerate();
                let number = memories.len();
                for (place, (flags, signs)) in all {
                    if !wanted.filter.takes(*flags) {
                        continue;
                    }
                    let distance = distance(&query_signs, signs);
                    let is_near = best.len() < wanted.limit
                        || best.peek().is_some_and(|farthest| distance < farthest.distance);
                    if is_near {
                        best.push(Candidate {
                            distance,
                            row: number,
                            place,
                        });
                        if best.len() > wanted.limit {
                            best.pop();
                        }
                    }
                }
                memories.push(row.memory_id);
            }
        }
        let (mut of_memories, mut places) = (Vec::new(), Vec::new());
        for candidate in best {
            of_memories.push(memories[candidate.row].as_str());
            places.push(i32::try_from(candidate.place).unwrap_or(i32::MAX));
        }
        // Between the two statements a memory may have been embedded again. Then another passage is at this position,
        // with its own hash, number and vector.
        let rows = sqlx::query!(
            r#"SELECT v.memory_id, substr(v.hashes, place * $5 + 1, $5) AS "hash!", get_byte(v.flags, place) AS "flags!",
                      v.numbers[place + 1] AS "number!", substr(v.vectors, place * $6 + 1, $6) AS "vector!"
               FROM unnest($3::text[], $4::int[]) AS wanted (memory_id, place)
               JOIN search_vectors v ON v.memory_id = wanted.memory_id
               WHERE v.vault_id = $1 AND v.space_id = $2 AND place < octet_length(v.flags)"#,
            wanted.vault.as_str(),
            wanted.space,
            &of_memories as &[&str],
            &places,
            i32::try_from(HASH_BYTES).unwrap_or(i32::MAX),
            i32::try_from(wanted.query.len()).unwrap_or(i32::MAX),
        )
        .fetch_all(&mut transaction)
        .await?;
        transaction.commit().await?;
        let bytes = rows.iter().map(|row| row.vector.len()).sum();
        let near = |memory, hash: &[u8], flags: i32, number, vector: &[u8]| {
            let flags = u8::try_from(flags)
                .ok()
                .filter(|flags| wanted.filter.takes(*flags))?;
            Some(Near {
                memory,
                record: record_of(flags, number),
                hash: hash.try_into().ok()?,
                score: similarity(wanted.query, vector),
            })
        };
        Ok(fair::on_cpu(bytes, || {
            let mut all: Vec<Near> = rows
                .into_iter()
                .filter_map(|row| near(row.memory_id, &row.hash, row.flags, row.number, &row.vector))
                .collect();
            all.sort_by(by_score);
            all
        })
        .await)
    }

    /// Those whose records and newest versions pass the filter at this moment.
    #[tracing::instrument(name = "db.records.that_hold", skip_all)]
    async fn that_hold(
        &self,
        vault: &VaultId,
        near: Vec<Near>,
        filter: &PassageFilter,
    ) -> Result<Vec<Near>, StorageError> {
        let memories: Vec<&str> = near.iter().map(|near| near.memory.as_str()).collect();
        let records = || near.iter().map(|near| near.record);
        let kinds: Vec<Option<&str>> = records().map(|id| id.map(|id| id.kind.prefix())).collect();
        let numbers: Vec<Option<i64>> = records().map(|id| id.map(|id| id.number)).collect();
        // A passage is of a record, or else of the newest version.
        let places = sqlx::query_scalar!(
            r#"SELECT place AS "place!"
               FROM unnest($2::text[], $3::text[], $4::bigint[])
                    WITH ORDINALITY AS wanted (memory_id, kind, number, place)
               LEFT JOIN records r
                 ON r.vault_id = $1 AND r.memory_id = wanted.memory_id AND r.kind = wanted.kind
                AND r.number = wanted.number
               LEFT JOIN memories m
                 ON m.vault_id = $1 AND m.memory_id = wanted.memory_id AND wanted.kind IS NULL
               LEFT JOIN memory_contexts c
                 ON c.vault_id = $1 AND c.memory_id = m.memory_id AND c.version = m.head_version
               WHERE ($5::text IS NULL OR r.status IS NULL OR r.status = $5)
                 AND ($6::text IS NULL OR COALESCE(r.created_by, c.actor_id) = $6)
                 AND ($7::timestamptz IS NULL OR COALESCE(r.created_at, c.creation_time) >= $7)
                 AND COALESCE(r.created_at, c.creation_time) < COALESCE($8::timestamptz, 'infinity')"#,
            vault.as_str(),
            &memories as &[&str],
            &kinds as &[Option<&str>],
            &numbers as &[Option<i64>],
            filter.status.map(RecordStatus::name),
            filter.actor.as_ref().map(ActorId::as_str),
            filter.since,
            filter.until,
        )
        .fetch_all(&mut self.reader_for(Class::Search).await?)
        .await?;
        let places: HashSet<i64> = places.into_iter().collect();
        let near = (1..).zip(near).filter(|(place, _)| places.contains(place));
        Ok(near.map(|(_, near)| near).collect())
    }
}

/// Nearest first; ties by memory and passage, so that the order is deterministic.
fn by_score(one: &Near, other: &Near) -> Ordering {
    let by_place = || one.memory.cmp(&other.memory).then(one.hash.cmp(&other.hash));
    other.score.total_cmp(&one.score).then_with(by_place)
}
