//! Checks without Citus whether the database can be distributed by vault: every table is partitioned by the hash of
//! `vault_id`, every checked statement is planned with values, and its plan may read one partition only. A statement that
//! reads all of them would query every node. Where that is necessary, the statement is listed here with the reason.

use crate::harness::Database;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};
use std::collections::BTreeSet;
use std::fs;

const PARTITIONS: usize = 4;

/// Statements over all vaults, by a part of their text, with the reason.
const SWEEPS: &str = r#"
    FROM records WHERE marks IS NOT NULL AND status = 'active' → records that have an end are looked for page by page, whosever they are
    SELECT vault_id FROM updates WHERE vault_id > $1 → old runs go vault by vault: the next vault that has any
    DELETE FROM search_vectors WHERE (vault_id, space_id, memory_id) IN → vectors of a model that was replaced go, whosever they are
    FROM memories WHERE (vault_id, memory_id) > ($1, $2) AND (embedded_version IS NULL → with a new model memories are marked page by page, whosever they are
    FROM search_vectors CROSS JOIN LATERAL → how many passages there are, for `embeddings status`
    count(*) FILTER (WHERE embedded_version IS NULL → how many memories are still to be embedded, for `embeddings status`
    SELECT vault_id FROM events WHERE vault_id > $1 → old events go vault by vault: the next vault that has any
    SELECT DISTINCT ON (vault_id, memory_id) vault_id, memory_id, update_id, created_at → which queued updates are due; a new one is announced by a notification with its vault
    FROM updates WHERE status = 'proposed' AND finished_at <= $1 → proposals that have expired
    FROM prompt_items WHERE expires_at <= $1 → items that have expired
    FROM unnest((SELECT $1::text[]), $2::text[]) AS wanted (vault, memory) → reads of several vaults in a batch, which a distributed database is not sent
    SELECT vault_id, count(*) AS "memories!", max(changed_at) → the list of vaults, in byte order whatever the collation of the database is
    FROM vault_storage WHERE vault_id <> ALL ($3) GROUP BY vault_id HAVING count(*) > $1 → vaults whose counts are to be summed up
    FROM memories WHERE search_pending AND (vault_id, memory_id) > ($1, $2) → memories to be indexed without a notification
    FROM memories WHERE embedded_version < indexed_version AND (vault_id, memory_id) > ($1, $2) → memories to be embedded without a notification
    count(*) FILTER (WHERE status = 'queued') → the queue's length, for the metrics
    FROM idempotency_keys WHERE expires_at <= $1 → keys that have expired"#;

/// Expressions whose value depends on the session or the call: not allowed in a statement that changes a distributed table.
/// `now()` is: it is stable, and Citus evaluates stable functions that take no column on the coordinator, once for the
/// transaction. A literal interval could be one of months, whose length depends on the session's time zone.
const NOT_IMMUTABLE: [&str; 8] = [
    "interval '",
    "clock_timestamp(",
    "random(",
    "gen_random_uuid(",
    "nextval(",
    "current_setting(",
    "convert_to(",
    "to_tsvector(",
];

/// The parts of the statements over all vaults.
fn sweeps() -> impl Iterator<Item = &'static str> {
    let rows = SWEEPS.trim().lines();
    rows.map(|row| row.trim().split_once(" → ").unwrap().0)
}

/// A checked statement with a value for each parameter.
struct Checked {
    text: String,
    types: Vec<String>,
    values: Vec<String>,
}

fn checked() -> Vec<Checked> {
    let mut all = Vec::new();
    for entry in fs::read_dir(".sqlx").unwrap() {
        let described: Value = serde_json::from_slice(&fs::read(entry.unwrap().path()).unwrap()).unwrap();
        let text = described["query"].as_str().unwrap().to_owned();
        let parameters = described["describe"]["parameters"]["Left"].as_array().unwrap();
        let (types, values) = (1..)
            .zip(parameters)
            .map(|(number, parameter)| {
                let is_json = text.contains(&format!("${number}::text::jsonb"));
                value(parameter.as_str().unwrap_or_default(), is_json)
            })
            .unzip();
        all.push(Checked { text, types, values });
    }
    assert!(all.len() > 100, "{}", all.len());
    all
}

/// A PostgreSQL type and a value of it.
fn value(kind: &str, is_json: bool) -> (String, String) {
    if let Some(of) = kind.strip_suffix("Array") {
        let (of, value) = value(of, false);
        return (format!("{of}[]"), format!("ARRAY[{value}::{of}]"));
    }
    let (of, value) = match kind {
        "Text" if is_json => ("text", "'{}'"),
        "Text" => ("text", "'acme'"),
        "Int4" => ("int", "1"),
        "Int8" => ("bigint", "1"),
        "Float4" => ("real", "1"),
        "Float8" => ("double precision", "1"),
        "Bool" => ("bool", "true"),
        "Bytea" => ("bytea", "'\\x00'"),
        "Date" => ("date", "'2026-01-01'"),
        "Timestamptz" => ("timestamptz", "'2026-01-01'"),
        "Interval" => ("interval", "'1 second'"),
        "Json" => ("json", "'{}'"),
        "Jsonb" => ("jsonb", "'{}'"),
        other => panic!("a value of the type {other} is needed here"),
    };
    (of.to_owned(), value.to_owned())
}

async fn execute(connection: &mut PgConnection, statement: String) {
    let done = sqlx::raw_sql(AssertSqlSafe(statement.clone()))
        .execute(connection)
        .await;
    done.unwrap_or_else(|error| panic!("{error}\n{statement}"));
}

/// Replaces every table with a `vault_id` by one that is partitioned by it.
async fn partition(connection: &mut PgConnection) {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT table_name::text FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
         WHERE table_schema = 'public' AND column_name = 'vault_id' AND table_type = 'BASE TABLE'",
    )
    .fetch_all(&mut *connection)
    .await
    .unwrap();
    assert!(tables.len() > 10, "{tables:?}");
    let keys: Vec<(String, String)> = sqlx::query_as(
        "SELECT conrelid::regclass::text, conname::text FROM pg_constraint WHERE contype = 'f'",
    )
    .fetch_all(&mut *connection)
    .await
    .unwrap();
    for (table, key) in keys {
        execute(connection, format!("ALTER TABLE {table} DROP CONSTRAINT {key}")).await;
    }
    for table in tables {
        execute(connection, format!("ALTER TABLE {table} RENAME TO {table}_whole")).await;
        let partitioned =
            format!("CREATE TABLE {table} (LIKE {table}_whole INCLUDING ALL) PARTITION BY HASH (vault_id)");
        execute(connection, partitioned).await;
        execute(connection, format!("DROP TABLE {table}_whole CASCADE")).await;
        for part in 0..PARTITIONS {
            let statement = format!(
                "CREATE TABLE {table}__part_{part} PARTITION OF {table}
                 FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part})"
            );
            execute(connection, statement).await;
        }
    }
}

