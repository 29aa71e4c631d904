//! Reads versions of documents: `memory_contexts`.

pub mod origins;
mod version;

pub use version::{Context, ContextMetadata, ContextRef, Redaction, Source};

use crate::domain::document::Origins;
use crate::domain::ids::{ActorId, ContextId, MemoryId, UpdateId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::head_cache::CachedHead;
use crate::storage::pages::{Reading, Rows};
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};
use std::collections::HashSet;
use std::sync::Arc;

/// A row of `memory_contexts`; `context` is empty in statements that omit it.
struct Row {
    vault_id: VaultId,
    memory_id: MemoryId,
    context_id: ContextId,
    actor_id: ActorId,
    context: String,
    creation_time: DateTime<Utc>,
    version: i64,
    source: Source,
    bytes: i32,
    update_id: Option<UpdateId>,
    log: String,
    redacted_at: Option<DateTime<Utc>>,
    redacted_by: Option<ActorId>,
    redaction_reason: Option<String>,
    redacted_sha256: Option<String>,
    /// Read only with a newest version, because the next version needs it.
    line_origins: Option<Vec<i64>>,
}

/// A checked query for rows of `memory_contexts`: what is read of their texts, and how the query continues after `FROM`.
macro_rules! context_rows {
    ($texts:literal, $from:literal, $($argument:expr),+ $(,)?) => {
        sqlx::query_as!(
            Row,
            "SELECT vault_id, memory_id, context_id, actor_id, creation_time, version, source, bytes, update_id, log,
                    redacted_at, redacted_by, redaction_reason, redacted_sha256, " + $texts + " FROM " + $from,
            $($argument),+
        )
    };
}

impl Row {
    /// The version, with the origins of its lines if they were read.
    fn with_origins(mut self) -> (Context, Option<Origins>) {
        let stored = self.line_origins.take();
        let context = self.into_context();
        let origins = stored.and_then(|stored| origins::from_stored(&stored, &context.text));
        (context, origins)
    }

    fn into_context(self) -> Context {
        let metadata = ContextMetadata {
            vault_id: self.vault_id,
            memory_id: self.memory_id,
            context_id: self.context_id,
            version: self.version,
            actor_id: self.actor_id,
            creation_time: self.creation_time,
            source: self.source,
            bytes: self.bytes,
            update_id: self.update_id,
            log: self.log,
            redaction: match (
                self.redacted_at,
                self.redacted_by,
                self.redaction_reason,
                self.redacted_sha256,
            ) {
                (Some(at), Some(by), Some(reason), Some(sha256)) => Some(Redaction {
                    at,
                    by,
                    reason,
                    sha256,
                }),
                _ => None,
            },
        };
        Context {
            metadata,
            text: self.context,
        }
    }
}

impl Storage {
    /// The newest version of a memory, possibly from the head cache (see `storage::head_cache` for its staleness),
    /// without its log; `None` if the memory does not exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn recent_context(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Option<Arc<Context>>, StorageError> {
        Ok(self.recent_head(vault, memory).await?.map(|head| head.context))
    }

    /// As [`Self::recent_context`], with the origins of its lines if they are stored.
    pub(super) async fn recent_head(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Option<CachedHead>, StorageError> {
        // Keeps the lease renewed while there are readers.
        self.liveness.want_beat();
        match self.head_cache.get(vault, memory) {
            Some(kept) => Ok(Some(kept)),
            // Boxed, because most reads are served from the head cache and do not need it.
            None => Box::pin(self.latest_head(vault, memory)).await,
        }
    }

    /// The newest version of a memory, read from the database, without its log; `None` if the memory does not exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn latest_context(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Option<Context>, StorageError> {
        let head = Box::pin(self.latest_head(vault, memory)).await?;
        Ok(head.map(|head| Arc::unwrap_or_clone(head.context)))
    }

    /// The version that was the newest at `time`; `None` if there was none yet, or if it may have been pruned: if its
    /// successor is missing, it cannot be known which version was the newest.
    ///
    /// # Errors
    /// Database errors.
    pub async fn context_as_of(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        time: DateTime<Utc>,
    ) -> Result<Option<Context>, StorageError> {
        let row = context_rows!(
            "context, NULL::bigint[] AS line_origins",
            "memory_contexts AS newest
             WHERE vault_id = $1 AND memory_id = $2 AND version = (
                       SELECT version FROM memory_contexts
                       WHERE vault_id = $1 AND memory_id = $2 AND creation_time <= $3
                       ORDER BY creation_time DESC, version DESC
                       LIMIT 1
                   )
               AND (NOT EXISTS (
                        SELECT 1 FROM memory_contexts AS later
                        WHERE later.vault_id = $1 AND later.memory_id = $2 AND later.version > newest.version
                    )
                    OR EXISTS (
                        SELECT 1 FROM memory_contexts AS next
                        WHERE next.vault_id = $1 AND next.memory_id = $2 AND next.version = newest.version + 1
                    ))",
            vault.as_str(),
            memory.as_str(),
            time,
        )
        .fetch_optional(&mut self.reader().await?)
        .await?;
        Ok(row.map(Row::into_context))
    }

    /// A version; `None` if the memory or the version does not exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn context(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        reference: &ContextRef,
    ) -> Result<Option<Context>, StorageError> {
        let mut connection = self.reader().await?;
        find_context(&mut connection, vault, memory, reference).await
    }
}

