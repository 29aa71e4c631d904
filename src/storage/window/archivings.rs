//! Why records were archived between two versions, read from `memory_contexts.operations`.

use crate::domain::ids::{MemoryId, RecordId, VaultId};
use crate::storage::{Storage, StorageError};
use std::collections::HashMap;

/// The archiving of a record by an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archiving {
    /// The version that did it.
    pub version: i64,
    /// The reason.
    pub reason: Option<String>,
    /// The record that replaced it.
    pub superseded_by: Option<String>,
}

impl Storage {
    /// The archivings of the versions after `after` up to `up_to`; of a record that was archived several times, the
    /// last. Records that a put left out are not included, because there is no reason for them.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memory_contexts.archivings", skip_all)]
    pub async fn archivings(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        after: i64,
        up_to: i64,
    ) -> Result<HashMap<RecordId, Archiving>, StorageError> {
        let rows = sqlx::query!(
            r#"SELECT version, operation ->> 'id' AS id, operation ->> 'reason' AS reason,
                      operation ->> 'superseded_by' AS superseded_by
               FROM memory_contexts, jsonb_array_elements(operations) AS operation
               WHERE vault_id = $1 AND memory_id = $2 AND version > $3 AND version <= $4
                 AND operation ->> 'op' = 'archive'
               ORDER BY version"#,
            vault.as_str(),
            memory.as_str(),
            after,
            up_to,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        let archivings = rows.into_iter().map(|row| {
            let id = row.id.as_deref().unwrap_or_default();
            let id = id.parse().map_err(|_| StorageError::Corrupt {
                table: "memory_contexts",
                column: "operations",
                row: format!("({vault}, {memory}, version {})", row.version),
                problem: "archives what is no record".to_owned(),
            })?;
            let archiving = Archiving {
                version: row.version,
                reason: row.reason,
                superseded_by: row.superseded_by,
            };
            Ok((id, archiving))
        });
        archivings.collect()
    }
}