/// The partitions that a plan reads or writes.
async fn partitions(connection: &mut PgConnection, number: usize, statement: &Checked) -> BTreeSet<char> {
    let Checked { text, types, values } = statement;
    let with = |list: &[String]| match list {
        [] => String::new(),
        list => format!("({})", list.join(", ")),
    };
    execute(connection, format!("PREPARE s{number}{} AS {text}", with(types))).await;
    let explain = format!("EXPLAIN (COSTS OFF) EXECUTE s{number}{}", with(values));
    let rows = sqlx::raw_sql(AssertSqlSafe(explain)).fetch_all(connection).await;
    let rows = rows.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let plan: Vec<String> = rows.iter().map(|row| row.get::<String, _>(0)).collect();
    let plan = plan.join("\n");
    plan.match_indices("__part_")
        .filter_map(|(at, name)| plan[at + name.len()..].chars().next())
        .collect()
}

#[tokio::test]
async fn every_statement_reads_one_partition() {
    let database = Database::create().await;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    partition(&mut connection).await;
    execute(
        &mut connection,
        "SET plan_cache_mode = force_custom_plan".to_owned(),
    )
    .await;
    let mut used = BTreeSet::new();
    let mut crossing = Vec::new();
    for (number, statement) in checked().iter().enumerate() {
        // A distributed database gets the pieces of this one, each of which names its vault.
        if statement
            .text
            .starts_with("-- Saves versions of different memories")
        {
            continue;
        }
        let parts = partitions(&mut connection, number, statement).await;
        if parts.len() <= 1 {
            continue;
        }
        let text = statement.text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            !text.contains("FOR UPDATE"),
            "rows of several vaults are not locked by one statement: {text}"
        );
        match sweeps().find(|part| text.contains(part)) {
            Some(part) => {
                used.insert(part);
            }
            None => crossing.push(text),
        }
    }
    assert!(
        crossing.is_empty(),
        "these read every vault:\n{}",
        crossing.join("\n")
    );
    for part in sweeps() {
        assert!(
            used.contains(part),
            "no statement reads every vault for {part:?} any more"
        );
    }
}

