//! The source of a memory's passages, its newest document and its records, and the origins of these.

use crate::domain::document::Marks;
use crate::domain::evidence::Evidence;
use crate::domain::history::RecordLife;
use crate::domain::ids::{ActorId, ContextId, MemoryId, RecordId, RecordKind, VaultId};
use crate::domain::search::Passage;
use crate::storage::contexts::{Context, latest};
use crate::storage::database::connection::Connection;
use crate::storage::records::{RecordStatus, marks_of, record_rows};
use crate::storage::{Class, Storage, StorageError};
use chrono::{DateTime, Utc};
use sqlx::types::Json;
use std::collections::HashMap;

/// Maximum number of records of a memory that search covers: the active ones, then the most recent.
const RECORDS: i64 = 5_000;

/// A memory's newest document with its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// Its version.
    pub version: i64,
    /// That version's id.
    pub context_id: ContextId,
    /// When it was created.
    pub creation_time: DateTime<Utc>,
    /// Who created it.
    pub actor: ActorId,
    /// Its text.
    pub text: String,
    /// Its records.
    pub records: Vec<RecordLife>,
}

impl Sources {
    /// The size of its texts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let contents = self.records.iter().map(|stored| stored.record.content.len());
        self.text.len() + contents.sum::<usize>()
    }

    /// All passages, each with its record if it belongs to one.
    pub fn passages(&self) -> impl Iterator<Item = (Passage, Option<&RecordLife>)> {
        let of_records = self.records.iter().flat_map(|stored| {
            let record = &stored.record;
            let (label, reason) = (record.label.as_deref(), record.reason.as_deref());
            let passages = Passage::of_record(record.id, label, reason, &record.content).into_iter();
            passages.map(move |passage| (passage, Some(stored)))
        });
        let of_text = Passage::of_document(&self.text).into_iter();
        of_records.chain(of_text.map(|passage| (passage, None)))
    }
}

impl Storage {
    /// The current document of a memory and its records; `None` if the memory does not exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn search_sources(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        class: Class,
    ) -> Result<Option<Sources>, StorageError> {
        let mut transaction = self.begin(class).await?;
        let sources = read_sources(&mut transaction, vault, memory).await?;
        transaction.commit().await?;
        Ok(sources)
    }
}

pub(super) async fn read_sources(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<Option<Sources>, StorageError> {
    let Some((Context { metadata, text }, _)) = latest(connection, vault, memory).await? else {
        return Ok(None);
    };
    let records = record_rows!(
        "WHERE vault_id = $1 AND memory_id = $2
           ORDER BY status, created_version DESC, kind, number
           LIMIT $3",
        vault.as_str(),
        memory.as_str(),
        RECORDS,
    )
    .fetch_all(&mut *connection)
    .await?;
    Ok(Some(Sources {
        version: metadata.version,
        context_id: metadata.context_id,
        creation_time: metadata.creation_time,
        actor: metadata.actor_id,
        text,
        records: records.into_iter().map(RecordLife::from).collect(),
    }))
}

impl Storage {
    /// The origins of those of the records that exist.
    ///
    /// # Errors
    /// Database errors; evidence in an unexpected form.
    pub async fn record_origins(
        &self,
        vault: &VaultId,
        records: &[(&MemoryId, RecordId)],
    ) -> Result<HashMap<(MemoryId, RecordId), RecordOrigin>, StorageError> {
        if records.is_empty() {
            return Ok(HashMap::new());
        }
        let memories: Vec<&str> = records.iter().map(|(memory, _)| memory.as_str()).collect();
        let kinds: Vec<&str> = records.iter().map(|(_, id)| id.kind.prefix()).collect();
        let numbers: Vec<i64> = records.iter().map(|(_, id)| id.number).collect();
        let rows = sqlx::query!(
            r#"SELECT r.memory_id AS "memory_id: MemoryId", r.kind AS "kind: RecordKind", r.number,
                      r.status AS "status: RecordStatus", r.created_version, r.created_at,
                      r.created_by AS "created_by: ActorId", r.marks,
                      (SELECT jsonb_path_query_first(
                                v.operations,
                                '$[*] ? (@.op == "add" && @.id == $id && @.evidence.type() == "array").evidence',
                                jsonb_build_object('id', r.kind || '-' || r.number)
                              )
                       FROM memory_contexts v
                       WHERE v.vault_id = $1 AND v.memory_id = r.memory_id AND v.version = r.created_version
                         AND v.operations IS NOT NULL) AS "evidence: Json<Vec<Evidence>>"
               FROM unnest($2::text[], $3::text[], $4::bigint[]) AS wanted (memory_id, kind, number)
               JOIN records r
                 ON r.memory_id = wanted.memory_id AND r.kind = wanted.kind AND r.number = wanted.number
               WHERE r.vault_id = $1"#,
            vault.as_str(),
            &memories as &[&str],
            &kinds as &[&str],
            &numbers,
        )
        .fetch_all(&mut self.reader_for(Class::Search).await?)
        .await?;
        let origins = rows.into_iter().map(|row| {
            let origin = RecordOrigin {
                status: row.status,
                version: row.created_version,
                at: row.created_at,
                by: row.created_by,
                marks: marks_of(row.marks.as_deref()),
                evidence: row.evidence.map(|Json(passages)| passages).unwrap_or_default(),
            };
            ((row.memory_id, RecordId::new(row.kind, row.number)), origin)
        });
        Ok(origins.collect())
    }
}

/// The origin of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordOrigin {
    /// Whether it is in the newest version.
    pub status: RecordStatus,
    /// The version that introduced it.
    pub version: i64,
    /// When that version was created.
    pub at: DateTime<Utc>,
    /// Who created it.
    pub by: ActorId,
    /// Whether it is pinned, and until when it holds.
    pub marks: Marks,
    /// The passages of the input that support the record.
    pub evidence: Vec<Evidence>,
}
