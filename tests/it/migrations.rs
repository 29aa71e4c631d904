//! A database full of rows of an older schema, migrated up, down, and up again.

use crate::harness::{Answer, Database, Service};
use reqwest::Method;
use serde_json::{Map, Value, json};
use sqlx::migrate::Migrator;
use sqlx::{PgPool, raw_sql};
use std::path::Path;
use std::sync::Arc;

/// The schema of the first release that was in production.
const OLD: i64 = 6;
const MEMORIES: i64 = 200;

/// Two versions of each memory, with their other rows.
const ROWS: &str = r#"
INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, learning_counter, verbatim_counter,
                      task_counter, decision_counter, created_at, changed_at, indexed_version)
SELECT 'acme', 'm' || n, 2, 'c2', 2, 0, 1, 1, '2026-11-21T01:00:00Z', '2026-11-21T01:30:00Z', 2
FROM generate_series(1, 200) AS n;
INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version, source, bytes,
                             update_id, log)
SELECT vault_id, memory_id, 'c1', 'ann', E'# Key Learnings\n- KL-1 because a: one\n', created_at, 1, 'put', 38, NULL,
       'put'
FROM memories;
INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version, source, bytes,
                             update_id, log)
SELECT vault_id, memory_id, 'c2', 'bob',
       E'# Key Learnings\n- KL-2 [2026-11-21T01:30:00Z] because b: two\n\n# Recent Tasks\n'
       || E'- T-1 [2026-11-21T01:30:00Z] Parser: built\n\n# Decisions\n- D-1 because one: SQL in storage\n',
       changed_at, 2, 'update', 170, 'u1', 'updated'
FROM memories;
INSERT INTO records (vault_id, memory_id, kind, number, status, reason, content, created_version, created_at,
                     created_by, ended_version, ended_at, ended_by, archive_reason)
SELECT vault_id, memory_id, 'KL', 1, 'archived', 'a', 'one', 1, created_at, 'ann', 2, changed_at, 'bob', 'over'
FROM memories;
INSERT INTO records (vault_id, memory_id, kind, number, status, label, reason, content, created_version, created_at,
                     created_by)
SELECT vault_id, memory_id, kind, number, 'active', NULL, reason, content, 2, changed_at, 'bob'
FROM memories, (VALUES ('KL', 2, 'b', 'two'), ('T', 1, NULL, 'Parser: built'), ('D', 1, 'one', 'SQL in storage'))
     AS record (kind, number, reason, content);
INSERT INTO updates (vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at, base_version,
                     version, context_id, request, exchanges, outcome)
SELECT vault_id, memory_id, 'u1', 'update', 'applied', 'bob', changed_at, changed_at, 1, 2, 'c2',
       '{"task": "x"}', '[]', '{}'
FROM memories;
INSERT INTO search_entries (vault_id, memory_id, version, creation_time, words)
SELECT vault_id, memory_id, 2, changed_at, to_tsvector('simple', 'two parser built') FROM memories;
INSERT INTO idempotency_keys (vault_id, caller, idempotency_key, memory_id, fingerprint, status, claim_id, created_at,
                              expires_at, answer_status, answer_headers, answer_body)
SELECT vault_id, 'anybody', 'k-' || memory_id, memory_id, sha256('x'), 'done', 'claim', changed_at,
       '2026-11-22T01:30:00Z', 201, '[]', 'done'
FROM memories;
"#;

/// The tables of the old schema.
const TABLES: [&str; 6] = [
    "memories",
    "memory_contexts",
    "records",
    "updates",
    "search_entries",
    "idempotency_keys",
];

/// All rows of a table, each as JSON, by their keys.
async fn rows(pool: &PgPool, table: &str) -> Vec<Map<String, Value>> {
    let statement = format!("SELECT to_jsonb(t) FROM {table} AS t");
    let rows: Vec<Value> = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
        .fetch_all(pool)
        .await
        .unwrap();
    let objects = rows.into_iter().map(|row| row.as_object().unwrap().clone());
    let mut rows: Vec<_> = objects.collect();
    rows.sort_by_cached_key(|row| {
        [
            "memory_id",
            "context_id",
            "kind",
            "number",
            "update_id",
            "idempotency_key",
        ]
        .map(|name| row.get(name).map(ToString::to_string))
    });
    rows
}

