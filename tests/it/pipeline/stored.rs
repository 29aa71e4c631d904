//! Invariants of a memory's rows after any operations.

use crate::harness::Service;
use std::collections::{BTreeMap, BTreeSet};
use working_memory::domain::document;

/// One version as it is stored.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct Version {
    pub(super) version: i64,
    pub(super) source: String,
    pub(super) context: String,
}

impl Version {
    /// The ids of the records it holds.
    pub(super) fn ids(&self) -> BTreeSet<String> {
        let records = document::records(&self.context);
        records.iter().map(|record| record.id.to_string()).collect()
    }
}

/// One record as it is stored.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct Row {
    pub(super) kind: String,
    pub(super) number: i64,
    pub(super) status: String,
    pub(super) label: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) content: String,
    pub(super) ended_version: Option<i64>,
}

impl Row {
    pub(super) fn id(&self) -> String {
        format!("{}-{}", self.kind, self.number)
    }
}

/// All versions of a memory of the vault `acme`, oldest first.
pub(super) async fn versions(service: &Service, memory: &str) -> Vec<Version> {
    let statement = "SELECT version, source, context FROM memory_contexts
                     WHERE vault_id = 'acme' AND memory_id = $1 ORDER BY version";
    let rows = sqlx::query_as(statement).bind(memory);
    rows.fetch_all(service.rows()).await.unwrap()
}

/// All records of a memory, by id.
pub(super) async fn records(service: &Service, memory: &str) -> BTreeMap<String, Row> {
    let statement = "SELECT kind, number, status, label, reason, content, ended_version FROM records
                     WHERE vault_id = 'acme' AND memory_id = $1";
    let rows: Vec<Row> = sqlx::query_as(statement)
        .bind(memory)
        .fetch_all(service.rows())
        .await
        .unwrap();
    rows.into_iter().map(|row| (row.id(), row)).collect()
}

/// Versions are contiguous; no id is assigned twice; the records match the newest document and the earlier ones.
pub(super) async fn is_sound(service: &Service, memory: &str) {
    let versions = versions(service, memory).await;
    let numbers: Vec<i64> = versions.iter().map(|version| version.version).collect();
    let expected: Vec<i64> = (1..).take(numbers.len()).collect();
    assert_eq!(numbers, expected, "versions of {memory}");
    let mut ever = BTreeSet::new();
    let mut before = BTreeSet::new();
    for version in &versions {
        let ids = version.ids();
        if version.source != "put" {
            let given: BTreeSet<_> = ids.difference(&before).cloned().collect();
            assert!(given.is_disjoint(&ever), "given twice: {given:?} in {version:?}");
        }
        ever.extend(ids.iter().cloned());
        before = ids;
    }
    let rows = records(service, memory).await;
    let known: BTreeSet<_> = rows.keys().cloned().collect();
    assert_eq!(known, ever, "records of {memory}");
    let head = versions.last().map_or("", |version| &version.context);
    let active = document::records(head).into_iter();
    let active: BTreeMap<_, _> = active.map(|record| (record.id.to_string(), record)).collect();
    for (id, row) in &rows {
        match active.get(id) {
            Some(record) => {
                assert_eq!(row.status, "active", "{id} stands in {head}");
                let stored = (&row.label, &row.reason, &row.content);
                assert_eq!(stored, (&record.label, &record.reason, &record.content));
            }
            None => {
                assert_eq!(row.status, "archived", "{id} is not in {head}");
                let holding = versions.iter().filter(|version| version.ids().contains(id));
                let last = holding.map(|version| version.version).max().unwrap();
                let ended = row.ended_version.unwrap();
                assert_eq!(ended, last + 1, "{id} left with the version behind its last");
            }
        }
    }
}
