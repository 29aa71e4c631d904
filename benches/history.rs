//! Whether reads take longer the longer a memory's history is: 10 versions against 100,000, over HTTP, on one
//! service process and database. Target: at most 1.2 times the time.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark shows what it measured, or fails"
)]

mod service;

use reqwest::Client;
use service::{Service, client, is_wanted, millis, percentile};
use sqlx::{Connection as _, PgConnection};
use std::process::ExitCode;
use std::time::Instant;

/// A memory, and how many versions it has.
const SHORT: (&str, i64) = ("short", 10);
const LONG: (&str, i64) = ("long", 100_000);
const ROUNDS: usize = 9;
/// Requests of one kind to one memory in a round; those to the two memories alternate.
const REQUESTS: usize = 400;
const TARGET: f64 = 1.2;

/// The requests; `{version}` is one of the memory's versions, `{cursor}` the cursor in the middle of its list.
const READS: [(&str, &str); 4] = [
    ("GetLatestContext", "context"),
    ("GetContext by version", "contexts/{version}"),
    ("ListContexts, first page of 10", "contexts?limit=10"),
    (
        "ListContexts, page of 5 in the middle",
        "contexts?limit=5&cursor={cursor}",
    ),
];

#[tokio::main]
async fn main() -> ExitCode {
    if !is_wanted() {
        return ExitCode::SUCCESS;
    }
    let client = client();
    let service = Service::start(&client, &[]).await;
    let mut connection = PgConnection::connect(&std::env::var("DATABASE_URL").unwrap())
        .await
        .unwrap();
    for memory in [SHORT, LONG] {
        fill(&mut connection, memory).await;
    }
    sqlx::raw_sql("VACUUM ANALYZE")
        .execute(&mut connection)
        .await
        .unwrap();
    let cursors = [
        middle(&client, &service, SHORT, 5).await,
        middle(&client, &service, LONG, 500).await,
    ];

    println!(
        "{:38} {:>12} {:>12} {:>7}",
        "median, ms", "10 versions", "100,000", "ratio"
    );
    let mut missed = false;
    for (name, path) in READS {
        let (mut short, mut long, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let (mut ten, mut many) = (Vec::new(), Vec::new());
            for _ in 0..REQUESTS {
                ten.push(read(&client, &service, SHORT, path, &cursors[0]).await);
                many.push(read(&client, &service, LONG, path, &cursors[1]).await);
            }
            short.push(percentile(&mut ten, 0.5));
            long.push(percentile(&mut many, 0.5));
            ratios.push(long[long.len() - 1] / short[short.len() - 1]);
        }
        let ratio = percentile(&mut ratios, 0.5);
        missed |= ratio > TARGET;
        let (short, long) = (percentile(&mut short, 0.5), percentile(&mut long, 0.5));
        println!("{name:38} {short:12.3} {long:12.3} {ratio:7.2}");
    }
    if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Makes a memory with that many versions of about 4 KB, as puts would have made it.
async fn fill(connection: &mut PgConnection, (memory, versions): (&str, i64)) {
    let mut transaction = connection.begin().await.unwrap();
    let statements = [
        "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, learning_counter,
                               verbatim_counter, task_counter, decision_counter, created_at, changed_at)
         VALUES ('bench', $1, $2, $1 || '-' || $2, 1, 0, 0, 0, '2026-01-01Z',
                 '2026-01-01Z'::timestamptz + $2 * interval '1 second')",
        "INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                      source, bytes, log)
         SELECT 'bench', $1, $1 || '-' || version, 'bench', text, '2026-01-01Z'::timestamptz + version * interval '1 second',
                version, 'put', octet_length(text), 'document put'
         FROM generate_series(1, $2) AS version,
              LATERAL (SELECT E'# Notes\n' || string_agg(md5(version || '-' || part), E'\n')
                              || E'\n\n# Key Learnings\n- KL-1 because it is so: versions are many\n' AS text
                       FROM generate_series(1, 120) AS part) AS texts",
        "INSERT INTO records (vault_id, memory_id, kind, number, status, reason, content, created_version, created_at,
                              created_by)
         VALUES ('bench', $1, 'KL', 1, 'active', 'it is so', 'versions are many', 1,
                 '2026-01-01Z'::timestamptz + least($2, 1) * interval '1 second', 'bench')",
    ];
    for statement in statements {
        sqlx::query(statement)
            .bind(memory)
            .bind(versions)
            .execute(&mut *transaction)
            .await
            .unwrap();
    }
    transaction.commit().await.unwrap();
}

fn address(service: &Service, memory: &str, path: &str) -> String {
    format!("{}/v1/vaults/bench/memories/{memory}/{path}", service.url)
}

/// The cursor behind half of the list.
async fn middle(client: &Client, service: &Service, (memory, versions): (&str, i64), page: i64) -> String {
    let mut cursor = String::new();
    for _ in 0..versions / 2 / page {
        let path = match cursor.as_str() {
            "" => format!("contexts?limit={page}"),
            cursor => format!("contexts?limit={page}&cursor={cursor}"),
        };
        let answer = client.get(address(service, memory, &path)).send().await.unwrap();
        let list: serde_json::Value = answer.json().await.unwrap();
        list["next_cursor"].as_str().unwrap().clone_into(&mut cursor);
    }
    cursor
}

/// One request; its time in milliseconds.
async fn read(
    client: &Client,
    service: &Service,
    (memory, versions): (&str, i64),
    path: &str,
    cursor: &str,
) -> f64 {
    let version = fastrand::i64(1..=versions).to_string();
    let path = path.replace("{version}", &version).replace("{cursor}", cursor);
    let request = client.get(address(service, memory, &path));
    let began = Instant::now();
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let body = answer.bytes().await.unwrap();
    let time = millis(began.elapsed());
    assert!(body.len() > 500, "{path} answers too little");
    time
}
