//! The source of a memory's passages: its newest document and its records.

use crate::domain::ids::{ActorId, ContextId, MemoryId, RecordId, RecordKind, VaultId};
use crate::domain::search::Passage;
use crate::storage::database::connection::Connection;
use crate::storage::records::RecordStatus;
use crate::storage::{Class, Storage, StorageError};
use chrono::{DateTime, Utc};

/// Maximum number of records of a memory that search covers: the active ones, then the most recent.
const RECORDS: i64 = 5_000;

/// A record as used by search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRecord {
    /// Its id.
    pub id: RecordId,
    /// Whether it is in the newest version.
    pub status: RecordStatus,
    /// Its label.
    pub label: Option<String>,
    /// Its reason.
    pub reason: Option<String>,
    /// Its content.
    pub content: String,
    /// The version that introduced it.
    pub version: i64,
    /// When that version was created.
    pub created_at: DateTime<Utc>,
    /// Who created it.
    pub created_by: ActorId,
}

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
    pub records: Vec<SourceRecord>,
}

impl SourceRecord {
    /// Its passages.
    #[must_use]
    pub fn passages(&self) -> Vec<Passage> {
        Passage::of_record(
            self.id,
            self.label.as_deref(),
            self.reason.as_deref(),
            &self.content,
        )
    }
}

impl Sources {
    /// All passages, each with its record if it belongs to one.
    pub fn passages(&self) -> impl Iterator<Item = (Passage, Option<&SourceRecord>)> {
        let of_records = self.records.iter().flat_map(|record| {
            let passages = record.passages().into_iter();
            passages.map(move |passage| (passage, Some(record)))
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

#[tracing::instrument(name = "db.records.sources", skip_all)]
pub(super) async fn read_sources(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<Option<Sources>, StorageError> {
    let head = sqlx::query!(
        "SELECT c.version, c.context_id, c.creation_time, c.actor_id, c.context
         FROM memories m
         JOIN memory_contexts c
           ON c.vault_id = m.vault_id AND c.memory_id = m.memory_id AND c.version = m.head_version
         WHERE m.vault_id = $1 AND m.memory_id = $2 AND c.vault_id = $1 AND c.memory_id = $2",
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(head) = head else { return Ok(None) };
    let records = sqlx::query!(
        r#"SELECT kind AS "kind: RecordKind", number, status AS "status: RecordStatus", label, reason, content,
                  created_version, created_at, created_by
           FROM records
           WHERE vault_id = $1 AND memory_id = $2
           ORDER BY status, created_version DESC, kind, number
           LIMIT $3"#,
        vault.as_str(),
        memory.as_str(),
        RECORDS,
    )
    .fetch_all(&mut *connection)
    .await?;
    let records = records.into_iter().map(|row| SourceRecord {
        id: RecordId::new(row.kind, row.number),
        status: row.status,
        label: row.label,
        reason: row.reason,
        content: row.content,
        version: row.created_version,
        created_at: row.created_at,
        created_by: row.created_by,
    });
    Ok(Some(Sources {
        version: head.version,
        context_id: head.context_id,
        creation_time: head.creation_time,
        actor: head.actor_id,
        text: head.context,
        records: records.collect(),
    }))
}
