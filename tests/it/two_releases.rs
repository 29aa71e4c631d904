//! The previous release writes to the same database: it knows a memory's counters as four columns, and no id that it assigns
//! is assigned again.

use crate::harness::{Answer, Database, Memory, Service};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, PgPool, raw_sql};
use std::path::Path;
use std::sync::Arc;

/// The schema that the previous release knows.
const BEFORE: i64 = 23;

async fn sql(service: &Service, statement: &str) {
    raw_sql(AssertSqlSafe(statement.to_owned()))
        .execute(service.rows())
        .await
        .unwrap();
}

/// The counters in the row: the array, and the four columns.
async fn counters(service: &Service) -> (Option<Vec<i64>>, Vec<i64>) {
    sqlx::query_as(
        "SELECT counters, ARRAY[learning_counter, verbatim_counter, task_counter, decision_counter] FROM memories
         WHERE memory_id = 'agent'",
    )
    .fetch_one(service.rows())
    .await
    .unwrap()
}

async fn learns(memory: &Memory<'_>, what: &str) -> Value {
    let text = format!("KEY_LEARNINGS:\n  ADD:\n    - because it was seen: {what}\n");
    memory.apply(&text).await.is(200).json()["operations"][0]["id"].clone()
}

async fn posts(memory: &Memory<'_>, below: &str, body: Value) -> Value {
    let request = memory.request(Method::POST, below).json(&body);
    Answer::to(request).await.is(201).json()["record_id"].clone()
}

#[tokio::test]
async fn ids_assigned_by_either_release_are_not_reused() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    let task = json!({"intent": "a", "summary": "b"});
    memory.put("# Notes\none\n").await.is(201);
    assert_eq!(learns(&memory, "one").await, "KL-1");
    assert_eq!(
        counters(&service).await,
        (Some(vec![1, 0, 0, 0]), vec![1, 0, 0, 0])
    );

    // The previous release raises its columns, and archives what it added: no text contains the numbers.
    sql(
        &service,
        "UPDATE memories SET learning_counter = 5, task_counter = 2",
    )
    .await;
    let reported = Answer::to(memory.itself(Method::GET)).await.is(200).json();
    assert_eq!(reported["counters"], json!({"KL": 5, "VC": 0, "T": 2, "D": 0}));
    assert_eq!(learns(&memory, "two").await, "KL-6");
    assert_eq!(posts(&memory, "tasks", task.clone()).await, "T-3");
    // It finds in its columns the ids that this release assigned.
    assert_eq!(
        counters(&service).await,
        (Some(vec![6, 0, 3, 0]), vec![6, 0, 3, 0])
    );

    sql(
        &service,
        "UPDATE memories SET learning_counter = 7, decision_counter = 4",
    )
    .await;
    assert_eq!(posts(&memory, "decisions", json!({"decision": "x"})).await, "D-5");
    assert_eq!(learns(&memory, "three").await, "KL-8");
    // A put raises both, and the ids that the other release assigned stay in use.
    sql(&service, "UPDATE memories SET verbatim_counter = 3").await;
    memory
        .put("# Key Learnings\n- KL-20 because a: one\n")
        .await
        .is(201);
    assert_eq!(
        counters(&service).await,
        (Some(vec![20, 3, 3, 5]), vec![20, 3, 3, 5])
    );
}

#[tokio::test]
async fn a_row_of_the_previous_release_has_no_array_and_missing_counters_are_unset() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory
        .put("# Key Learnings\n- KL-3 because a: one\n")
        .await
        .is(201);
    for (array, next) in [
        ("NULL", "KL-4"),
        ("'{}'", "KL-5"),
        ("'{2}'", "KL-6"),
        ("'{9,1}'", "KL-10"),
    ] {
        sql(&service, &format!("UPDATE memories SET counters = {array}")).await;
        assert_eq!(learns(&memory, array).await, next, "{array}");
    }
    assert_eq!(
        counters(&service).await,
        (Some(vec![10, 1, 0, 0]), vec![10, 1, 0, 0])
    );
}

