//! Migrations are added and never changed, a database from before the first release is refused untouched, and what a newer
//! program wrote to the same tables stays.

use crate::harness::{Database, Service, has, holds};
use crate::transfer::program::PROGRAM;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, PgPool, raw_sql};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::Arc;

/// `sha256sum migrations/*.sql`.
const LISTED: &str = include_str!("../data/migrations.sha256");

fn files() -> BTreeMap<String, String> {
    let entries = fs::read_dir("migrations").unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_listed_migration_never_changes_and_a_new_one_is_listed_with_its_way_back() {
    let listed: BTreeMap<&str, &str> = LISTED
        .lines()
        .map(|line| {
            let (hash, name) = line.split_once("  ").unwrap();
            (name, hash)
        })
        .collect();
    let files = files();
    for (name, text) in &files {
        match listed.get(&**name) {
            Some(known) => assert_eq!(
                hash(text),
                *known,
                "{name}: databases that ran it refuse another text. Write a new migration instead"
            ),
            None => panic!("add to tests/data/migrations.sha256: {}  {name}", hash(text)),
        }
        let other = match name.strip_suffix(".up.sql") {
            Some(stem) => format!("{stem}.down.sql"),
            None => name.replace(".down.sql", ".up.sql"),
        };
        assert!(files.contains_key(&other), "{other} is missing");
    }
    for name in listed.keys() {
        assert!(files.contains_key(*name), "{name} is not there any more");
    }
}

/// Names of tables and indexes, besides those of sqlx.
async fn relations(pool: &PgPool) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT relname::text FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE '\\_sqlx%' ORDER BY relname",
    )
    .fetch_all(pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn the_way_back_removes_everything_and_the_way_up_works_again() {
    let (service, memory) = Service::start().await.agent();
    memory.write("# Notes\none\n").await;
    let before = relations(service.rows()).await;
    assert!(before.len() > 40, "{before:?}");

    service.storage().migrate_down(0).await.unwrap();
    assert_eq!(relations(service.rows()).await, [""; 0]);

    service.storage().migrate().await.unwrap();
    assert_eq!(relations(service.rows()).await, before);
    memory.write("# Notes\ntwo\n").await;
}

/// What the migrations from before the first release leave, as far as it matters here.
const EARLIER: &str = "
CREATE TABLE _sqlx_migrations (
    version BIGINT PRIMARY KEY, description TEXT NOT NULL, installed_on TIMESTAMPTZ NOT NULL DEFAULT now(),
    success BOOLEAN NOT NULL, checksum BYTEA NOT NULL, execution_time BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
VALUES (1, 'contexts and records', true, '\\x01', 1), (2, 'updates', true, '\\x02', 1),
       (24, 'counters and details', true, '\\x18', 1);
CREATE TABLE memories (
    vault_id TEXT NOT NULL, memory_id TEXT NOT NULL, head_version BIGINT NOT NULL, learning_counter BIGINT NOT NULL,
    PRIMARY KEY (vault_id, memory_id)
);
INSERT INTO memories VALUES ('acme', 'agent', 3, 7);";

#[tokio::test]
async fn a_database_from_before_the_first_release_is_refused_with_what_to_do_and_left_as_it_is() {
    let database = Database::create_empty().await;
    let pool = PgPool::connect(&database.url()).await.unwrap();
    raw_sql(EARLIER).execute(&pool).await.unwrap();
    let before = relations(&pool).await;

    let told = "before the first release|migration 24|nothing in it was changed|\
                working-memory export --vault|working-memory import";
    is_refused(&database, told);

    assert_eq!(relations(&pool).await, before);
    let left = "SELECT (SELECT count(*) FROM _sqlx_migrations), learning_counter FROM memories";
    let left: (i64, i64) = sqlx::query_as(left).fetch_one(&pool).await.unwrap();
    assert_eq!(left, (3, 7));
}

/// Every command that uses a database ends, and says this.
#[track_caller]
fn is_refused(database: &Database, parts: &str) {
    let attempts: [&[&str]; 5] = [
        &["migrate"],
        &["migrate", "--down-to", "0"],
        &["serve"],
        &["export", "--vault", "acme"],
        &["import", "/dev/null"],
    ];
    for arguments in attempts {
        let output = Command::new(PROGRAM)
            .args(arguments)
            .current_dir(std::env::temp_dir())
            .env("DATABASE_URL", database.url())
            .env("WORKING_MEMORY__HTTP__BIND", "127.0.0.1:0")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        holds(told, &parts.split('|').collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_database_with_another_encoding_is_refused() {
    for encoding in ["LATIN1", "WIN1252", "SQL_ASCII"] {
        let database = Database::create_encoded(encoding).await;
        let told = format!(
            "encoding of the database is {encoding}|CREATE DATABASE|TEMPLATE template0 ENCODING 'UTF8'"
        );
        is_refused(&database, &told);
    }
}

#[tokio::test]
async fn the_migrations_of_another_program_are_refused_and_those_in_another_schema_are_not() {
    let database = Database::create_empty().await;
    let pool = PgPool::connect(&database.url()).await.unwrap();
    let of_another = EARLIER.replace("contexts and records", "users");
    raw_sql(AssertSqlSafe(of_another)).execute(&pool).await.unwrap();
    is_refused(
        &database,
        "the schema public of the database is used by another program|search_path=",
    );

    raw_sql("CREATE SCHEMA own").execute(&pool).await.unwrap();
    let mut url = url::Url::parse(&database.url()).unwrap();
    url.query_pairs_mut()
        .append_pair("options", "-c search_path=own,public");
    let mut migrate = Command::new(PROGRAM);
    let migrated = migrate
        .arg("migrate")
        .env("DATABASE_URL", url.as_str())
        .output()
        .unwrap();
    assert!(migrated.status.success(), "{migrated:?}");
    let own: i64 = sqlx::query_scalar("SELECT max(version) FROM own._sqlx_migrations")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert!(own > 1);
}

#[tokio::test]
async fn a_database_without_any_migration_is_migrated() {
    let database = Arc::new(Database::create_empty().await);
    let pool = PgPool::connect(&database.url()).await.unwrap();
    let (table, _) = EARLIER.split_once("INSERT").unwrap();
    let table = raw_sql(AssertSqlSafe(table.to_owned()));
    table.execute(&pool).await.unwrap();
    let service = Service::start_at(database, |_| {}, None).await;
    service.storage().migrate().await.unwrap();
    service.memory("agent").write("# Notes\none\n").await;
}

async fn sql(service: &Service, statement: &str) {
    let statement = raw_sql(AssertSqlSafe(statement.to_owned()));
    statement.execute(service.rows()).await.unwrap();
}

#[tokio::test]
async fn counters_that_are_absent_count_as_0_and_those_of_a_newer_program_stay() {
    let (service, memory) = Service::start().await.agent();
    memory.write("# Key Learnings\n- KL-3 because a: one\n").await;
    for (stored, next) in [("{}", "KL-4"), ("{6}", "KL-7"), ("{9,1,0,0,7}", "KL-10")] {
        sql(&service, &format!("UPDATE memories SET counters = '{stored}'")).await;
        let answer = memory.learns(&format!("it was seen: {stored}")).await;
        assert_eq!(answer["operations"][0]["id"], next, "{stored}");
    }
    memory.write("# Notes\ntwo\n").await;
    let stored: Vec<i64> = service.value("SELECT counters FROM memories").await;
    assert_eq!(stored, [10, 1, 0, 0, 7]);
}

#[tokio::test]
async fn what_a_newer_program_told_of_a_task_stays_until_its_text_is_redacted() {
    let (service, memory) = Service::start().await.agent();
    let task = json!({"intent": "Parser", "summary": "built", "epic": "e", "outcome": {"n": 1}});
    memory.write("# Notes\none\n").await;
    let posted = memory.post("tasks", &task).await;
    assert_eq!(posted.is(201).json()["record_id"], "T-1");
    let details = json!({"priority": "high", "note": ["about the secret word"]});
    sql(&service, &format!("UPDATE records SET details = '{details}'")).await;
    let stored = async || -> Option<Value> {
        let details = "SELECT details FROM records WHERE kind = 'T'";
        service.value(details).await
    };
    let with_task = memory.text().await;
    memory.write("# Notes\nthe secret word\n").await;
    assert_eq!(memory.read("records/T-1").await["status"], "archived");
    memory.write(with_task).await;
    let active = json!({"status": "active", "epic": "e", "outcome": {"n": 1}});
    has(&memory.read("records/T-1").await, active);
    service.storage().rebuild_records(None, None).await.unwrap();
    assert_eq!(stored().await, Some(details));

    memory.redact("3").await.is(200);
    let redacted = json!({"priority": "high", "note": ["[redacted]"]});
    assert_eq!(stored().await, Some(redacted));
    // A task that no version contains any more has no text.
    memory.write("# Notes\nthree\n").await;
    for version in ["2", "4"] {
        memory.redact(version).await.is(200);
    }
    assert_eq!(stored().await, None);
}