#[test]
fn statements_that_change_a_table_are_deterministic() {
    for Checked { text, .. } in checked() {
        let changes = ["INSERT INTO", "UPDATE ", "DELETE FROM"];
        if changes.iter().any(|change| text.contains(change)) {
            for function in NOT_IMMUTABLE {
                assert!(!text.contains(function), "{function} in\n{text}");
            }
        }
    }
}

/// Expressions of the statement that saves versions: the memories that it locked and updated, by their vaults.
const MOVED: &str = "moved";

/// Each `INSERT` of a statement that takes its rows from arrays or JSON, from its first word to its last row.
fn inserts_of_lists(text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let inserts = text.split("INSERT INTO ").skip(1).map(|insert| {
        let end = ["ON CONFLICT", "RETURNING"]
            .iter()
            .filter_map(|behind| insert.find(behind))
            .min();
        insert[..end.unwrap_or(insert.len())].to_owned()
    });
    let lists = ["unnest(", "json_to_recordset("];
    inserts
        .filter(|insert| lists.iter().any(|list| insert.contains(list)))
        .collect()
}

/// The tables that an insert reads its rows from, joined with the arrays.
fn joined(insert: &str) -> Vec<&str> {
    let words: Vec<&str> = insert.split(' ').collect();
    let from = words
        .windows(2)
        .filter(|pair| ["FROM", "JOIN"].contains(&pair[0]))
        .map(|pair| pair[1]);
    from.filter(|table| table.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .collect()
}

fn is_beside_a_row_of_its_vault(insert: &str) -> bool {
    joined(insert).iter().any(|table| {
        let given = ["= $", "= ANY($", "= ANY ($"]
            .iter()
            .any(|given| insert.contains(&format!("{table}.vault_id {given}")));
        *table == MOVED || given
    })
}

/// Rows that come only from arrays belong to no node: a distributed database would collect them on its coordinator, send them
/// to the nodes and commit in two phases.
#[test]
fn rows_from_arrays_are_joined_with_a_row_of_their_vault() {
    let mut found = 0;
    for Checked { text, .. } in checked() {
        for insert in inserts_of_lists(&text) {
            found += 1;
            assert!(
                is_beside_a_row_of_its_vault(&insert),
                "rows of lists, joined with no table by its vault: INSERT INTO {insert}"
            );
        }
    }
    assert!(found > 2, "{found}");
}

/// In a query on a table, `pg_notify` would run on a worker node, where nobody listens. On a single server the statement that
/// saves versions contains it (`save_versions.sql`); a distributed database gets separate statements without it.
#[test]
fn instances_are_notified_by_a_separate_statement() {
    let notifying: Vec<String> = checked()
        .into_iter()
        .map(|statement| statement.text)
        .filter(|text| text.contains("pg_notify") && !text.contains("INSERT INTO memory_contexts"))
        .collect();
    assert!(!notifying.is_empty());
    for text in notifying {
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(
            !["FROM", "INTO", "UPDATE"].iter().any(|of| words.contains(of)),
            "pg_notify on a table: {text}"
        );
    }
}
