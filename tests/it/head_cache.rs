//! The head cache: it never returns a version older than promised, whatever happens to the listening connection.

use crate::gathered::{ALL_VERSIONS, Hold};
use crate::harness::{Answer, Memory, Relay, Service, Target, eventually};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use working_memory::storage::STALENESS_BOUND;

/// A service that listens for notifications and caches heads.
async fn with_cache() -> Service {
    let service = Service::start().await;
    service.listen().await;
    let memory = service.memory("probe");
    memory.write("probe").await;
    wait_until_cached(&service, &memory).await;
    service
}

/// Reads a memory until the database is not queried: until the notification of its own commit arrives, nothing is cached.
async fn wait_until_cached(service: &Service, memory: &Memory) {
    eventually("nothing is cached", || async {
        let before = service.storage().head_cache().hits;
        memory.get("context").await.is(200);
        service.storage().head_cache().hits > before
    })
    .await;
}

/// The server process of the listening connection, if there is one.
async fn listener_of(service: &Service) -> Option<i32> {
    sqlx::query_scalar(
        "SELECT pid FROM pg_stat_activity
         WHERE application_name = 'working-memory listener' AND datname = current_database()",
    )
    .fetch_optional(service.rows())
    .await
    .unwrap()
}

#[tokio::test]
async fn a_second_read_is_answered_from_the_cache() {
    let (service, memory) = with_cache().await.agent();
    memory.write("# Notes\nkept\n").await;
    wait_until_cached(&service, &memory).await;
    let first = memory.get("context").await.is(200);
    let hold = Hold::of(&service, ALL_VERSIONS).await;

    let again = memory.get("context").await.is(200);
    assert_eq!(
        (again.text(), again.header("etag")),
        (first.text(), first.header("etag"))
    );
    assert_eq!(again.header("last-modified"), first.header("last-modified"));
    memory.get_json("context").await.is(200);
    memory.get("context?section=notes").await.is(200);
    let tag = first.header("etag").to_owned();
    memory.get_with("context", "If-None-Match", &tag).await.is(304);

    let asking = memory.uncached().timeout(Duration::from_millis(300));
    let asking = asking.send().await;
    assert!(
        asking.is_err_and(|error| error.is_timeout()),
        "the database was not queried"
    );
    hold.end().await;
    assert_eq!(Answer::to(memory.uncached()).await.is(200).text(), first.text());
}

#[tokio::test]
async fn a_writer_reads_what_it_wrote() {
    let (_, memory) = with_cache().await.agent();
    for number in 0..50 {
        let text = format!("- [KL-{number}] put {number}\n");
        memory.write(text.clone()).await;
        assert_eq!(memory.text().await, text);
        let decision = serde_json::json!({"decision": format!("decision {number}"), "reason": "because"});
        memory.post("decisions", &decision).await.is(201);
        assert!(memory.text().await.contains(&format!("decision {number}\n")));
        if number % 10 == 9 {
            memory.delete().await.is(204);
            memory.get("context").await.is(404);
        }
    }
}

#[tokio::test]
async fn writes_and_deletions_of_another_instance_are_seen_within_the_bound() {
    let one = with_cache().await;
    let two = one.beside(None).await;
    let (here, there) = (one.memory("agent"), two.memory("agent"));
    for number in 0..20 {
        let text = format!("text {number}");
        there.write(text.clone()).await;
        let written = Instant::now();
        while here.text().await != text {
            assert!(written.elapsed() < STALENESS_BOUND, "text {number} is not seen");
        }
    }
    there.delete().await.is(204);
    let deleted = Instant::now();
    while here.get("context").await.status != 404 {
        assert!(deleted.elapsed() < STALENESS_BOUND, "still there");
    }
}

/// Resumes the stopped server process when the test ends, also after a panic: the database could not be dropped otherwise.
struct Stopped(i32);

impl Stopped {
    fn new(process: i32) -> Self {
        signal(process, "-STOP");
        Self(process)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        signal(self.0, "-CONT");
    }
}

fn signal(process: i32, signal: &str) {
    let done = Command::new("kill").args([signal, &process.to_string()]).status();
    assert!(done.unwrap().success());
}

