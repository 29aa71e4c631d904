//! A database that has been through every schema version: at each version a memory was written with all tables and columns of
//! that version, and nothing of it is lost by migrating to the newest.

use crate::harness::{Database, Service};
use serde_json::{Map, Value, json};
use sqlx::migrate::Migrator;
use sqlx::{PgPool, raw_sql};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The rows of a memory `{m}` from a schema version on. Later versions accept these rows, too. A migration that adds a table
/// adds rows for it here.
const ROWS: [(i64, &str); 14] = [
    (
        1,
        r#"INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, learning_counter, verbatim_counter,
                                task_counter, decision_counter, created_at, changed_at)
          VALUES ('acme', '{m}', 2, 'c2', 2, 0, 1, 0, '2026-11-21T01:00:00Z', '2026-11-21T01:30:00Z');
          INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                       source, bytes, update_id, operations, log)
          VALUES ('acme', '{m}', 'c1', 'ann', E'# Key Learnings\n- KL-1 because a: one\n', '2026-11-21T01:00:00Z', 1,
                  'put', 38, NULL, NULL, 'put'),
                 ('acme', '{m}', 'c2', 'bob',
                  E'# Key Learnings\n- KL-2 because b: zwölf\n\n# Recent Tasks\n- T-1 Parser: built\n',
                  '2026-11-21T01:30:00Z', 2, 'update', 79, 'u1',
                  '[{"op": "archive", "id": "KL-1", "reason": "over"}]', 'updated');
          INSERT INTO records (vault_id, memory_id, kind, number, status, reason, content, created_version, created_at,
                               created_by, ended_version, ended_at, ended_by, archive_reason)
          VALUES ('acme', '{m}', 'KL', 1, 'archived', 'a', 'one', 1, '2026-11-21T01:00:00Z', 'ann', 2,
                  '2026-11-21T01:30:00Z', 'bob', 'over'),
                 ('acme', '{m}', 'KL', 2, 'active', 'b', 'zwölf', 2, '2026-11-21T01:30:00Z', 'bob', NULL, NULL, NULL,
                  NULL),
                 ('acme', '{m}', 'T', 1, 'active', NULL, 'Parser: built', 2, '2026-11-21T01:30:00Z', 'bob', NULL, NULL,
                  NULL, NULL);"#,
    ),
    (
        2,
        r#"INSERT INTO updates (vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at,
                               base_version, version, context_id, request, exchanges, outcome)
          VALUES ('acme', '{m}', 'u1', 'update', 'applied', 'bob', '2026-11-21T01:30:00Z', '2026-11-21T01:30:00Z', 1, 2,
                  'c2', '{"task": "x"}', '[]', '{}');"#,
    ),
    (
        3,
        r#"UPDATE memory_contexts SET line_origins = '{1,2}' WHERE memory_id = '{m}' AND version = 1;"#,
    ),
    (
        4,
        r#"INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                       source, bytes, log, redacted_at, redacted_by, redaction_reason, redacted_sha256)
          VALUES ('acme', '{m}', 'c3', 'ann', '', '2026-11-21T01:40:00Z', 3, 'put', 9, 'redacted: key',
                  '2026-11-21T01:50:00Z', 'root', 'key', 'ff');
          INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                       source, bytes, log)
          SELECT vault_id, memory_id, 'c4', 'ann', context, '2026-11-21T01:45:00Z', 4, 'restore', bytes, 'restored'
          FROM memory_contexts WHERE memory_id = '{m}' AND version = 2;
          UPDATE memories SET head_version = 4, head_context_id = 'c4', changed_at = '2026-11-21T01:45:00Z'
          WHERE memory_id = '{m}';"#,
    ),
    (
        5,
        r#"INSERT INTO search_entries (vault_id, memory_id, version, creation_time, words)
          SELECT vault_id, memory_id, head_version, changed_at, $$'/acme' 'zwölf':5 'parser':9$$::tsvector
          FROM memories WHERE memory_id = '{m}';
          UPDATE memories SET indexed_version = head_version WHERE memory_id = '{m}';"#,
    ),
    (
        6,
        r#"INSERT INTO idempotency_keys (vault_id, caller, idempotency_key, memory_id, fingerprint, status, claim_id,
                                        created_at, expires_at, answer_status, answer_headers, answer_body)
          VALUES ('acme', 'anybody', 'k-{m}', '{m}', sha256('x'), 'done', 'claim', '2026-11-21T01:30:00Z',
                  '2026-11-22T01:30:00Z', 201, '[]', 'done');"#,
    ),
    (
        7,
        r#"UPDATE records SET written_at = created_at, task_id = 't', intent = 'Parser', summary = 'built',
                             outcome = '{"ok": true}', epic = 'e'
          WHERE memory_id = '{m}' AND kind = 'T';"#,
    ),
    (
        8,
        r#"INSERT INTO prompt_item_owners (vault_id, memory_id, changed_at) VALUES ('acme', '{m}', '2026-11-21T01:30:00Z');
          INSERT INTO prompt_items (vault_id, memory_id, item_id, category, content, metadata, created_at, created_by)
          VALUES ('acme', '{m}', 'i1', 'notes', 'x', '{}', '2026-11-21T01:30:00Z', 'ann');"#,
    ),
    (
        9,
        r#"INSERT INTO record_changes (vault_id, memory_id, kind, number, version, change, at, by)
          VALUES ('acme', '{m}', 'KL', 1, 1, 'added', '2026-11-21T01:00:00Z', 'ann')
          ON CONFLICT DO NOTHING;
          INSERT INTO handoffs (vault_id, memory_id, handoff_id, number, generated_at, generated_by, window_seconds,
                                base_version, base_context_id, base_time, markdown, manifest, citations)
          VALUES ('acme', '{m}', 'h1', 1, '2026-11-21T01:50:00Z', 'ann', 7200, 4, 'c4', '2026-11-21T01:45:00Z', '# h',
                  '{}', '[]');"#,
    ),
    (
        11,
        r#"INSERT INTO events (vault_id, event_id, memory_id, kind, created_at, version, context_id)
          VALUES ('acme', 'e-{m}', '{m}', 'version', '2026-11-21T01:45:00Z', 4, 'c4');
          INSERT INTO updates (vault_id, memory_id, update_id, kind, status, actor_id, created_at, base_version, request,
                               exchanges, outcome, attempts, queue_place, not_before, preconditions)
          VALUES ('acme', '{m}', 'u2', 'update', 'queued', 'bob', '2026-11-21T01:46:00Z', 4, '{}', '[]', '{}', 0, 1,
                  '2026-11-21T01:46:00Z', '{}');"#,
    ),
    (
        14,
        r#"INSERT INTO idempotency_keys (vault_id, caller, idempotency_key, memory_id, fingerprint, status, claim_id,
                                        created_at, expires_at, saved_kind, saved_id)
          VALUES ('acme', 'anybody', 'gone-{m}', '{m}', sha256('y'), 'redacted', 'claim', '2026-11-21T01:30:00Z',
                  '2026-11-22T01:30:00Z', 'version', 'c3');"#,
    ),
    (
        16,
        r#"INSERT INTO memory_roots (vault_id, root) VALUES ('acme', 'agent') ON CONFLICT DO NOTHING;
          INSERT INTO memory_paths (vault_id, root, path, memory_id)
          VALUES ('acme', 'agent', '/memories/{m}', '{m}');"#,
    ),
    (
        19,
        r#"INSERT INTO search_vectors (vault_id, space_id, memory_id, hashes, flags, numbers, signs, vectors)
          VALUES ('acme', 's', '{m}', sha256('x')::bytea, '\x0101', '{1,2}', '\x01ff', '\x01020304');"#,
    ),
    (
        24,
        r#"UPDATE memories SET counters = '{2,0,1,0}' WHERE memory_id = '{m}';
          UPDATE records SET details = '{"priority": "high"}' WHERE memory_id = '{m}' AND kind = 'T';"#,
    ),
];

