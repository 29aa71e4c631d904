//! Measures whether reads depend on the number of a memory's versions: from 1 to 100,000, over HTTP, on one service
//! process and database. `make bench` parses the table.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark shows what it measured, or fails"
)]

mod service;

use reqwest::Client;
use reqwest::header::CACHE_CONTROL;
use service::{Service, client, is_wanted, millis, percentile};
use sqlx::{Connection as _, PgConnection};
use std::process::ExitCode;
use std::time::Instant;

/// The numbers of versions of the memories.
const VERSIONS: [i64; 6] = [1, 10, 100, 1_000, 10_000, 100_000];
const ROUNDS: usize = 9;
/// Requests of one kind to one memory per round; the memories alternate.
const REQUESTS: usize = 200;

/// A kind of request, and its target.
struct Read {
    name: &'static str,
    /// `{version}` is one of the memory's versions, `{cursor}` the cursor in the middle of its list.
    path: &'static str,
    past_caches: bool,
    /// The smallest number of versions with which the response is as large as with more.
    from: i64,
    /// The largest allowed ratio of the time with the most versions to that with the fewest.
    target: f64,
}

const READS: [Read; 5] = [
    Read {
        name: "GetLatestContext",
        path: "context",
        past_caches: false,
        from: 1,
        target: 1.1,
    },
    Read {
        name: "GetLatestContext, no-cache",
        path: "context",
        past_caches: true,
        from: 1,
        target: 1.1,
    },
    Read {
        name: "GetContext by version",
        path: "contexts/{version}",
        past_caches: false,
        from: 1,
        target: 1.2,
    },
    Read {
        name: "ListContexts, first page of 10",
        path: "contexts?limit=10",
        past_caches: false,
        from: 10,
        target: 1.2,
    },
    Read {
        name: "ListContexts, 5 in the middle",
        path: "contexts?limit=5&cursor={cursor}",
        past_caches: false,
        from: 10,
        target: 1.2,
    },
];

/// A memory that is read.
struct Memory {
    id: String,
    versions: i64,
    /// The cursor after half of its list.
    cursor: String,
}

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
    for versions in VERSIONS {
        fill(&mut connection, &memory_id(versions), versions).await;
    }
    sqlx::raw_sql("VACUUM ANALYZE")
        .execute(&mut connection)
        .await
        .unwrap();
    let mut memories = Vec::new();
    for versions in VERSIONS {
        let id = memory_id(versions);
        let cursor = middle(&client, &service, &id, versions).await;
        memories.push(Memory { id, versions, cursor });
    }

    print!("{:30}", "median, ms, by versions");
    for versions in VERSIONS {
        print!(" {versions:>8}");
    }
    println!("    ratio");
    let mut missed = false;
    for kind in &READS {
        missed |= measure(&client, &service, &memories, kind).await > kind.target;
    }
    if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn memory_id(versions: i64) -> String {
    format!("of-{versions}")
}

/// Measures one kind of request, prints its line, and returns the ratio of the time with the most versions to that
/// with the fewest: the median of the rounds.
async fn measure(client: &Client, service: &Service, memories: &[Memory], kind: &Read) -> f64 {
    let memories: Vec<&Memory> = memories
        .iter()
        .filter(|memory| memory.versions >= kind.from)
        .collect();
    let mut medians = vec![Vec::new(); memories.len()];
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let mut times = vec![Vec::new(); memories.len()];
        for _ in 0..REQUESTS {
            for (memory, times) in memories.iter().zip(&mut times) {
                times.push(read(client, service, memory, kind).await);
            }
        }
        let found: Vec<f64> = times.iter_mut().map(|times| percentile(times, 0.5)).collect();
        ratios.push(found[found.len() - 1] / found[0]);
        for (median, medians) in found.into_iter().zip(&mut medians) {
            medians.push(median);
        }
    }
    print!("{:30}", kind.name);
    for _ in memories.len()..VERSIONS.len() {
        print!(" {:>8}", "-");
    }
    for medians in &mut medians {
        print!(" {:8.3}", percentile(medians, 0.5));
    }
    let ratio = percentile(&mut ratios, 0.5);
    println!(" {ratio:8.2}");
    ratio
}

/// Inserts a memory with that many versions of about 4 KB, with the rows that puts would create.
async fn fill(connection: &mut PgConnection, memory: &str, versions: i64) {
    let mut transaction = connection.begin().await.unwrap();
    let statements = [
        "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, created_at, changed_at)
         VALUES ('bench', $1, $2, $1 || '-' || $2, '2026-01-01Z',
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

/// The cursor after half of the list; none if the list is that short.
async fn middle(client: &Client, service: &Service, memory: &str, versions: i64) -> String {
    let page = (versions / 2).clamp(1, 500);
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

/// Sends one request; returns its time in milliseconds.
async fn read(client: &Client, service: &Service, memory: &Memory, kind: &Read) -> f64 {
    let version = fastrand::i64(1..=memory.versions).to_string();
    let path = kind
        .path
        .replace("{version}", &version)
        .replace("{cursor}", &memory.cursor);
    let mut request = client.get(address(service, &memory.id, &path));
    if kind.past_caches {
        request = request.header(CACHE_CONTROL, "no-cache");
    }
    let began = Instant::now();
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let body = answer.bytes().await.unwrap();
    let time = millis(began.elapsed());
    assert!(body.len() > 500, "{path} answers too little");
    time
}
