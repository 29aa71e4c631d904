//! Requests with an `Idempotency-Key` while services, databases and connections are killed: each happens once.

use super::program::{PATIENCE, Program, eventually, folder};
use futures::future::join_all;
use reqwest::Method;
use rustix::process::{Signal, kill_process};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const WRITERS: usize = 16;
const MEMORIES: usize = 4;

/// What the writers share.
#[derive(Default)]
struct Writing {
    /// Where the service answers at the moment.
    address: Mutex<String>,
    done: AtomicUsize,
    stop: AtomicBool,
}

impl Writing {
    /// Puts or records one text after the other, each again and again with its key until it is told how that ended.
    /// Returns the texts, and whether each was put.
    async fn write(&self, writer: usize) -> Vec<(String, bool)> {
        let client = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .pool_max_idle_per_host(0)
            .timeout(PATIENCE)
            .build()
            .unwrap();
        let mut written = Vec::new();
        let memory = writer % MEMORIES;
        for number in 0.. {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let is_put = number % 2 == 0;
            let text = format!("writer {writer} text {number}.");
            let began = Instant::now();
            loop {
                assert!(began.elapsed() < PATIENCE, "no answer to {text}");
                let address = self.address.lock().unwrap().clone();
                let path = format!("{address}/v1/vaults/v/memories/m{memory}");
                let request = if is_put {
                    let request = client.put(format!("{path}/context"));
                    request
                        .header("Content-Type", "text/plain")
                        .body(format!("# Facts\n{text}\n"))
                } else {
                    let task = serde_json::json!({"intent": text, "summary": "done"});
                    client.request(Method::POST, format!("{path}/tasks")).json(&task)
                };
                let answered = request
                    .header("Idempotency-Key", text.replace(' ', "-"))
                    .send()
                    .await;
                let status = match answered {
                    Ok(response) => {
                        let status = response.status().as_u16();
                        // What was cut off told nothing.
                        response.bytes().await.map_or(0, |_| status)
                    }
                    Err(_) => 0,
                };
                match status {
                    201 => break,
                    0 | 409 | 503 => tokio::time::sleep(Duration::from_millis(30)).await,
                    other => panic!("{text}: {other}"),
                }
            }
            self.done.fetch_add(1, Ordering::Relaxed);
            written.push((text, is_put));
        }
        written
    }

    async fn until_done(&self, more: usize) {
        let goal = self.done.load(Ordering::Relaxed) + more;
        eventually("enough is written", async || {
            self.done.load(Ordering::Relaxed) >= goal
        })
        .await;
    }
}

async fn database(folder: &Path) -> PgConnection {
    let options = PgConnectOptions::new()
        .socket(folder.join("data/postgres/run"))
        .username("working_memory")
        .database("working_memory");
    PgConnection::connect_with(&options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_with_a_key_happens_once_whatever_dies() {
    let folder = folder();
    let mut program = Program::start(folder.path()).await;
    let writing = Writing {
        address: Mutex::new(program.address.clone()),
        ..Writing::default()
    };

    let writers = join_all((0..WRITERS).map(|writer| writing.write(writer)));
    let (written, ()) = tokio::join!(writers, async {
        writing.until_done(60).await;
        for round in 0..2 {
            // Connections are cut, some while they commit.
            for _ in 0..5 {
                let mut connection = database(folder.path()).await;
                sqlx::query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE datname = current_database() AND pid <> pg_backend_pid()",
                )
                .execute(&mut connection)
                .await
                .unwrap();
                writing.until_done(10).await;
            }
            // The database is killed, and comes back.
            let killed = program.postmaster().unwrap();
            kill_process(killed, Signal::KILL).unwrap();
            let back = Instant::now();
            writing.until_done(20).await;
            assert!(back.elapsed() < Duration::from_secs(20), "{:?}", back.elapsed());
            // So is the service.
            program.signal(Signal::KILL);
            program.ended().await;
            program = Program::start(folder.path()).await;
            writing.address.lock().unwrap().clone_from(&program.address);
            let began = Instant::now();
            writing.until_done(WRITERS * 2).await;
            let waited = began.elapsed();
            assert!(
                waited < Duration::from_secs(20),
                "round {round}: retries waited {waited:?}"
            );
        }
        writing.stop.store(true, Ordering::Relaxed);
    });

    let mut connection = database(folder.path()).await;
    let texts: Vec<String> = sqlx::query_scalar("SELECT context FROM memory_contexts WHERE source = 'put'")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let tasks: Vec<String> =
        sqlx::query_scalar("SELECT intent FROM records WHERE kind = 'T' AND intent IS NOT NULL")
            .fetch_all(&mut connection)
            .await
            .unwrap();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for text in texts {
        *times
            .entry(text.trim_start_matches("# Facts\n").trim_end().to_owned())
            .or_default() += 1;
    }
    for task in tasks {
        *times.entry(task).or_default() += 1;
    }
    let asked = written.into_iter().flatten();
    let mut count = 0;
    for (text, is_put) in asked {
        assert_eq!(times.remove(&text), Some(1), "{text} (put: {is_put})");
        count += 1;
    }
    assert!(count > 200, "{count}");
    assert_eq!(times, BTreeMap::new(), "nobody asked for these");
}
