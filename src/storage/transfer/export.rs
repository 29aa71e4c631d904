//! Exports a vault as lines: one read-only snapshot for each memory, rows written as they arrive.

use super::lines::{ContextLine, End, Footer, Header, Line, MemoryLine, PathLine, line_of};
use super::{FORMAT, FORMAT_VERSION};
use crate::domain::history::{Rebuild, RecordLife};
use crate::domain::ids::{MemoryId, VaultId};
use crate::domain::memory_files::FilePath;
use crate::storage::database::connect::SEE_ONE_MOMENT;
use crate::storage::database::connection::Connection;
use crate::storage::prompt_items::{ItemFilter, ItemOwner, live_items};
use crate::storage::records::RecordRow;
use crate::storage::updates::find_run;
use crate::storage::{Class, Storage, StorageError, handoffs, records};
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// Memories on one page of ids.
const PAGE: i64 = 1_000;

/// Why an export ended before its footer.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is nothing to export.
    #[error("the vault {0} has no memories in this database")]
    NoSuchVault(VaultId),
    /// The memory does not exist.
    #[error("the vault {0} has no memory {1}")]
    NoSuchMemory(VaultId, MemoryId),
    /// The file cannot be written.
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<sqlx::Error> for ExportError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}

impl Storage {
    /// Exports a vault, or one memory of it, to `out`. Memory use depends on the largest row and the records of one memory.
    /// Each memory is a consistent snapshot; two memories may be from different moments. Memories deleted meanwhile are omitted.
    ///
    /// # Errors
    /// As [`ExportError`] says; `out` has no footer then.
    pub async fn export_vault<W: AsyncWrite + Unpin>(
        &self,
        vault: &VaultId,
        only: Option<&MemoryId>,
        out: &mut W,
    ) -> Result<(), ExportError> {
        let mut page = match only {
            Some(memory) => vec![memory.clone()],
            None => self.page(vault, None).await?,
        };
        let of_vault = ItemOwner {
            vault: vault.clone(),
            memory: None,
        };
        if page.is_empty() && self.list_items(&of_vault, None, None, 1).await?.is_empty() {
            return Err(ExportError::NoSuchVault(vault.clone()));
        }
        let mut export = Export {
            storage: self,
            vault,
            out,
            line: Vec::new(),
            hash: Sha256::new(),
            memories: 0,
        };
        let header = Header {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            vault_id: vault.clone(),
        };
        export.write(&Line::Header(header)).await?;
        if only.is_none() {
            let mut reader = self.reader_for(Class::Maintenance).await?;
            export.items(&mut reader, None, self.clock.now()).await?;
        }
        while let Some(last) = page.last() {
            for memory in &page {
                export.memory(memory).await?;
            }
            page = match only {
                Some(_) => Vec::new(),
                None => self.page(vault, Some(last)).await?,
            };
        }
        let memories = export.memories;
        if let (Some(memory), 0) = (only, memories) {
            return Err(ExportError::NoSuchMemory(vault.clone(), memory.clone()));
        }
        export.write(&Line::Footer(Footer { memories })).await?;
        out.flush().await.map_err(ExportError::Write)
    }

    /// A page of ids of memories after `after`, sorted by bytes whatever the database's collation is, because the file must
    /// not depend on it. Empty after the last one.
    async fn page(&self, vault: &VaultId, after: Option<&MemoryId>) -> Result<Vec<MemoryId>, StorageError> {
        let ids = sqlx::query_scalar!(
            r#"SELECT memory_id FROM memories
               WHERE vault_id = $1 AND memory_id COLLATE "C" > $2
               ORDER BY memory_id COLLATE "C"
               LIMIT $3"#,
            vault.as_str(),
            after.map_or("", MemoryId::as_str),
            PAGE,
        )
        .fetch_all(&mut self.reader_for(Class::Maintenance).await?)
        .await?;
        Ok(ids)
    }
}

/// A running export.
struct Export<'e, W> {
    storage: &'e Storage,
    vault: &'e VaultId,
    out: &'e mut W,
    /// Buffer, reused for every line.
    line: Vec<u8>,
    /// The hash of this memory's lines.
    hash: Sha256,
    /// Complete memories.
    memories: u64,
}

