//! Measures a handoff of a memory with 10,000 records of which 200 changed in its window, over HTTP. Targets:
//! reading it with its freshness under 3 ms at the median, making it without a model under 50 ms.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark shows what it measured, or fails"
)]

mod service;

use service::{Service, client, is_wanted, millis, percentile};
use sqlx::{Connection as _, PgConnection};
use std::process::ExitCode;
use std::time::Instant;

const RECORDS: i64 = 10_000;
const RECENT: i64 = 200;
const READS: usize = 1_000;
const MAKINGS: usize = 100;

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
    fill(&mut connection).await;
    let address = format!("{}/v1/vaults/bench/memories/large/handoff", service.url);
    let mut making = Vec::new();
    for _ in 0..MAKINGS {
        let request = client.post(format!("{address}/refresh?force=true"));
        making.push(time(request, 201).await);
    }
    let mut fresh = Vec::new();
    for _ in 0..READS {
        fresh.push(time(client.get(&address), 200).await);
    }
    // One more version, so that the newest text and the changes since must be read.
    let put = client.put(format!("{}/v1/vaults/bench/memories/large/context", service.url));
    let text = document(RECENT - 1);
    time(put.header("Content-Type", "text/plain").body(text), 201).await;
    let mut stale = Vec::new();
    for _ in 0..READS {
        stale.push(time(client.get(&address), 200).await);
    }
    println!("{:34} {:>10} {:>10} {:>10}", "ms", "median", "p99", "target");
    let mut missed = false;
    for (name, times, target) in [
        ("POST handoff/refresh?force=true", &mut making, 50.0),
        ("GET handoff, fresh", &mut fresh, 3.0),
        ("GET handoff, stale", &mut stale, 3.0),
    ] {
        let (median, late) = (percentile(times, 0.5), percentile(times, 0.99));
        missed |= median > target;
        println!("{name:34} {median:10.3} {late:10.3} {target:10.1}");
    }
    if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

async fn time(request: reqwest::RequestBuilder, status: u16) -> f64 {
    let began = Instant::now();
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), status);
    let body = answer.bytes().await.unwrap();
    let time = millis(began.elapsed());
    assert!(body.len() > 50);
    time
}

fn document(records: i64) -> String {
    let lines = (1..=records).map(|n| {
        format!(
            "- KL-{} because it is so: what was learnt, number {n}\n",
            RECORDS - RECENT + n
        )
    });
    format!(
        "# Current Progress\n## In Progress\n- measuring\n\n# Key Learnings\n{}",
        lines.collect::<String>()
    )
}

/// Inserts one memory with two versions: the first contains the old records, the second the recent ones.
async fn fill(connection: &mut PgConnection) {
    let text = document(RECENT);
    let mut transaction = connection.begin().await.unwrap();
    let statements = [
        "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, counters, created_at, changed_at)
         VALUES ('bench', 'large', 2, 'large-2', ARRAY[$1], now() - interval '9 days', now() - interval '1 hour')",
        "INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                      source, bytes, log)
         SELECT 'bench', 'large', 'large-' || version, 'bench', $1::text,
                CASE version WHEN 1 THEN now() - interval '9 days' ELSE now() - interval '1 hour' END,
                version, 'put', octet_length($1::text), ''
         FROM generate_series(1, 2) AS version",
        "INSERT INTO records (vault_id, memory_id, kind, number, status, reason, content, created_version, created_at,
                              created_by, ended_version, ended_at, ended_by)
         SELECT 'bench', 'large', 'KL', n, CASE WHEN old THEN 'archived' ELSE 'active' END, 'it is so',
                'what was learnt, number ' || n, CASE WHEN old THEN 1 ELSE 2 END,
                now() - CASE WHEN old THEN interval '9 days' ELSE interval '1 hour' END, 'bench',
                CASE WHEN old THEN 2 END, CASE WHEN old THEN now() - interval '8 days' END, CASE WHEN old THEN 'bench' END
         FROM generate_series(1, $1::bigint) AS n, LATERAL (SELECT n <= $1::bigint - $2::bigint AS old) AS age",
        "INSERT INTO record_changes (vault_id, memory_id, kind, number, version, change, at, by)
         SELECT vault_id, memory_id, kind, number, created_version, 'added', created_at, created_by FROM records",
        "INSERT INTO record_changes (vault_id, memory_id, kind, number, version, change, at, by)
         SELECT vault_id, memory_id, kind, number, ended_version, 'archived', ended_at, ended_by FROM records
         WHERE status = 'archived'",
    ];
    for (index, statement) in statements.into_iter().enumerate() {
        let mut query = sqlx::query(statement);
        // A statement takes exactly the parameters that it names.
        query = match index {
            0 => query.bind(RECORDS),
            1 => query.bind(&text),
            2 => query.bind(RECORDS).bind(RECENT),
            _ => query,
        };
        query.execute(&mut *transaction).await.unwrap();
    }
    transaction.commit().await.unwrap();
    sqlx::raw_sql("VACUUM ANALYZE").execute(connection).await.unwrap();
}
