//! How tables are distributed, and the error for a partly distributed database. There is no Citus here: functions and a table
//! with its names replace it and record their calls.

use crate::gathered::law::rows;
use crate::harness::{Database, Memory, Service, holds};
use crate::pipeline::dictated::{Dictated, dictate, learning};
use crate::transfer::program::PROGRAM;
use serde_json::json;
use sqlx::{Connection, PgConnection, raw_sql};
use std::process::{Command, Output};
use std::time::Duration;
use working_memory::storage::Distribution;

const STAND_IN: &str = "
CREATE TABLE asked (place BIGINT GENERATED ALWAYS AS IDENTITY, what TEXT NOT NULL);
CREATE TABLE pg_dist_partition (logicalrelid REGCLASS NOT NULL);
CREATE FUNCTION create_distributed_table(name REGCLASS, by TEXT, colocate_with TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    -- As the extension does: what it refers to stands first.
    IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND conrelid = name AND confrelid <> name
                 AND NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = confrelid)) THEN
        RAISE 'the parent of % is local', name;
    END IF;
    INSERT INTO pg_dist_partition VALUES (name);
    INSERT INTO asked (what) VALUES (name || ' by ' || by || ' beside ' || colocate_with);
END
$$;
CREATE FUNCTION create_reference_table(name REGCLASS) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pg_dist_partition VALUES (name);
    INSERT INTO asked (what) VALUES (name || ' everywhere');
END
$$;";

fn distribute(database: &Database) -> Output {
    Command::new(PROGRAM)
        .args(["migrate", "--distribute"])
        .env("DATABASE_URL", database.url())
        .output()
        .unwrap()
}

async fn recorded_calls(connection: &mut PgConnection) -> Vec<String> {
    sqlx::query_scalar("SELECT what FROM asked ORDER BY place")
        .fetch_all(connection)
        .await
        .unwrap()
}

#[tokio::test]
async fn every_table_is_distributed_once_after_the_tables_it_references() {
    let database = Database::create().await;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    let without = distribute(&database);
    assert!(!without.status.success(), "the functions are not there");
    holds(
        String::from_utf8_lossy(&without.stderr),
        &["CREATE EXTENSION citus"],
    );

    raw_sql(STAND_IN).execute(&mut connection).await.unwrap();
    let output = distribute(&database);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let all = recorded_calls(&mut connection).await;
    assert_eq!(all[0], "api_keys everywhere");
    assert_eq!(all[1], "memories by vault_id beside none");
    for said in &all[2..] {
        assert!(said.ends_with(" by vault_id beside memories"), "{said}");
    }
    let tables: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM information_schema.columns
         WHERE table_schema = 'public' AND column_name = 'vault_id'",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(i64::try_from(all.len()).unwrap(), tables);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), all.len());

    // An interrupted distribution is continued; tables that are distributed already are left alone.
    raw_sql("DELETE FROM pg_dist_partition WHERE logicalrelid = 'events'::regclass")
        .execute(&mut connection)
        .await
        .unwrap();
    let output = distribute(&database);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "distributed: events\n");
    assert_eq!(String::from_utf8_lossy(&distribute(&database).stdout), "");
}

#[tokio::test]
async fn distribution_is_detected_by_the_tables_and_not_by_the_extension() {
    let service = Service::start().await;
    let storage = service.storage();
    let distribution = async || storage.distribution().await.unwrap();
    assert_eq!(distribution().await, Distribution::Local);
    service.execute(STAND_IN).await;
    // The extension is installed, but no table of the service is distributed.
    assert_eq!(distribution().await, Distribution::Local);
    service
        .execute("INSERT INTO pg_dist_partition VALUES ('asked')")
        .await;
    assert_eq!(distribution().await, Distribution::Local);

    service
        .execute("INSERT INTO pg_dist_partition VALUES ('memories'), ('memory_contexts')")
        .await;
    let Distribution::Partial { local } = distribution().await else {
        panic!("some are not distributed");
    };
    assert!(
        local.contains(&"events".to_owned()) && !local.contains(&"memories".to_owned()),
        "{local:?}"
    );
    // The service works nevertheless.
    service.memory("agent").write("one").await;

    storage.distribute().await.unwrap();
    assert_eq!(distribution().await, Distribution::ByVault);
}

/// The error of a distributed database for one vault when a node is lost.
const LOST_NODE: &str = "
CREATE FUNCTION lost_node() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.vault_id = 'lost' THEN
        RAISE EXCEPTION 'connection to the remote node failed' USING ERRCODE = 'XX000';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER lost_node BEFORE INSERT OR UPDATE ON memories FOR EACH ROW EXECUTE FUNCTION lost_node();";

#[tokio::test]
async fn a_lost_node_means_an_unknown_outcome_with_nodes_and_an_error_without() {
    let service = Service::start().await;
    service.execute(LOST_NODE).await;
    let lost = Memory::new(&service, "lost", "agent");
    lost.put("one").await.problem(500, "internal", None);

    service.execute(STAND_IN).await;
    service
        .execute("INSERT INTO pg_dist_partition VALUES ('memories'), ('memory_contexts')")
        .await;
    service.storage().distribution().await.unwrap();
    let answer = lost.put("one").await;
    assert_eq!(answer.header("retry-after"), "1");
    answer.problem(503, "unavailable", None);
    // The other vaults are on other nodes.
    service.memory("agent").write("one").await;
}

/// Versions by puts, by operations that add, change and archive records, and by an update with a run.
async fn live(service: &Service) {
    let memory = service.memory("agent");
    memory.write("# Notes\none\n").await;
    memory
        .write("# Notes\none\n\n# Key Learnings\n- KL-1 because it was seen: old\n")
        .await;
    let operations = json!({ "operations": [
        {"op": "add", "section": "learnings", "reason": "seen", "content": "new", "replaces": "KL-1"},
        {"op": "add", "section": "verbatim", "reason": "said", "label": "l", "content": "x = 1"},
    ] });
    memory.asked("", operations).await;
    let update = dictate(json!({ "learnings": learning("by a model") }));
    memory.updated(update).await;
    memory.write("# Notes\nleft alone\n").await;
    let unchanged = memory.put("# Notes\nleft alone\n").await.is(200).json();
    assert_eq!(unchanged["unchanged"], true);
}

#[tokio::test]
async fn separate_statements_save_the_same_rows_as_one_statement() {
    let models = Dictated::new();
    let at_once = models.service().await;
    live(&at_once).await;

    let in_pieces = models.service().await;
    raw_sql(STAND_IN).execute(in_pieces.rows()).await.unwrap();
    in_pieces.storage().distribute().await.unwrap();
    assert_eq!(
        in_pieces.storage().distribution().await.unwrap(),
        Distribution::ByVault
    );
    let mut error_output = in_pieces.storage().notifications();
    live(&in_pieces).await;

    let (expected, found) = (rows(&at_once).await, rows(&in_pieces).await);
    assert!(expected.iter().all(|rows| !rows.is_empty()), "{expected:?}");
    assert_eq!(found, expected);
    in_pieces.listen().await;
    in_pieces.memory("agent").put("told").await.is(201);
    let heard = tokio::time::timeout(Duration::from_secs(20), error_output.recv()).await;
    assert_eq!(heard.unwrap().unwrap().memory.as_str(), "agent");
}