/// Tables without a memory are filled by their own tests.
async fn tables(pool: &PgPool) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT c.table_name::text FROM information_schema.columns c
         WHERE c.table_schema = 'public' AND c.column_name = 'memory_id' ORDER BY 1",
    )
    .fetch_all(pool)
    .await
    .unwrap()
}

/// The rows of a memory, table by table, each as JSON.
async fn rows(pool: &PgPool, memory: &str) -> BTreeMap<String, Vec<Map<String, Value>>> {
    let mut all = BTreeMap::new();
    for table in tables(pool).await {
        let statement = format!(
            "SELECT to_jsonb(t) FROM {table} AS t WHERE memory_id = '{memory}' ORDER BY to_jsonb(t)::text"
        );
        let rows: Vec<Value> = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
            .fetch_all(pool)
            .await
            .unwrap();
        let rows = rows.into_iter().map(|row| row.as_object().unwrap().clone());
        all.insert(table, rows.collect());
    }
    all
}

/// What the way up may change: which version is indexed, and entries that are made anew.
fn may_change(table: &str, column: &str) -> bool {
    table == "search_entries"
        || (table == "memories" && ["indexed_version", "search_pending"].contains(&column))
}

#[tokio::test]
async fn rows_of_every_schema_version_survive_migration_to_the_newest() {
    let database = Arc::new(Database::create_empty().await);
    let pool = PgPool::connect(&database.url()).await.unwrap();
    let migrations = Migrator::new(Path::new("migrations")).await.unwrap();
    let newest = migrations
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap();
    let mut written = Vec::new();
    for version in 1..=newest {
        migrations.run_to(version, &pool).await.unwrap();
        let memory = format!("at-{version}");
        for (_, sql) in ROWS.iter().filter(|(from, _)| *from <= version) {
            let sql = sql.replace("{m}", &memory);
            if let Err(error) = raw_sql(sqlx::AssertSqlSafe(sql)).execute(&pool).await {
                panic!("schema {version}: {error}");
            }
        }
        let rows = rows(&pool, &memory).await;
        for (table, rows) in &rows {
            assert!(
                !rows.is_empty(),
                "nothing fills {table} at schema {version}: add it to ROWS"
            );
        }
        written.push((memory, rows));
    }

    let service = Service::on(database).await;
    service.storage().migrate().await.unwrap();
    for (memory, then) in &written {
        let now = rows(&pool, memory).await;
        for (table, then) in then {
            let now = &now[table];
            // Columns and rows may be added: a migration may fill new tables from old ones.
            for row in then {
                let is_there = now.iter().any(|now| {
                    let mut same = row.iter();
                    same.all(|(column, value)| may_change(table, column) || now.get(column) == Some(value))
                });
                assert!(
                    is_there || table == "search_entries",
                    "{memory}: {table} lost {row:?}: {now:?}"
                );
            }
        }
        let memory = service.memory(memory);
        let text = memory.get("context").await.is(200).text().to_owned();
        assert!(text.contains("zwölf"), "{text}");
        assert_eq!(
            memory.get("records/KL-1").await.is(200).json()["archive_reason"],
            "over"
        );
        memory.get("blame").await.is(200);
        memory.put("# Facts\nnew\n").await.is(201);
    }
    let vault = "acme".parse().unwrap();
    service.storage().index_vault(&vault).await.unwrap();
    memory_is_found(&service).await;
}

/// Text that was indexed with accents is found without them, too.
async fn memory_is_found(service: &Service) {
    let memory = service.memory("at-5");
    memory.put("# Facts\nzwölf Fälle\n").await.is(201);
    let vault = "acme".parse().unwrap();
    service.storage().index_vault(&vault).await.unwrap();
    for query in ["zw%C3%B6lf", "zwolf", "zwo%CC%88lf"] {
        let found = service
            .get(&format!("/v1/vaults/acme/search?q={query}"))
            .await
            .is(200)
            .json();
        assert_eq!(found["items"][0]["memory_id"], json!("at-5"), "{query}");
    }
}
