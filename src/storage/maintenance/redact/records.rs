//! Redacts records.

use super::Place;
use super::words::{REDACTED, clear_lines, clear_strings, quotes};
use crate::domain::ids::TaskId;
use crate::domain::redaction::{LostRecord, Quotations};
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use serde_json::Value;

/// Clears the content of records that no version contains any more. Their ids and history stay.
pub(super) async fn clear_records(
    connection: &mut Connection,
    place: &Place<'_>,
    lost: &[LostRecord],
) -> Result<(), StorageError> {
    let kinds: Vec<String> = lost
        .iter()
        .map(|record| record.id.kind.prefix().to_owned())
        .collect();
    let numbers: Vec<i64> = lost.iter().map(|record| record.id.number).collect();
    let labels: Vec<Option<String>> = lost.iter().map(|record| record.label.clone()).collect();
    let reasons: Vec<Option<String>> = lost.iter().map(|record| record.reason.clone()).collect();
    let contents: Vec<Option<String>> = lost.iter().map(|record| record.content.clone()).collect();
    sqlx::query!(
        "UPDATE records
         SET label = NULLIF(records.label, lost.label), reason = NULLIF(records.reason, lost.reason),
             content = COALESCE(NULLIF(records.content, lost.content), '')
         FROM unnest($3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[])
              AS lost (kind, number, label, reason, content)
         WHERE records.vault_id = $1 AND records.memory_id = $2
           AND records.kind = lost.kind AND records.number = lost.number AND records.status = 'archived'",
        place.vault.as_str(),
        place.memory.as_str(),
        &kinds,
        &numbers,
        &labels as &[Option<String>],
        &reasons as &[Option<String>],
        &contents as &[Option<String>],
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn clear_archive_reasons(
    connection: &mut Connection,
    place: &Place<'_>,
    quotations: &Quotations,
) -> Result<(), StorageError> {
    let rows = sqlx::query!(
        r#"SELECT kind, number, archive_reason AS "archive_reason!" FROM records
           WHERE vault_id = $1 AND memory_id = $2 AND archive_reason IS NOT NULL"#,
        place.vault.as_str(),
        place.memory.as_str(),
    )
    .fetch_all(&mut *connection)
    .await?;
    for row in rows {
        if quotations.are_in(&row.archive_reason) {
            sqlx::query!(
                "UPDATE records SET archive_reason = $5
                 WHERE vault_id = $1 AND memory_id = $2 AND kind = $3 AND number = $4",
                place.vault.as_str(),
                place.memory.as_str(),
                row.kind.prefix(),
                row.number,
                REDACTED,
            )
            .execute(&mut *connection)
            .await?;
        }
    }
    Ok(())
}

/// Clears the facts of tasks whose lines were removed, of tasks that the version added directly to the archive, and any
/// that quote the text.
pub(super) async fn clear_tasks(
    connection: &mut Connection,
    place: &Place<'_>,
    quotations: &Quotations,
) -> Result<(), StorageError> {
    sqlx::query!(
        "UPDATE records SET content = ''
         WHERE vault_id = $1 AND memory_id = $2 AND created_version = $3 AND ended_version = $3",
        place.vault.as_str(),
        place.memory.as_str(),
        place.version,
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "UPDATE records
         SET task_id = NULL, intent = NULL, summary = NULL, outcome = NULL, epic = NULL, details = NULL
         WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND status = 'archived' AND content = ''",
        place.vault.as_str(),
        place.memory.as_str(),
    )
    .execute(&mut *connection)
    .await?;
    let rows = sqlx::query!(
        r#"SELECT number, task_id, intent AS "intent!", summary, outcome, epic, details AS "details: Value"
           FROM records
           WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND intent IS NOT NULL"#,
        place.vault.as_str(),
        place.memory.as_str(),
    )
    .fetch_all(&mut *connection)
    .await?;
    for mut row in rows {
        let texts = [
            Some(row.intent.as_str()),
            row.summary.as_deref(),
            row.epic.as_deref(),
            row.task_id.as_ref().map(TaskId::as_str),
        ];
        let in_texts = texts.into_iter().flatten().any(|text| quotations.are_in(text));
        let values = [&row.outcome, &row.details];
        let in_json = values
            .into_iter()
            .flatten()
            .any(|value| quotes(value, quotations));
        if !in_texts && !in_json {
            continue;
        }
        for text in [Some(&mut row.intent), row.summary.as_mut(), row.epic.as_mut()]
            .into_iter()
            .flatten()
        {
            *text = clear_lines(text, quotations);
        }
        // Including members that only a newer release knows.
        for value in [&mut row.outcome, &mut row.details].into_iter().flatten() {
            clear_strings(value, quotations);
        }
        sqlx::query!(
            "UPDATE records SET task_id = $4, intent = $5, summary = $6, outcome = $7, epic = $8, details = $9
             WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND number = $3",
            place.vault.as_str(),
            place.memory.as_str(),
            row.number,
            row.task_id
                .as_ref()
                .map(TaskId::as_str)
                .filter(|id| !quotations.are_in(id)),
            row.intent,
            row.summary,
            row.outcome,
            row.epic,
            row.details,
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}
