//! Rebuilds records and their history from the versions.

use crate::domain::history::{Rebuild, RecordEvent, RecordLife, VersionMark};
use crate::domain::ids::{MemoryId, RecordId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::database::listen::notify;
use crate::storage::database::notification::Notification;
use crate::storage::records::history;
use crate::storage::records::projection::ProjectedVersion;
use crate::storage::records::{RecordRow, write};
use crate::storage::write::lock_memory;
use crate::storage::{Class, Storage, StorageError, records};
use futures::TryStreamExt as _;
use std::collections::{HashMap, HashSet};
use std::slice::from_ref;

/// The result of a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rebuilt {
    /// Memories that were checked.
    pub memories: u64,
    /// Memories whose records or history differed from the versions and were corrected.
    pub mended: u64,
}

impl Storage {
    /// Rebuilds `records` and `record_changes` from the versions: of all memories, of one vault, or of one memory. Each
    /// memory is rebuilt in one transaction under the lock of its row. Facts that the remaining versions do not contain
    /// (see [`crate::domain::history`]) are kept.
    ///
    /// # Errors
    /// Database errors; memories rebuilt before stay so.
    pub async fn rebuild_records(
        &self,
        vault: Option<&VaultId>,
        memory: Option<&MemoryId>,
    ) -> Result<Rebuilt, StorageError> {
        let mut rebuilt = Rebuilt::default();
        let mut last = None;
        loop {
            let mut page = self.candidates(last.as_ref(), (vault, memory), 0).await?;
            for of in &page {
                if let Some(mended) = self.rebuild_memory(&of.vault_id, &of.memory_id).await? {
                    rebuilt.memories += 1;
                    rebuilt.mended += u64::from(mended);
                }
            }
            last = page.pop();
            if last.is_none() {
                return Ok(rebuilt);
            }
        }
    }

    /// Whether anything was corrected; `None` if the memory was deleted meanwhile.
    async fn rebuild_memory(&self, vault: &VaultId, memory: &MemoryId) -> Result<Option<bool>, StorageError> {
        self.transaction_for(
            Class::Maintenance,
            "db.records.rebuild",
            |mut transaction| async move {
                if lock_memory(&mut transaction, vault, memory).await?.is_none() {
                    return Ok((transaction.rollback().await?, None));
                }
                let mended = project_versions(&mut transaction, vault, memory).await?;
                if mended {
                    let notification = Notification {
                        forget: true,
                        ..Notification::of(vault, memory)
                    };
                    notify(&mut transaction, from_ref(&notification)).await?;
                }
                Ok((transaction, Some(mended)))
            },
        )
        .await
    }
}

/// Makes a memory's records and their history match its versions. Returns whether they differed. The memory's row must
/// be locked.
pub(in crate::storage) async fn project_versions(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<bool, StorageError> {
    let mut events = history::all(connection, vault, memory).await?;
    events.sort_by_key(|event| (event.mark.version, event.id));
    let stored = records::all(connection, (vault, memory)).await?.into_iter();
    let mut lives: Vec<RecordLife> = stored.map(RecordLife::from).collect();
    lives.sort_by_key(|life| life.record.id);
    let rebuild = Rebuild::new(lives.clone(), events.clone());
    let (new_lives, new_events) = read_versions(connection, vault, memory, rebuild).await?;
    let (same_lives, same_events) = (new_lives == lives, new_events == events);
    if !same_lives {
        let stored: HashMap<RecordId, &RecordLife> =
            lives.iter().map(|life| (life.record.id, life)).collect();
        let new: HashSet<RecordId> = new_lives.iter().map(|life| life.record.id).collect();
        let removed: Vec<RecordId> = stored.keys().copied().filter(|id| !new.contains(id)).collect();
        delete_records(connection, vault, memory, &removed).await?;
        let differs = |life: &&RecordLife| stored.get(&life.record.id) != Some(life);
        let written = new_lives.iter().filter(differs).cloned();
        let rows: Vec<RecordRow> = written.map(RecordRow::of).collect();
        write(connection, (vault, memory), &rows).await?;
    }
    if !same_events {
        history::clear(connection, vault, memory).await?;
        history::insert(connection, vault, memory, &new_events).await?;
    }
    Ok(!(same_lives && same_events))
}

/// Passes all versions to a rebuild, one after another: each may have 100 KiB or more.
async fn read_versions(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    mut rebuild: Rebuild,
) -> Result<(Vec<RecordLife>, Vec<RecordEvent>), StorageError> {
    let mut rows = sqlx::query!(
        r#"SELECT version, actor_id, creation_time, context, source, operations, redacted_at IS NOT NULL AS "redacted!"
           FROM memory_contexts
           WHERE vault_id = $1 AND memory_id = $2
           ORDER BY version"#,
        vault.as_str(),
        memory.as_str(),
    )
    .fetch(connection);
    while let Some(row) = rows.try_next().await? {
        let version = ProjectedVersion {
            mark: VersionMark {
                version: row.version,
                at: row.creation_time,
                by: row.actor_id,
            },
            source: row.source,
            text: (!row.redacted).then_some(row.context.as_str()),
            operations: row.operations.as_ref(),
        };
        version.add_to(&mut rebuild);
    }
    Ok(rebuild.finish())
}

pub(super) async fn delete_records(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    ids: &[RecordId],
) -> Result<(), StorageError> {
    let kinds: Vec<&str> = ids.iter().map(|id| id.kind.prefix()).collect();
    let numbers: Vec<i64> = ids.iter().map(|id| id.number).collect();
    sqlx::query!(
        "DELETE FROM records
         WHERE vault_id = $1 AND memory_id = $2
           AND (kind, number) IN (SELECT * FROM unnest($3::text[], $4::bigint[]))",
        vault.as_str(),
        memory.as_str(),
        &kinds as &[&str],
        &numbers,
    )
    .execute(connection)
    .await?;
    Ok(())
}
