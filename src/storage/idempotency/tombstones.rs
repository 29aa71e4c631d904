//! Tombstones of idempotency keys. After the result of a request was removed, its answer is deleted, but the key and
//! the request's fingerprint stay, so that a late retry neither runs again nor restores removed data.

use crate::domain::ids::{ContextId, MemoryId, UpdateId, VaultId};
use crate::domain::redaction::Quotations;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use crate::storage::maintenance::redact::quotes;
use serde_json::Value;
use strum::{EnumString, IntoStaticStr};

/// Rows read at once. Answers may be large.
const ROWS_AT_ONCE: i64 = 32;

/// Why there is no answer any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Gone {
    /// What the request created, or what its answer quotes, was redacted.
    Redacted,
    /// The memory was deleted.
    Deleted,
}

impl Gone {
    pub(super) fn name(self) -> &'static str {
        self.into()
    }
}

/// Removes the answers about a memory that is deleted. A request that is still running saves nothing any more, and its
/// retry does not run either: it began before the deletion.
#[tracing::instrument(name = "db.idempotency_keys.bury_all", skip_all)]
pub(in crate::storage) async fn delete_answers(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<(), StorageError> {
    sqlx::query!(
        "UPDATE idempotency_keys
         SET status = $3, lease_until = NULL, answer_status = NULL, answer_headers = NULL, answer_body = NULL
         WHERE vault_id = $1 AND memory_id = $2",
        vault.as_str(),
        memory.as_str(),
        Gone::Deleted.name(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// What a redaction removes besides the version.
#[derive(Debug, Clone, Copy)]
pub(in crate::storage) struct Redacted<'a> {
    pub(in crate::storage) context_id: &'a ContextId,
    pub(in crate::storage) version: i64,
    /// The runs whose text is redacted too.
    pub(in crate::storage) runs: &'a [UpdateId],
    pub(in crate::storage) quotations: &'a Quotations,
}

impl Redacted<'_> {
    /// Whether an answer mentions the version or anything else that is redacted.
    fn touches(&self, body: &[u8]) -> bool {
        match serde_json::from_slice::<Value>(body) {
            Ok(answer) => {
                let is = |member: &str, id: &str| answer[member].as_str() == Some(id);
                // The memory tool identifies versions by number only.
                let is_numbered = answer.get("context_id").is_none();
                is("context_id", self.context_id.as_str())
                    || (is_numbered && answer["version"].as_i64() == Some(self.version))
                    || self.runs.iter().any(|run| is("update_id", run.as_str()))
                    || quotes(&answer, self.quotations)
            }
            Err(_) => {
                let text = String::from_utf8_lossy(body);
                let mut ids = self
                    .runs
                    .iter()
                    .map(UpdateId::as_str)
                    .chain([self.context_id.as_str()]);
                ids.any(|id| text.contains(id)) || self.quotations.are_in(&text)
            }
        }
    }
}

/// Removes the answers that mention a redacted version; others stay.
#[tracing::instrument(name = "db.idempotency_keys.bury_redacted", skip_all)]
pub(in crate::storage) async fn delete_redacted_answers(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    redacted: &Redacted<'_>,
) -> Result<(), StorageError> {
    let (mut after_caller, mut after_key) = (String::new(), String::new());
    loop {
        let rows = sqlx::query!(
            r#"SELECT caller, idempotency_key, answer_body AS "answer_body!"
               FROM idempotency_keys
               WHERE vault_id = $1 AND memory_id = $2 AND answer_body IS NOT NULL
                 AND (caller, idempotency_key) > ($3, $4)
               ORDER BY caller, idempotency_key
               LIMIT $5"#,
            vault.as_str(),
            memory.as_str(),
            after_caller,
            after_key,
            ROWS_AT_ONCE,
        )
        .fetch_all(&mut *connection)
        .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        (after_caller, after_key) = (last.caller.clone(), last.idempotency_key.clone());
        let touched = rows.into_iter().filter(|row| redacted.touches(&row.answer_body));
        let (callers, keys): (Vec<String>, Vec<String>) =
            touched.map(|row| (row.caller, row.idempotency_key)).unzip();
        sqlx::query!(
            "UPDATE idempotency_keys
             SET status = $5, answer_status = NULL, answer_headers = NULL, answer_body = NULL
             WHERE vault_id = $1 AND memory_id = $2 AND status = 'done'
               AND (caller, idempotency_key) IN (SELECT * FROM unnest($3::text[], $4::text[]))",
            vault.as_str(),
            memory.as_str(),
            &callers,
            &keys,
            Gone::Redacted.name(),
        )
        .execute(&mut *connection)
        .await?;
    }
}
