//! `memory_contexts`: the row, the line, and the statements of export and import.

use super::line::{Fault, fault, id, json, known, order, text, time};
use crate::domain::document;
use crate::domain::history::VersionMark;
use crate::domain::ids::{ActorId, ContextId, MemoryId, UpdateId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::records::evidence;
use crate::storage::records::projection::{ProjectedVersion, Projection};
use crate::storage::{Source, StorageError};
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Display;

/// A version of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextLine {
    pub(super) context_id: String,
    pub(super) version: i64,
    pub(super) actor_id: String,
    pub(super) creation_time: DateTime<Utc>,
    pub(super) source: String,
    pub(super) bytes: i32,
    pub(super) update_id: Option<String>,
    pub(super) operations: Option<Value>,
    pub(super) log: String,
    pub(super) context: String,
    /// For a redacted version, whose context is empty: when, by whom and why it was redacted, and the text's hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redacted_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redacted_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redaction_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redacted_sha256: Option<String>,
}

impl ContextLine {
    /// Validates the line by itself, and returns the ids.
    pub(super) fn check(&self, max_bytes: usize) -> Result<(ContextId, ActorId), Fault> {
        let source = known::<Source>("source", &self.source)?;
        time("creation_time", self.creation_time)?;
        if let Some(update) = &self.update_id {
            id::<UpdateId>("update_id", update)?;
        }
        if let Some(operations) = &self.operations {
            order("operations", operations.is_array(), "a list or null")?;
            json("operations", operations)?;
            let form = "with evidence in the form in which versions store it";
            order("operations", evidence::is_stored(operations), form)?;
        }
        text("log", &self.log)?;
        if self.redacted_at.is_some() {
            self.check_redaction(source)?;
        } else {
            self.check_text(source, max_bytes)?;
        }
        Ok((
            id("context_id", &self.context_id)?,
            id("actor_id", &self.actor_id)?,
        ))
    }

    /// Adds the version to a projection.
    pub(super) fn project(&self, projection: &mut Projection) -> Result<(), StorageError> {
        let corrupt = |column: &'static str, problem: &dyn Display| {
            StorageError::corrupt(("memory_contexts", column), &*self.context_id, problem)
        };
        let by: Result<ActorId, _> = self.actor_id.parse();
        let source: Result<Source, _> = self.source.parse();
        projection.version(&ProjectedVersion {
            mark: VersionMark {
                version: self.version,
                at: self.creation_time,
                by: by.map_err(|problem| corrupt("actor_id", &problem))?,
            },
            source: source.map_err(|problem| corrupt("source", &problem))?,
            text: (!self.is_redacted()).then_some(&self.context),
            operations: self.operations.as_ref(),
        });
        Ok(())
    }

    /// Whether it is redacted.
    pub(super) fn is_redacted(&self) -> bool {
        self.redacted_at.is_some()
    }

    fn check_text(&self, source: Source, max_bytes: usize) -> Result<(), Fault> {
        let checked = match source {
            Source::Tool => document::check_file(&self.context, max_bytes),
            _ => document::check(&self.context, max_bytes),
        };
        checked.map_err(|problem| fault("context", &problem))?;
        let length = i32::try_from(self.context.len()).ok();
        order(
            "bytes",
            length == Some(self.bytes),
            "the size of the context in bytes",
        )?;
        let alone =
            self.redacted_by.is_none() && self.redaction_reason.is_none() && self.redacted_sha256.is_none();
        order("redacted_at", alone, "there where the rest of a redaction is")
    }

    fn check_redaction(&self, source: Source) -> Result<(), Fault> {
        if let Some(at) = self.redacted_at {
            time("redacted_at", at)?;
        }
        order("context", self.context.is_empty(), "empty, since it was redacted")?;
        order(
            "operations",
            self.operations.is_none(),
            "null, since the version was redacted",
        )?;
        let least = i32::from(source != Source::Tool);
        order("bytes", self.bytes >= least, &format!("{least} or more"))?;
        id::<ActorId>("redacted_by", self.redacted_by.as_deref().unwrap_or_default())?;
        let reason = self.redaction_reason.as_deref().unwrap_or_default();
        order("redaction_reason", !reason.trim().is_empty(), "there")?;
        text("redaction_reason", reason)?;
        let hash = self.redacted_sha256.as_deref().unwrap_or_default();
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        order("redacted_sha256", is_hash, "64 hexadecimal digits")
    }
}

/// The versions of a memory, oldest first, as a stream.
pub(super) fn read<'c>(
    connection: &'c mut Connection,
    vault: &'c VaultId,
    memory: &'c str,
) -> BoxStream<'c, Result<ContextLine, StorageError>> {
    let rows = sqlx::query_as!(
        ContextLine,
        r#"SELECT context_id AS "context_id: String", version, actor_id AS "actor_id: String", creation_time,
                  source AS "source: String", bytes, update_id AS "update_id: String", operations, log, context,
                  redacted_at, redacted_by AS "redacted_by: String", redaction_reason, redacted_sha256
           FROM memory_contexts
           WHERE vault_id = $1 AND memory_id = $2
           ORDER BY version"#,
        vault.as_str(),
        memory,
    )
    .fetch(connection);
    Box::pin(rows.map_err(StorageError::from))
}

/// Stores a version unchanged. `false` if its memory already has one with this id.
#[tracing::instrument(name = "db.memory_contexts.import", skip_all)]
pub(super) async fn insert(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    line: &ContextLine,
) -> Result<bool, StorageError> {
    let done = sqlx::query!(
        "INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                      source, bytes, update_id, operations, log,
                                      redacted_at, redacted_by, redaction_reason, redacted_sha256)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
         ON CONFLICT (vault_id, memory_id, context_id) DO NOTHING",
        vault.as_str(),
        memory.as_str(),
        line.context_id,
        line.actor_id,
        line.context,
        line.creation_time,
        line.version,
        line.source,
        line.bytes,
        line.update_id,
        line.operations,
        line.log,
        line.redacted_at,
        line.redacted_by,
        line.redaction_reason,
        line.redacted_sha256,
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Whether a memory has the version with this id, and if so, whether number and text are equal. A redacted text, in the
/// file or in the database, counts as equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Present {
    pub(super) version: i64,
    pub(super) same_text: bool,
}

/// Looks for a version by its id, and compares its text.
#[tracing::instrument(name = "db.memory_contexts.import_present", skip_all)]
pub(super) async fn present(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    context: &ContextId,
    text: &str,
) -> Result<Option<Present>, StorageError> {
    let found = sqlx::query_as!(
        Present,
        r#"SELECT version, (context = $4 OR redacted_at IS NOT NULL OR $4 = '') AS "same_text!"
           FROM memory_contexts
           WHERE vault_id = $1 AND memory_id = $2 AND context_id = $3"#,
        vault.as_str(),
        memory.as_str(),
        context.as_str(),
        text,
    )
    .fetch_optional(connection)
    .await?;
    Ok(found)
}
