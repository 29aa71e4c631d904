//! The evidence of records: `evidence` of the operation that added the record, in `memory_contexts.operations`.
//!
//! It is stored only there, so that redaction and transfer of operations cover it too.

use crate::domain::evidence::Evidence;
use crate::domain::ids::{MemoryId, RecordId, VaultId};
use crate::storage::{Storage, StorageError};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// Whether all evidence in the operations of a version is in its form.
pub(in crate::storage) fn is_stored(operations: &Value) -> bool {
    let lists = operations.as_array().into_iter().flatten();
    let mut lists = lists
        .map(|operation| &operation["evidence"])
        .filter(|evidence| evidence.is_array());
    lists.all(|evidence| Vec::<Evidence>::deserialize(evidence).is_ok())
}

impl Storage {
    /// The evidence of these records of a memory. Records written by hand have none and are missing.
    ///
    /// # Errors
    /// Database errors, or evidence that is not in its form.
    pub async fn evidence(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        records: &[RecordId],
    ) -> Result<HashMap<RecordId, Vec<Evidence>>, StorageError> {
        let wanted: Vec<_> = records.iter().map(|id| (memory, *id)).collect();
        let origins = self.record_origins(vault, &wanted).await?.into_iter();
        let evidence = origins.map(|((_, id), origin)| (id, origin.evidence));
        Ok(evidence.filter(|(_, evidence)| !evidence.is_empty()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::evidence::EvidenceOrigin;
    use serde_json::json;

    fn read(stored: &Value) -> serde_json::Result<Vec<Evidence>> {
        Vec::deserialize(stored)
    }

    /// As written by earlier releases.
    fn literal() -> Value {
        json!([
            {"from": "task", "index": null, "start": 0, "end": 4, "quote": "a ta"},
            {"from": "message", "index": 3, "start": 1, "end": 3, "quote": "as"},
        ])
    }

    #[test]
    fn passages_are_stored_in_one_form() {
        let passages =
            [(None, 0, 4, "a ta"), (Some(3), 1, 3, "as")].map(|(index, start, end, quote)| Evidence {
                record: None,
                from: index.map_or(EvidenceOrigin::Task, |_| EvidenceOrigin::Message),
                index,
                start,
                end,
                quote: quote.to_owned(),
            });
        assert_eq!(json!(passages), literal());
        assert_eq!(read(&literal()).unwrap(), passages);
        // A member of a newer release is passed over.
        let mut stored = literal();
        stored[0]["score"] = json!(1);
        assert_eq!(read(&stored).unwrap(), passages);
    }

    #[test]
    fn passages_of_another_form_are_an_error() {
        for (member, other) in [
            ("from", json!("file")),
            ("from", json!(null)),
            ("index", json!(-1)),
            ("start", json!("1")),
            ("end", json!(1.5)),
            ("quote", json!(7)),
        ] {
            let mut stored = literal();
            stored[1][member] = other;
            assert!(read(&stored).is_err(), "{stored}");
            stored[1].as_object_mut().unwrap().remove(member);
            assert!(read(&stored).is_err(), "{stored}");
        }
        for stored in [json!(null), json!({}), json!(["task"])] {
            assert!(read(&stored).is_err(), "{stored}");
        }
    }
}
