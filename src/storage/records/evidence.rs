//! What carries a record: `evidence` of the operation that added it, in `memory_contexts.operations`.
//!
//! It has no other place, so that whatever takes quotations out of operations, or carries them, reaches it too.

use crate::domain::evidence::{Evidence, Origin};
use crate::domain::ids::{MemoryId, RecordId, VaultId};
use crate::storage::{Storage, StorageError};
use serde_json::{Value, json};
use std::collections::HashMap;

/// As it is kept in an operation.
pub(crate) fn to_stored(evidence: &[Evidence]) -> Value {
    let passage = |passage: &Evidence| {
        let (from, index) = match passage.origin {
            Origin::Task => ("task", None),
            Origin::Message(index) => ("message", Some(index)),
        };
        json!({
            "from": from,
            "index": index,
            "start": passage.start,
            "end": passage.end,
            "quote": passage.quote,
        })
    };
    evidence.iter().map(passage).collect()
}

/// As it was kept; `None` if it is nothing of that form.
pub(crate) fn from_stored(stored: &Value) -> Option<Vec<Evidence>> {
    let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
    let passage = |value: &Value| {
        let origin = match value["from"].as_str()? {
            "task" => Origin::Task,
            "message" => Origin::Message(number(&value["index"])?),
            _ => return None,
        };
        Some(Evidence {
            origin,
            start: number(&value["start"])?,
            end: number(&value["end"])?,
            quote: value["quote"].as_str()?.to_owned(),
        })
    };
    stored.as_array()?.iter().map(passage).collect()
}

impl Storage {
    /// What carries these records of a memory; one that was put by hand has nothing, and is not there.
    ///
    /// # Errors
    /// The database's; evidence of another form than it is written in.
    #[tracing::instrument(name = "db.memory_contexts.evidence", skip_all)]
    pub async fn evidence(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        records: &[RecordId],
    ) -> Result<HashMap<RecordId, Vec<Evidence>>, StorageError> {
        if records.is_empty() {
            return Ok(HashMap::new());
        }
        let kinds: Vec<String> = records.iter().map(|id| id.kind.prefix().to_owned()).collect();
        let numbers: Vec<i64> = records.iter().map(|id| id.number).collect();
        let rows = sqlx::query!(
            r#"SELECT records.kind, records.number, operation -> 'evidence' AS "evidence!"
               FROM records
               JOIN memory_contexts AS version
                 ON version.vault_id = records.vault_id AND version.memory_id = records.memory_id
                AND version.version = records.created_version
               CROSS JOIN LATERAL jsonb_array_elements(version.operations) AS operation
               WHERE records.vault_id = $1 AND version.vault_id = $1
                 AND records.memory_id = $2 AND version.memory_id = $2
                 AND (records.kind, records.number) IN (SELECT * FROM unnest($3::text[], $4::bigint[]))
                 AND operation ->> 'op' = 'add' AND jsonb_typeof(operation -> 'evidence') = 'array'
                 AND operation ->> 'id' = records.kind || '-' || records.number"#,
            vault.as_str(),
            memory.as_str(),
            &kinds,
            &numbers,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        let evidence = rows.into_iter().map(|row| {
            let id = RecordId::new(row.kind, row.number);
            let evidence = from_stored(&row.evidence).ok_or_else(|| StorageError::Corrupt {
                table: "memory_contexts",
                column: "operations",
                row: format!("({vault}, {memory}, {id})"),
                problem: "not evidence".to_owned(),
            })?;
            Ok((id, evidence))
        });
        evidence.collect()
    }
}
