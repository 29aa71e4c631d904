//! Removes quotations of a redacted text from lines of logs and strings of JSON.

use super::{Place, ROWS_AT_ONCE};
use crate::domain::redaction::Quotations;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use serde_json::Value;

/// Removes the quotations from the operations and logs of the other versions: the next version describes what it
/// archived.
pub(super) async fn clear_words(
    connection: &mut Connection,
    place: &Place<'_>,
    quotations: &Quotations,
) -> Result<(), StorageError> {
    let mut after = 0;
    loop {
        let rows = sqlx::query!(
            "SELECT version, operations, log FROM memory_contexts
             WHERE vault_id = $1 AND memory_id = $2 AND version > $3 AND version <> $4
             ORDER BY version
             LIMIT $5",
            place.vault.as_str(),
            place.memory.as_str(),
            after,
            place.version,
            ROWS_AT_ONCE,
        )
        .fetch_all(&mut *connection)
        .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.version;
        for mut row in rows {
            let quoting = row.operations.as_mut().filter(|value| quotes(value, quotations));
            if quoting.is_none() && !quotations.are_in(&row.log) {
                continue;
            }
            if let Some(operations) = quoting {
                clear_strings(operations, quotations);
            }
            sqlx::query!(
                "UPDATE memory_contexts SET operations = $4, log = $5
                 WHERE vault_id = $1 AND memory_id = $2 AND version = $3",
                place.vault.as_str(),
                place.memory.as_str(),
                row.version,
                row.operations,
                clear_lines(&row.log, quotations),
            )
            .execute(&mut *connection)
            .await?;
        }
    }
}

/// The replacement for a quotation.
pub(super) const REDACTED: &str = "[redacted]";

/// The text, with each line that contains a quotation replaced.
pub(super) fn clear_lines(text: &str, quotations: &Quotations) -> String {
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| if quotations.are_in(line) { REDACTED } else { line })
        .collect();
    lines.join("\n")
}

/// Replaces the strings that contain a quotation.
pub(super) fn clear_strings(value: &mut Value, quotations: &Quotations) {
    match value {
        Value::String(text) if quotations.are_in(text) => REDACTED.clone_into(text),
        Value::Array(values) => {
            for value in values {
                clear_strings(value, quotations);
            }
        }
        Value::Object(members) => {
            for value in members.values_mut() {
                clear_strings(value, quotations);
            }
        }
        _ => {}
    }
}

/// Whether a string in the value contains a quotation.
pub(super) fn quotes(value: &Value, quotations: &Quotations) -> bool {
    match value {
        Value::String(text) => quotations.are_in(text),
        Value::Array(values) => values.iter().any(|value| quotes(value, quotations)),
        Value::Object(members) => members.values().any(|value| quotes(value, quotations)),
        _ => false,
    }
}