/// The newest version of a memory.
pub(super) async fn latest(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<Option<(Context, Option<Origins>)>, StorageError> {
    let row = context_rows!(
        "context, line_origins",
        "memory_contexts
         WHERE vault_id = $1 AND memory_id = $2
         ORDER BY version DESC
         LIMIT 1",
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(Row::with_origins))
}

/// The newest versions of those of the memories that exist, in any vaults, in one statement.
pub(super) async fn latest_of(
    connection: &mut Connection,
    wanted: &HashSet<(&VaultId, &MemoryId)>,
) -> Result<Vec<CachedHead>, StorageError> {
    let (vaults, memories): (Vec<&str>, Vec<&str>) = wanted
        .iter()
        .map(|(vault, memory)| (vault.as_str(), memory.as_str()))
        .unzip();
    let rows = context_rows!(
        "context, line_origins",
        "unnest((SELECT $1::text[]), $2::text[]) AS wanted (vault, memory)
         CROSS JOIN LATERAL (
             SELECT * FROM memory_contexts
             WHERE vault_id = wanted.vault AND memory_id = wanted.memory
             ORDER BY version DESC
             LIMIT 1
         ) AS newest",
        &vaults as &[&str],
        &memories as &[&str],
    )
    .fetch_all(connection)
    .await?;
    let newest = rows.into_iter().map(Row::with_origins);
    Ok(newest.map(CachedHead::new).collect())
}

/// As [`Storage::context`], on a connection, which may be in a transaction.
pub(super) async fn find_context(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    reference: &ContextRef,
) -> Result<Option<Context>, StorageError> {
    let (version, id) = match reference {
        ContextRef::Version(version) => (Some(*version), None),
        ContextRef::Id(id) => (None, Some(id.as_str())),
    };
    let row = context_rows!(
        "context, NULL::bigint[] AS line_origins",
        "memory_contexts
         WHERE vault_id = $1 AND memory_id = $2
           AND version = COALESCE($3, (
                   SELECT named.version FROM memory_contexts AS named
                   WHERE named.vault_id = $1 AND named.memory_id = $2 AND named.context_id = $4
               ))",
        vault.as_str(),
        memory.as_str(),
        version,
        id,
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(Row::into_context))
}

impl Storage {
    /// Versions with numbers below `before` (all if `None`), newest first, at most `limit`, without texts. Empty if the
    /// memory does not exist: every memory has at least one version.
    ///
    /// # Errors
    /// Database errors.
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
            let read = self.metadata((vault, memory), None, before, batch).await?;
            page.add(read, |version| version.log.len());
        }
        Ok(page.rows())
    }

    /// Versions, of these or all numbers and below `before`, newest first, at most `limit`, without texts.
    async fn metadata(
        &self,
        (vault, memory): (&VaultId, &MemoryId),
        among: Option<&[i64]>,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<ContextMetadata>, StorageError> {
        let rows = context_rows!(
            r#"'' AS "context!", NULL::bigint[] AS line_origins"#,
            "memory_contexts
             WHERE vault_id = $1 AND memory_id = $2 AND version < $3 AND ($4::bigint[] IS NULL OR version = ANY ($4))
             ORDER BY version DESC
             LIMIT $5",
            vault.as_str(),
            memory.as_str(),
            before.unwrap_or(i64::MAX),
            among,
            limit,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(rows.into_iter().map(|row| row.into_context().metadata).collect())
    }
}