#[tokio::test]
async fn a_counter_of_an_unknown_kind_is_preserved() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.put("# Notes\none\n").await.is(201);
    sql(&service, "UPDATE memories SET counters = counters || 7::bigint").await;
    assert_eq!(learns(&memory, "one").await, "KL-1");
    let task = json!({"intent": "a", "summary": "b"});
    assert_eq!(posts(&memory, "tasks", task).await, "T-1");
    memory.put("# Notes\ntwo\n").await.is(201);
    assert_eq!(
        counters(&service).await,
        (Some(vec![1, 0, 1, 0, 7]), vec![1, 0, 1, 0])
    );
}

#[tokio::test]
async fn unknown_fields_of_a_task_from_a_newer_release_stay_until_redaction() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    let task = json!({"intent": "Parser", "summary": "built", "epic": "e", "outcome": {"n": 1}});
    assert_eq!(posts(&memory, "tasks", task).await, "T-1");
    let details = json!({"priority": "high", "note": ["about the secret word"]});
    sql(&service, &format!("UPDATE records SET details = '{details}'")).await;
    let stored = async || -> Option<Value> {
        sqlx::query_scalar("SELECT details FROM records WHERE kind = 'T'")
            .fetch_one(service.rows())
            .await
            .unwrap()
    };
    let with_task = memory.get("context").await.is(200).text().to_owned();
    memory.put("# Notes\nthe secret word\n").await.is(201);
    assert_eq!(
        memory.get("records/T-1").await.is(200).json()["status"],
        "archived"
    );
    memory.put(with_task).await.is(201);
    let record = memory.get("records/T-1").await.is(200).json();
    assert_eq!(
        (&record["status"], &record["epic"], &record["outcome"]),
        (&json!("active"), &json!("e"), &json!({"n": 1}))
    );
    service.storage().rebuild_records(None, None).await.unwrap();
    assert_eq!(stored().await, Some(details));

    memory.redact("2").await.is(200);
    assert_eq!(
        stored().await,
        Some(json!({"priority": "high", "note": ["[redacted]"]}))
    );
    // A task that no version contains any more has no text.
    memory.put("# Notes\nthree\n").await.is(201);
    for version in ["1", "3"] {
        memory.redact(version).await.is(200);
    }
    assert_eq!(stored().await, None);
}

/// The files of the tables: others after a rewrite.
async fn files(pool: &PgPool) -> Vec<i64> {
    sqlx::query_scalar(
        "SELECT relfilenode::bigint FROM pg_class WHERE oid IN ('memories'::regclass, 'records'::regclass) ORDER BY oid",
    )
    .fetch_all(pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn migrating_up_rewrites_no_table_and_migrating_down_loses_no_counter() {
    let database = Arc::new(Database::create_empty().await);
    let pool = PgPool::connect(&database.url()).await.unwrap();
    let migrations = Migrator::new(Path::new("migrations")).await.unwrap();
    migrations.run_to(BEFORE, &pool).await.unwrap();
    let files_before = files(&pool).await;
    migrations.run_to(BEFORE + 1, &pool).await.unwrap();
    assert_eq!(files(&pool).await, files_before);

    let service = Service::on(database).await;
    service.storage().migrate().await.unwrap();
    let memory = service.memory("agent");
    memory.put("# Notes\none\n").await.is(201);
    // A future release writes the array alone.
    sql(&service, "UPDATE memories SET counters = '{9,8,7,6}'").await;
    service.storage().migrate_down(BEFORE).await.unwrap();
    let columns: Vec<i64> = sqlx::query_scalar(
        "SELECT unnest(ARRAY[learning_counter, verbatim_counter, task_counter, decision_counter]) FROM memories",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(columns, [9, 8, 7, 6]);
    service.storage().migrate().await.unwrap();
    assert_eq!(learns(&memory, "one").await, "KL-10");
}