async fn all_rows(pool: &PgPool) -> Vec<Vec<Map<String, Value>>> {
    let mut all = Vec::new();
    for table in TABLES {
        all.push(rows(pool, table).await);
    }
    all
}

/// Whether all earlier rows still exist; columns may have been added to them.
#[track_caller]
fn holds_all(now: &[Vec<Map<String, Value>>], then: &[Vec<Map<String, Value>>]) {
    for (table, (now, then)) in TABLES.iter().zip(now.iter().zip(then)) {
        assert_eq!(now.len(), then.len(), "{table}");
        for (now, then) in now.iter().zip(then) {
            for (column, value) in then {
                assert_eq!(now.get(column), Some(value), "{table}.{column}");
            }
        }
    }
}

async fn works_on_what_was_there(service: &Service) {
    let memory = service.memory("m7");
    assert!(
        memory
            .get("context")
            .await
            .is(200)
            .text()
            .contains("- T-1 [2026-11-21")
    );
    let records = memory.get("records?status=all").await.is(200).json();
    assert_eq!(records["items"].as_array().unwrap().len(), 4, "{records}");
    let archived = memory.get("records/KL-1").await.is(200).json();
    assert_eq!(
        (&archived["status"], &archived["archive_reason"]),
        (&json!("archived"), &json!("over"))
    );
    let runs = memory.get("updates").await.is(200).json();
    assert_eq!(runs["items"][0]["status"], "applied", "{runs}");
    memory.get("updates/u1").await.is(200);
    let window = memory.get("window").await.is(200).text().to_owned();
    assert!(window.contains("T-1") && window.contains("built"), "{window}");
    Answer::to(memory.request(Method::POST, "handoff/refresh"))
        .await
        .is(201);
    assert!(memory.get("handoff").await.is(200).text().contains("[KL-2@2]"));
    // A key that was used still identifies its request.
    let reused = memory.putting("other").header("Idempotency-Key", "k-m7");
    Answer::to(reused).await.problem(422, "key-reused", None);
}

#[tokio::test]
async fn a_database_of_old_rows_loses_none_when_migrated_up_down_and_up() {
    let database = Arc::new(Database::create_empty().await);
    let pool = PgPool::connect(&database.url()).await.unwrap();
    let migrations = Migrator::new(Path::new("migrations")).await.unwrap();
    for version in 1..=OLD {
        migrations.run_to(version, &pool).await.unwrap();
    }
    raw_sql(ROWS).execute(&pool).await.unwrap();
    let old = all_rows(&pool).await;
    assert_eq!(i64::try_from(old[0].len()).unwrap(), MEMORIES);

    let service = Service::on(database).await;
    service.storage().migrate().await.unwrap();
    holds_all(&all_rows(&pool).await, &old);
    works_on_what_was_there(&service).await;

    // Rows for the new tables and columns, so that the down migration has something to drop.
    let memory = service.memory("new");
    memory.put("one").await.is(201);
    for (below, body) in [
        (
            "tasks",
            json!({"task_id": "t", "intent": "Parser", "summary": "built", "outcome": {"ok": true}}),
        ),
        ("items", json!({"content": "x", "category": "a"})),
        ("handoff/refresh", json!({})),
    ] {
        let answer = Answer::to(memory.request(Method::POST, below).json(&body)).await;
        assert!(answer.status < 300, "{below}: {}", answer.text());
    }
    let later = memory.request(Method::POST, "update").json(&json!({"task": "x"}));
    Answer::to(later.header("Prefer", "respond-async")).await.is(202);
    let head = memory.get("context").await.is(200).text().to_owned();

    service.storage().migrate_down(OLD).await.unwrap();
    let back = all_rows(&pool).await;
    let of_old = |rows: &Vec<Map<String, Value>>| -> Vec<Map<String, Value>> {
        let of_old = rows.iter().filter(|row| row["memory_id"] != "new");
        of_old.cloned().collect()
    };
    assert_eq!(back.iter().map(of_old).collect::<Vec<_>>(), old);
    service.storage().migrate().await.unwrap();
    works_on_what_was_there(&service).await;
    assert_eq!(memory.get("context").await.is(200).text(), head);
    Answer::to(
        memory
            .request(Method::POST, "tasks")
            .json(&json!({"intent": "a", "summary": "b"})),
    )
    .await
    .is(201);
}
