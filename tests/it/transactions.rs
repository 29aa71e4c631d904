//! Transactions and single statements that fail with serialization failures or deadlocks are retried and counted by name, and
//! are not retried where their outcome is unknown.

use crate::harness::Service;
use sqlx::AssertSqlSafe;
use working_memory::domain::access::SecretHash;
use working_memory::storage::StorageError;
use working_memory::storage::access::sessions::Session;

/// From now on this statement runs in the first `times` transactions of a session that change something, at `moment`.
async fn inject(service: &Service, times: u32, moment: &str, what: &str) {
    let statement = format!(
        "CREATE SEQUENCE attempts;
         CREATE FUNCTION happens() RETURNS TRIGGER LANGUAGE plpgsql AS $$
         BEGIN
             IF nextval('attempts') <= {times} THEN {what}; END IF;
             RETURN COALESCE(NEW, OLD);
         END $$;
         {moment} INSERT OR DELETE ON sessions
         {deferred} FOR EACH ROW EXECUTE FUNCTION happens();",
        deferred = if moment.contains("CONSTRAINT") {
            "DEFERRABLE INITIALLY DEFERRED"
        } else {
            ""
        },
    );
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(service.rows())
        .await
        .unwrap();
}

const AT_THE_STATEMENT: &str = "CREATE TRIGGER happens BEFORE";
const AT_THE_COMMIT: &str = "CREATE CONSTRAINT TRIGGER happens AFTER";
const LOSES: &str = "RAISE 'lost' USING ERRCODE = '40001'";
const DEADLOCKS: &str = "RAISE 'deadlock' USING ERRCODE = '40P01'";
const BREAKS: &str = "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10)";

fn hash() -> SecretHash {
    SecretHash::from_bytes(&[7; 32]).unwrap()
}

/// A service without keys, whose metrics need no key, and whose sessions do not expire with one.
async fn start() -> Service {
    let service = Service::start().await;
    service
        .execute("ALTER TABLE sessions DROP CONSTRAINT sessions_key_fkey")
        .await;
    service
}

async fn begin(service: &Service) -> Result<(), StorageError> {
    let session = Session {
        key_id: "abcdef012345".parse().unwrap(),
        secret: SecretHash::from_bytes(&[8; 32]).unwrap(),
    };
    service.storage().begin_session(&hash(), &session).await
}

async fn sessions(service: &Service) -> i64 {
    let count = sqlx::query_scalar("SELECT count(*) FROM sessions");
    count.fetch_one(service.rows()).await.unwrap()
}

async fn attempts(service: &Service) -> i64 {
    let last = sqlx::query_scalar("SELECT last_value FROM attempts");
    last.fetch_one(service.rows()).await.unwrap()
}

async fn counts(service: &Service, line: &str) {
    let metrics = service.get("/metrics").await.is(200).text().to_owned();
    assert!(metrics.contains(line), "{line}\n{metrics}");
}

#[tokio::test]
async fn a_transaction_that_failed_by_a_conflict_is_retried_and_counted() {
    let service = start().await;
    inject(&service, 2, AT_THE_STATEMENT, LOSES).await;
    begin(&service).await.unwrap();
    assert_eq!((sessions(&service).await, attempts(&service).await), (1, 3));
    counts(
        &service,
        r#"transaction_repeats_total{transaction="db.sessions.insert"} 2"#,
    )
    .await;
    counts(
        &service,
        r#"transactions_total{transaction="db.sessions.insert",result="committed"} 1"#,
    )
    .await;
}

#[tokio::test]
async fn a_commit_that_the_database_rejected_is_retried_too() {
    let service = start().await;
    inject(&service, 1, AT_THE_COMMIT, LOSES).await;
    begin(&service).await.unwrap();
    assert_eq!((sessions(&service).await, attempts(&service).await), (1, 2));
}

#[tokio::test]
async fn a_single_statement_that_deadlocked_is_retried() {
    let service = start().await;
    begin(&service).await.unwrap();
    inject(&service, 2, AT_THE_STATEMENT, DEADLOCKS).await;
    service.storage().end_session(&hash()).await.unwrap();
    assert_eq!((sessions(&service).await, attempts(&service).await), (0, 3));
    counts(
        &service,
        r#"transaction_repeats_total{transaction="db.sessions.delete"} 2"#,
    )
    .await;
    counts(
        &service,
        r#"transactions_total{transaction="db.sessions.delete",result="committed"} 1"#,
    )
    .await;
}

#[tokio::test]
async fn a_conflict_that_never_ends_is_an_error_and_saves_nothing() {
    let service = start().await;
    inject(&service, u32::MAX, AT_THE_STATEMENT, LOSES).await;
    let lost = begin(&service).await;
    assert!(matches!(lost, Err(StorageError::Unavailable(_))), "{lost:?}");
    assert_eq!((sessions(&service).await, attempts(&service).await), (0, 6));
    counts(
        &service,
        r#"transactions_total{transaction="db.sessions.insert",result="failed"} 1"#,
    )
    .await;
}

#[tokio::test]
async fn a_commit_with_an_unknown_outcome_is_not_retried() {
    let service = start().await;
    inject(&service, u32::MAX, AT_THE_COMMIT, BREAKS).await;
    let broken = begin(&service).await;
    assert!(matches!(broken, Err(StorageError::Unavailable(_))), "{broken:?}");
    assert_eq!(attempts(&service).await, 1);
}
