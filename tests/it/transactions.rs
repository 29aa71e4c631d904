//! Transactions and single statements that fail with serialization failures or deadlocks are retried and counted by name, and
//! are not retried where their outcome is unknown.

use crate::harness::{Service, holds};
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
         {moment} FOR EACH ROW EXECUTE FUNCTION happens();"
    );
    service.execute(statement).await;
}

const AT_THE_STATEMENT: &str = "CREATE TRIGGER happens BEFORE INSERT OR DELETE ON sessions";
const AT_THE_COMMIT: &str =
    "CREATE CONSTRAINT TRIGGER happens AFTER INSERT OR DELETE ON sessions DEFERRABLE INITIALLY DEFERRED";
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

/// Checks how many sessions there are, after how many attempts, and what is counted.
async fn there_are(service: &Service, sessions: i64, attempts: i64, counted: &[&str]) {
    assert_eq!(service.count("sessions").await, sessions);
    let tried: i64 = service.value("SELECT last_value FROM attempts").await;
    assert_eq!(tried, attempts);
    holds(service.get("/metrics").await.is(200).text(), counted);
}

#[tokio::test]
async fn a_transaction_that_failed_by_a_conflict_is_retried_and_counted() {
    let service = start().await;
    inject(&service, 2, AT_THE_STATEMENT, LOSES).await;
    begin(&service).await.unwrap();
    let counted = [
        r#"transaction_repeats_total{transaction="db.sessions.insert"} 2"#,
        r#"transactions_total{transaction="db.sessions.insert",result="committed"} 1"#,
    ];
    there_are(&service, 1, 3, &counted).await;
}

#[tokio::test]
async fn a_commit_that_the_database_rejected_is_retried_too() {
    let service = start().await;
    inject(&service, 1, AT_THE_COMMIT, LOSES).await;
    begin(&service).await.unwrap();
    there_are(&service, 1, 2, &[]).await;
}

#[tokio::test]
async fn a_single_statement_that_deadlocked_is_retried() {
    let service = start().await;
    begin(&service).await.unwrap();
    inject(&service, 2, AT_THE_STATEMENT, DEADLOCKS).await;
    service.storage().end_session(&hash()).await.unwrap();
    let counted = [
        r#"transaction_repeats_total{transaction="db.sessions.delete"} 2"#,
        r#"transactions_total{transaction="db.sessions.delete",result="committed"} 1"#,
    ];
    there_are(&service, 0, 3, &counted).await;
}

#[tokio::test]
async fn a_conflict_that_never_ends_is_an_error_and_an_unknown_outcome_is_not_retried() {
    let failed = r#"transactions_total{transaction="db.sessions.insert",result="failed"} 1"#;
    for (moment, what, attempts, counted) in [
        (AT_THE_STATEMENT, LOSES, 6, &[failed][..]),
        (AT_THE_COMMIT, BREAKS, 1, &[]),
    ] {
        let service = start().await;
        inject(&service, u32::MAX, moment, what).await;
        let lost = begin(&service).await;
        assert!(matches!(lost, Err(StorageError::Unavailable(_))), "{lost:?}");
        there_are(&service, 0, attempts, counted).await;
    }
}