impl<W: AsyncWrite + Unpin> Export<'_, W> {
    async fn memory(&mut self, memory: &MemoryId) -> Result<(), ExportError> {
        let mut snapshot = self.storage.begin(Class::Maintenance).await?;
        sqlx::raw_sql(SEE_ONE_MOMENT).execute(&mut snapshot).await?;
        let now = self.storage.clock.now();
        let Some(row) = self.row(&mut snapshot, memory, now).await? else {
            return Ok(());
        };
        self.hash.reset();
        self.write(&Line::Memory(Box::new(row))).await?;
        let following = self.contexts(&mut snapshot, memory).await?;
        self.records(&mut snapshot, memory, following).await?;
        self.runs(&mut snapshot, memory).await?;
        self.handoffs(&mut snapshot, memory).await?;
        self.items(&mut snapshot, Some(memory), now).await?;
        self.path(&mut snapshot, memory).await?;
        snapshot.commit().await?;
        self.memories += 1;
        let end = End {
            memory_id: memory.clone(),
            sha256: hex::encode(self.hash.finalize_reset()),
        };
        self.write(&Line::End(end)).await
    }

    /// The memory's row; `None` if it has neither a document nor unexpired items.
    async fn row(
        &self,
        connection: &mut Connection,
        memory: &MemoryId,
        now: DateTime<Utc>,
    ) -> Result<Option<MemoryLine>, ExportError> {
        let row = sqlx::query_as!(
            MemoryLine,
            r#"SELECT memory_id, head_version, head_context_id,
                      COALESCE(counters[1], 0) AS "learning_counter!", COALESCE(counters[2], 0) AS "verbatim_counter!",
                      COALESCE(counters[3], 0) AS "task_counter!", COALESCE(counters[4], 0) AS "decision_counter!",
                      created_at, changed_at
               FROM memories
               WHERE vault_id = $1 AND memory_id = $2
                 AND (head_version > 0 OR EXISTS (
                     SELECT 1 FROM prompt_items AS item
                     WHERE item.vault_id = $1 AND item.memory_id = $2
                       AND (item.expires_at IS NULL OR item.expires_at > $3)))"#,
            self.vault.as_str(),
            memory.as_str(),
            now,
        )
        .fetch_optional(connection)
        .await?;
        Ok(row)
    }

    /// The versions, oldest first; returns what follows from them.
    async fn contexts(
        &mut self,
        connection: &mut Connection,
        memory: &MemoryId,
    ) -> Result<Vec<RecordLife>, ExportError> {
        let vault = self.vault;
        let mut rebuild = Rebuild::new(Vec::new(), Vec::new());
        let mut rows = sqlx::query_as!(
            ContextLine,
            "SELECT context_id, version, actor_id, creation_time, source, bytes, update_id, operations, log, context, line_origins,
                    redacted_at, redacted_by, redaction_reason, redacted_sha256
             FROM memory_contexts
             WHERE vault_id = $1 AND memory_id = $2
             ORDER BY version",
            vault.as_str(),
            memory.as_str(),
        )
        .fetch(connection);
        // The version whose lines say which lines of the next are new, if its text is there; the first adds to nothing.
        let mut before = Some(0);
        while let Some(mut row) = rows.try_next().await? {
            if before == Some(row.version - 1) || row.is_redacted() {
                row.line_origins = None;
            }
            before = (!row.is_redacted()).then_some(row.version);
            // What follows from the versions counts only if the texts of all of them exist.
            if rebuild.is_whole() {
                row.add_to(&mut rebuild);
            }
            self.write(&Line::Context(Box::new(row))).await?;
        }
        Ok(match rebuild.is_whole() {
            true => rebuild.finish().0,
            false => Vec::new(),
        })
    }

    /// Those records that do not follow from the versions: all of them if a version was pruned or redacted.
    async fn records(
        &mut self,
        connection: &mut Connection,
        memory: &MemoryId,
        following: Vec<RecordLife>,
    ) -> Result<(), ExportError> {
        let following = following
            .into_iter()
            .map(|life| (life.record.id, RecordRow::of(life)));
        let following: HashMap<_, _> = following.collect();
        let mut rows = records::all(connection, (self.vault, memory)).await?;
        rows.retain(|row| following.get(&row.id()) != Some(row));
        rows.sort_unstable_by_key(|row| (row.kind.prefix(), row.number));
        for row in rows {
            self.write(&Line::Record(Box::new(row))).await?;
        }
        Ok(())
    }

    /// The finished runs by id. Queued runs are not exported: the exporting service runs them.
    async fn runs(&mut self, connection: &mut Connection, memory: &MemoryId) -> Result<(), ExportError> {
        let ids = sqlx::query_scalar!(
            r#"SELECT update_id FROM updates
               WHERE vault_id = $1 AND memory_id = $2 AND finished_at IS NOT NULL
               ORDER BY update_id COLLATE "C""#,
            self.vault.as_str(),
            memory.as_str(),
        )
        .fetch_all(&mut *connection)
        .await?;
        for id in ids {
            if let Some(run) = find_run(connection, self.vault, memory, &id).await? {
                self.write(&line_of(&run)).await?;
            }
        }
        Ok(())
    }

    /// The handoffs by number.
    async fn handoffs(&mut self, connection: &mut Connection, memory: &MemoryId) -> Result<(), ExportError> {
        let of = (self.vault, memory);
        let newest_first = handoffs::list(connection, of, None, None, i64::MAX, true).await?;
        for handoff in newest_first.into_iter().rev() {
            self.write(&Line::Handoff(Box::new(handoff))).await?;
        }
        Ok(())
    }

    /// The unexpired items of a memory, or of the vault itself, by id.
    async fn items(
        &mut self,
        connection: &mut Connection,
        memory: Option<&MemoryId>,
        now: DateTime<Utc>,
    ) -> Result<(), ExportError> {
        let owner = ItemOwner {
            vault: self.vault.clone(),
            memory: memory.cloned(),
        };
        let mut items = live_items(connection, &owner, ItemFilter::default(), None, now, i64::MAX).await?;
        items.sort_unstable_by(|one, other| one.item_id.cmp(&other.item_id));
        let line = match memory {
            Some(_) => Line::Item,
            None => Line::VaultItem,
        };
        for item in items {
            self.write(&line(Box::new(item))).await?;
        }
        Ok(())
    }

    /// The path, if the memory is a file.
    async fn path(&mut self, connection: &mut Connection, memory: &MemoryId) -> Result<(), ExportError> {
        let path = sqlx::query_as!(
            PathLine,
            r#"SELECT root, path AS "path: FilePath" FROM memory_paths WHERE vault_id = $1 AND memory_id = $2"#,
            self.vault.as_str(),
            memory.as_str(),
        )
        .fetch_optional(connection)
        .await?;
        match path {
            Some(path) => self.write(&Line::Path(Box::new(path))).await,
            None => Ok(()),
        }
    }

    async fn write(&mut self, line: &Line) -> Result<(), ExportError> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line).map_err(|error| ExportError::Write(error.into()))?;
        self.line.push(b'\n');
        self.hash.update(&self.line);
        self.out.write_all(&self.line).await.map_err(ExportError::Write)
    }
}
