//! No table of memories is forgotten by deletion, redaction, export or import. A new table with a `memory_id` must be filled
//! by `fill`, and is listed here if one of the three skips it on purpose.

use crate::harness::{Answer, Database, EmbeddingServer, Service};
use crate::transfer::program::{export, imports};
use reqwest::Method;
use serde_json::json;
use sqlx::PgPool;
use std::collections::BTreeMap;

/// A word in every text, so that it is found wherever it is quoted.
const QUOTED: &str = "Quagga7351";

/// Tables that keep rows of a deleted memory, with the reason.
const KEPT_WHEN_DELETED: [(&str, &str); 2] = [
    (
        "events",
        "they tell what happened for events.keep_hours, without any text",
    ),
    ("idempotency_keys", "a late retry is 410 and brings nothing back"),
];

/// Tables that are not exported, with the reason.
const NOT_EXPORTED: [(&str, &str); 4] = [
    ("events", "they happened in the service that tells of them"),
    ("idempotency_keys", "a key counts where it was sent"),
    ("search_entries", "the importing service indexes anew"),
    (
        "search_vectors",
        "the importing service embeds anew, with a model of its own",
    ),
];

/// How many rows each table with a `memory_id` has.
async fn rows_by_table(pool: &PgPool) -> BTreeMap<String, i64> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT c.table_name::text FROM information_schema.columns c
         JOIN information_schema.tables t USING (table_schema, table_name)
         WHERE c.table_schema = 'public' AND c.column_name = 'memory_id' AND t.table_type = 'BASE TABLE'",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    let mut counts = BTreeMap::new();
    for table in tables {
        let statement = format!(r#"SELECT count(*) FROM "{table}""#);
        let count: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
            .fetch_one(pool)
            .await
            .unwrap();
        counts.insert(table, count);
    }
    counts
}

async fn send(service: &Service, method: Method, path: &str, body: serde_json::Value) -> Answer {
    Answer::to(
        service
            .request(method, path)
            .header("Idempotency-Key", path)
            .json(&body),
    )
    .await
}

/// Fills every table with rows of one memory, which is also a file of the memory tool; returns its id.
async fn fill(service: &Service) -> String {
    let file = json!({"command": "create", "path": "/memories/notes.md", "file_text": "# Facts\n- none\n"});
    let made = send(
        service,
        Method::POST,
        "/v1/vaults/acme/memory-tool?root=agent",
        file,
    )
    .await;
    let id = made.is(200).json()["memory_id"].as_str().unwrap().to_owned();
    let memory = service.memory(&id);
    let learned = json!({
        "task": format!("Remember: {QUOTED} is always built with make."),
        "messages": [{"role": "user", "content": format!("From now on, {QUOTED} must be built with make 4.3.")}],
    });
    send(service, Method::POST, &memory.path("update"), learned)
        .await
        .is(200);
    let task = json!({"intent": format!("Build {QUOTED}"), "summary": "It was built.", "epic": QUOTED});
    send(service, Method::POST, &memory.path("tasks"), task)
        .await
        .is(201);
    let items = json!([{"content": "Be brief."}]);
    send(service, Method::PUT, &memory.path("items/style"), items)
        .await
        .is(200);
    send(service, Method::POST, &memory.path("handoff/refresh"), json!({})).await;
    service.index().await;
    id
}

#[tokio::test]
async fn export_redaction_and_deletion_cover_every_table_of_memories() {
    let embeddings = EmbeddingServer::start().await;
    let service = Service::configured(embeddings.configure("m")).await;
    let id = fill(&service).await;
    let memory = service.memory(&id);
    let filled = rows_by_table(service.rows()).await;
    for (table, rows) in &filled {
        assert!(*rows > 0, "nothing fills {table}: add what does to fill()");
    }

    let other = Database::create().await;
    let file = export(&service.database_url(), &["--vault", "acme"]);
    imports(&other.url(), &[], &file, [1, 0, 0, 0]);
    let there = PgPool::connect(&other.url()).await.unwrap();
    let imported = rows_by_table(&there).await;
    for (table, rows) in &filled {
        if !NOT_EXPORTED.iter().any(|(name, _)| name == table) {
            assert_eq!(imported[table], *rows, "{table} does not travel in an export");
        }
    }
    there.close().await;

    let versions = memory.read("contexts").await;
    memory.write("# Facts\nnothing\n").await;
    for version in versions["items"].as_array().unwrap() {
        if version["version"] != 1 {
            memory.redact(&version["version"].to_string()).await.is(200);
        }
    }
    service.index().await;
    assert_eq!(
        service.tables_that_hold(QUOTED).await,
        Vec::<String>::new(),
        "a redaction does not reach all that quotes the text"
    );

    memory.delete().await.is(204);
    for (table, rows) in rows_by_table(service.rows()).await {
        if !KEPT_WHEN_DELETED.iter().any(|(name, _)| *name == table) {
            assert_eq!(rows, 0, "deleting a memory forgets {table}");
        }
    }
}