/// While notifications are lost and the lease is still valid, the cached head is not the newest one.
#[tokio::test]
async fn a_stale_cached_head_neither_saves_nor_rejects_a_put() {
    let one = with_cache().await;
    let two = one.beside(None).await;
    let (here, there) = (one.memory("agent"), two.memory("agent"));
    there.write("# Notes\nfirst\n").await;
    eventually("not seen", || async { here.text().await.contains("first") }).await;
    let _stopped = Stopped::new(listener_of(&one).await.unwrap());

    // The cached text is this very text.
    there.write("# Notes\nsecond\n").await;
    let third = here.write("# Notes\nfirst\n").await;
    assert_eq!(third["version"], 3);
    // The cached head has another ETag.
    let fourth = there.put("# Notes\nfourth\n").await.is(201);
    let fifth = here
        .putting("# Notes\nfifth\n")
        .header("If-Match", fourth.header("etag"));
    assert_eq!(Answer::to(fifth).await.is(201).json()["version"], 5);
    // The cached head lacks a line that was there before this put.
    there.write("# Notes\nsixth\n").await;
    here.write("# Notes\nsixth\nseventh\n").await;
    let origins: Vec<i64> = one
        .value("SELECT line_origins FROM memory_contexts WHERE memory_id = 'agent' AND version = 7")
        .await;
    assert_eq!(origins, [1, 1, 6, 1, 7, 1], "version, lines, version, lines …");
    assert_eq!(there.text().await, "# Notes\nsixth\nseventh\n");
    assert_eq!(here.text().await, "# Notes\nsixth\nseventh\n");
}

#[tokio::test]
async fn nothing_is_cached_without_a_listening_connection() {
    let (service, memory) = Service::start().await.agent();
    memory.write("text").await;
    memory.get("context").await.is(200);
    memory.get("context").await.is(200);
    let used = service.storage().head_cache();
    assert_eq!((used.hits, used.heads, used.bytes), (0, 0, 0));
}

/// What happens to the connections to the database.
fn happen(relay: &Relay, random: &mut fastrand::Rng) {
    match random.u8(0..6) {
        0 | 1 => relay.fall_silent(),
        2 => relay.cut(),
        _ => relay.go_on(),
    }
}

/// Reads while the connections of the pool and of the listener are cut, silent and restored, each separately: no read returns
/// a version that was replaced, by an acknowledged write, longer ago than the bound.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_read_is_older_than_the_bound_whatever_happens_to_the_connections() {
    let writer = Service::start().await;
    let there = writer.memory("agent");
    there.write("0").await;
    let target = Target::of(&writer.database_url());
    let (pool, listener) = (Relay::to(target.clone()).await, Relay::to(target).await);
    let reader = Service::through(writer.database(), pool.url(&writer.database_url())).await;
    reader.listen_at(listener.url(&writer.database_url())).await;
    let here = reader.memory("agent");
    wait_until_cached(&reader, &here).await;

    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let (written, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    let acknowledged = Mutex::new(vec![(Instant::now(), 0_u64)]);
    let write = async {
        let mut number = 0;
        while !written.load(Ordering::Relaxed) {
            number += 1;
            there.write(number.to_string()).await;
            acknowledged.lock().unwrap().push((Instant::now(), number));
            sleep(Duration::from_millis(15)).await;
        }
    };
    let read = async {
        let mut reads = 0;
        while !stop.load(Ordering::Relaxed) {
            let requested_at = Instant::now();
            let answer = here.get("context").await;
            if answer.status == 200 {
                reads += 1;
                let found: u64 = answer.text().parse().unwrap();
                let acknowledged = acknowledged.lock().unwrap();
                let bound = acknowledged
                    .iter()
                    .rev()
                    .find(|(at, _)| requested_at.duration_since(*at) > STALENESS_BOUND);
                let is_new = bound.is_none_or(|(_, least)| found >= *least);
                assert!(is_new, "seed {seed}: {found} was read, {bound:?} was there");
            } else {
                answer.problem(503, "unavailable", None);
            }
            sleep(Duration::from_millis(5)).await;
        }
        reads
    };
    let history = async {
        for _ in 0..24 {
            let relay = if random.bool() { &pool } else { &listener };
            happen(relay, &mut random);
            sleep(Duration::from_millis(random.u64(20..500))).await;
        }
        pool.go_on();
        listener.go_on();
        // It serves from the cache again in the end. A slow machine reads less often than the writer writes, and would find
        // every head replaced: so the writer ends first.
        written.store(true, Ordering::Relaxed);
        let hits = reader.storage().head_cache().hits;
        eventually("nothing is cached again", || async {
            reader.storage().head_cache().hits > hits
        })
        .await;
        stop.store(true, Ordering::Relaxed);
    };
    let ((), reads, ()) = tokio::join!(write, read, history);
    assert!(reads > 0, "seed {seed}");
}

#[tokio::test]
async fn a_read_from_the_database_repairs_the_cache() {
    let one = with_cache().await;
    let two = one.beside(None).await;
    let (here, there) = (one.memory("agent"), two.memory("agent"));
    there.write("before").await;
    eventually("not seen", || async { here.text().await == "before" }).await;
    let _stopped = Stopped::new(listener_of(&one).await.unwrap());
    there.write("after").await;
    assert_eq!(Answer::to(here.uncached()).await.is(200).text(), "after");
    assert_eq!(here.text().await, "after");
}
