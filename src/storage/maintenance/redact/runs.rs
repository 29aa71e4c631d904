//! Redacts runs of the pipeline.

use super::words::quotes;
use super::{Place, ROWS_AT_ONCE};
use crate::domain::ids::UpdateId;
use crate::domain::redaction::Quotations;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use crate::storage::updates::outcomes;
use crate::storage::updates::{redacted_json, unpacked_exchanges};
use serde_json::Value;

/// Clears the texts of runs that quote the redacted text: request, exchanges and outcome. Returns their ids. Runs that created the version or started from it quote it in their prompts and diffs. Others may quote it if the
/// memory changed while they ran, or if a message contained what later became part of the document.
pub(super) async fn clear_runs(
    connection: &mut Connection,
    place: &Place<'_>,
    quotations: &Quotations,
) -> Result<Vec<UpdateId>, StorageError> {
    let mut after: Option<UpdateId> = None;
    let mut all = Vec::new();
    loop {
        let rows = sqlx::query!(
            r#"SELECT update_id, version, request, exchanges, outcome,
                      (base_version = $4 OR version IN ($4, $4 + 1)
                       OR exchanges ->> 'base' = $4::bigint::text) IS TRUE AS "touches!",
                      (SELECT context FROM memory_contexts AS shown
                       WHERE shown.vault_id = $1 AND shown.memory_id = $2
                         AND shown.version = (updates.exchanges ->> 'base')::bigint
                         AND redacted_at IS NULL) AS shown,
                      CASE WHEN outcome ? 'in_version' THEN (
                          SELECT jsonb_build_object('log', made.log, 'operations', made.operations, 'text', made.context,
                                                    'before', before.context)
                          FROM memory_contexts AS made
                          LEFT JOIN memory_contexts AS before
                            ON before.vault_id = $1 AND before.memory_id = made.memory_id AND before.version = made.version - 1
                          WHERE made.vault_id = $1 AND made.memory_id = $2 AND made.version = updates.version
                      ) END AS made
               FROM updates
               WHERE vault_id = $1 AND memory_id = $2 AND update_id > $3
               ORDER BY update_id
               LIMIT $5"#,
            place.vault.as_str(),
            place.memory.as_str(),
            after.as_ref().map_or("", UpdateId::as_str),
            place.version,
            ROWS_AT_ONCE,
        )
        .fetch_all(&mut *connection)
        .await?;
        let Some(last) = rows.last() else { return Ok(all) };
        after = Some(last.update_id.clone());
        let mut cleared: Vec<UpdateId> = Vec::new();
        for row in rows {
            // Uses the unpacked exchanges: a quotation may begin in one piece and end in another. The constant
            // instructions, which stay, quote nothing.
            let (id, shown) = (row.update_id.as_str(), row.shown.as_deref());
            let exchanges = unpacked_exchanges(id, shown, &row.request, row.exchanges, &Value::Null)?;
            let outcome = outcomes::unpack(row.outcome, row.version, row.made.as_ref());
            let parts = [&row.request, &exchanges, &outcome];
            if row.touches || parts.into_iter().any(|part| quotes(part, quotations)) {
                cleared.push(row.update_id);
            }
        }
        sqlx::query!(
            "UPDATE updates SET request = $4, exchanges = $5, outcome = $4
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = ANY ($3)",
            place.vault.as_str(),
            place.memory.as_str(),
            &cleared as &[UpdateId],
            redacted_json(),
            Value::Array(Vec::new()),
        )
        .execute(&mut *connection)
        .await?;
        all.extend(cleared);
    }
}
