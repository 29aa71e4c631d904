//! Group commit and batched reads: changes that share a transaction and reads that share a statement each have the result that
//! they would have alone.

pub(crate) mod law;

use crate::harness::{Answer, Service, eventually, has};
use crate::pipeline::dictated::{Dictated, dictate, learning, progress};
use futures::future::join_all;
use serde_json::json;
use sqlx::{Connection, Executor, PgConnection};
use std::time::Duration;
use tokio::task::JoinHandle;

/// A transaction that holds locks on tables or rows against the service.
pub(crate) struct Hold(PgConnection);

impl Hold {
    pub(crate) async fn of(service: &Service, statement: &'static str) -> Self {
        let mut connection = PgConnection::connect(&service.database_url()).await.unwrap();
        connection.execute("BEGIN").await.unwrap();
        connection.execute(statement).await.unwrap();
        Self(connection)
    }

    async fn commit(mut self) {
        self.0.execute("COMMIT").await.unwrap();
        self.0.close().await.unwrap();
    }

    pub(crate) async fn end(mut self) {
        self.0.execute("ROLLBACK").await.unwrap();
        self.0.close().await.unwrap();
    }
}

/// Blocks requests that would lock a memory's row.
const ALL_ROWS: &str = "LOCK TABLE memories IN EXCLUSIVE MODE";

/// How many requests are being answered, without the one that asks.
async fn running(service: &Service) -> u64 {
    let metrics = service.get("/metrics").await.is(200);
    let line = metrics
        .text()
        .lines()
        .find(|line| line.starts_with("http_requests_running"));
    let number = line.and_then(|line| line.split_once(' ')).unwrap().1;
    number.parse::<u64>().unwrap() - 1
}

/// Blocks requests that would read a version.
pub(crate) const ALL_VERSIONS: &str = "LOCK TABLE memory_contexts IN ACCESS EXCLUSIVE MODE";

/// Sends puts while all rows are locked.
async fn together(service: &Service, requests: Vec<reqwest::RequestBuilder>) -> Vec<Answer> {
    while_locked(ALL_ROWS, service, requests, 0).await
}

/// Sends requests while a lock is held, the first one before the others. Releases the lock when all requests have arrived and
/// this many changes wait for their batch.
async fn while_locked(
    held: &'static str,
    service: &Service,
    requests: Vec<reqwest::RequestBuilder>,
    waiting: usize,
) -> Vec<Answer> {
    let hold = Hold::of(service, held).await;
    let before = running(service).await;
    let mut sent: Vec<JoinHandle<Answer>> = Vec::new();
    for request in requests {
        sent.push(tokio::spawn(Answer::to(request)));
        let arrived = before + sent.len() as u64;
        eventually("a request arrives", async || running(service).await >= arrived).await;
    }
    // The count is raised when a request begins; what else it waits for is not visible, and does not change a response.
    tokio::time::sleep(Duration::from_millis(100)).await;
    eventually("changes wait", async || {
        service.storage().changes_waiting() >= waiting
    })
    .await;
    hold.end().await;
    join_all(sent).await.into_iter().map(Result::unwrap).collect()
}

/// In how many transactions the newest versions of these memories were created.
async fn transactions(service: &Service) -> i64 {
    service
        .value("SELECT count(DISTINCT xmin::text) FROM memory_contexts WHERE context LIKE '%together%'")
        .await
}

async fn with_memories(count: usize) -> Service {
    let service = Service::start().await;
    for number in 0..count {
        service.memory(&format!("m{number}")).write("before").await;
    }
    service
}

#[tokio::test]
async fn puts_that_wait_for_the_previous_batch_share_a_transaction() {
    let service = with_memories(12).await;
    let line = "# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because it shows: together";
    let texts: Vec<String> = (0..12).map(|number| format!("{line} {number}\n")).collect();
    let put = |number: usize| {
        service
            .memory(&format!("m{number}"))
            .putting(texts[number].as_str())
    };
    let requests = (0..12).map(put).collect();
    let answers = while_locked(ALL_ROWS, &service, requests, 11).await;
    for (number, answer) in answers.into_iter().enumerate() {
        let name = format!("m{number}");
        has(&answer.is(201).json(), json!({"version": 2, "memory_id": name}));
        let memory = service.memory(&name);
        assert_eq!(memory.text().await, texts[number]);
        has(&memory.read("records/KL-1").await, json!({"created_version": 2}));
        has(&memory.read("log").await, json!({"/items/0/version": 2}));
    }
    // The first, and those that waited for it.
    assert_eq!(transactions(&service).await, 2);
    assert_eq!(service.count("events").await, 24);
}

#[tokio::test]
async fn waiting_updates_share_a_transaction_with_their_runs_and_records() {
    let models = Dictated::new();
    let service = models.service().await;
    let before = "# Key Learnings\n- KL-1 because x: goes\n- KL-2 because x: stays\n";
    for number in 0..6 {
        service.memory(&format!("m{number}")).write(before).await;
    }
    let learnings = format!(
        "{}  ARCHIVE:\n    - KL-1 because it is over\n",
        learning("together")
    );
    let body = dictate(json!({ "learnings": learnings, "progress": progress("together") }));
    let update = |number: usize| service.memory(&format!("m{number}")).updating(&body);
    let answers = while_locked(ALL_ROWS, &service, (0..6).map(update).collect(), 5).await;
    for (number, answer) in answers.into_iter().enumerate() {
        let answer = answer.is(200).json();
        has(
            &answer,
            json!({"version": 2, "rebased": false, "/operations/1/id": "KL-1"}),
        );
        let name = format!("m{number}");
        let id = answer["update_id"].as_str().unwrap();
        let table = r#"
            GET records/KL-1 → 200 {"status": "archived", "archive_reason": "it is over", "ended_version": 2}
            GET records/KL-3 → 200 {"status": "active", "created_version": 2}
            GET updates/ID → 200 {"status": "applied", "base_version": 1, "version": 2}
            ROWS events WHERE update_id = 'ID' AND details ->> 'step' = 'finished' 1"#;
        let memory = service.memory(&name);
        memory.requests(&table.replace("ID", id)).await;
    }
    // The first, and those that waited for it.
    assert_eq!(transactions(&service).await, 2);
    let runs: i64 = service.value("SELECT sum(runs)::bigint FROM model_usage").await;
    assert_eq!(runs, 18);
}

#[tokio::test]
async fn an_id_assigned_concurrently_is_not_reused() {
    let (service, memory) = with_memories(1).await.with_memory("m0");
    let adding = memory.applying("", "KEY_LEARNINGS:\n  ADD:\n    - because x: new\n");
    // As after an import or a pruned version: the counters rise while the newest version stays.
    let statements = "LOCK TABLE memories IN EXCLUSIVE MODE; UPDATE memories SET counters = '{7}'";
    let hold = Hold::of(&service, statements).await;
    let sent = tokio::spawn(Answer::to(adding));
    tokio::time::sleep(Duration::from_millis(200)).await;
    hold.commit().await;
    let answer = sent.await.unwrap().is(200).json();
    assert_eq!(answer["operations"][0]["id"], "KL-8");
}

#[tokio::test]
async fn an_error_of_one_change_does_not_affect_the_others_in_its_batch() {
    let service = with_memories(6).await;
    service
        .execute("ALTER TABLE memory_contexts ADD CONSTRAINT harmless CHECK (context NOT LIKE '%poison%')")
        .await;
    let put = |number: usize, text: &str| service.memory(&format!("m{number}")).putting(text);
    let requests = vec![
        put(0, "together 0"),
        put(1, "together 1"),
        put(2, "together 2").header("If-Match", "\"another\""),
        put(3, "before"),
        put(4, "together poison"),
        put(5, "together 5").header("If-Match", "*"),
        put(6, "together, and new"),
    ];
    let answers = together(&service, requests).await;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [201, 201, 412, 200, 500, 201, 201]);
    let table = "
        GET /v1/vaults/acme/memories/m1/context → 200 =together 1
        GET /v1/vaults/acme/memories/m2/context → 200 =before
        GET /v1/vaults/acme/memories/m4/context → 200 =before
        GET /v1/vaults/acme/memories/m5/context → 200 =together 5";
    service.requests(table).await;
}

#[tokio::test]
async fn a_locked_memory_does_not_block_changes_of_other_memories() {
    let service = with_memories(8).await;
    let row = "SELECT 1 FROM memories WHERE memory_id = 'm0' FOR UPDATE";
    let hold = Hold::of(&service, row).await;
    let held = tokio::spawn(Answer::to(service.memory("m0").putting("held")));
    for round in 0..5 {
        let puts = (1..8).map(|number| {
            let request = service
                .memory(&format!("m{number}"))
                .putting(format!("round {round}"));
            async move { Answer::to(request).await.is(201) }
        });
        join_all(puts).await;
    }
    assert!(!held.is_finished());
    hold.end().await;
    held.await.unwrap().is(201);
}

#[tokio::test]
async fn a_cancelled_request_does_not_fail_its_batch() {
    let service = with_memories(8).await;
    let hold = Hold::of(&service, ALL_ROWS).await;
    let put = |number: usize| service.memory(&format!("m{number}")).putting("together");
    let first = tokio::spawn(Answer::to(put(0)));
    while running(&service).await < 1 {}
    let mut others: Vec<_> = (1..8)
        .map(|number| tokio::spawn(Answer::to(put(number))))
        .collect();
    while running(&service).await < 8 {}
    // The request that runs the batch, and one that waits.
    first.abort();
    others.remove(3).abort();
    while running(&service).await > 6 {}
    hold.end().await;
    for other in others {
        other.await.unwrap().is(201);
    }
    service.memory("m0").write("afterwards").await;
}

#[tokio::test]
async fn of_many_writes_with_the_same_if_match_one_succeeds() {
    let service = with_memories(1).await;
    let memory = service.memory("m0");
    let tag = memory.get("context").await.part("etag");
    let puts = (0..16).map(|number| {
        let request = memory.putting(format!("writer {number}"));
        let request = request.header("If-Match", tag.as_str());
        async move { Answer::to(request).await.status }
    });
    let mut statuses = join_all(puts).await;
    statuses.sort_unstable();
    assert_eq!(statuses[0], 201);
    assert!(statuses[1..].iter().all(|status| *status == 412), "{statuses:?}");
}

#[tokio::test]
async fn reads_at_the_same_time_each_return_their_own_version() {
    let service = with_memories(6).await;
    for number in 0..6 {
        let memory = service.memory(&format!("m{number}"));
        memory.write(format!("text {number}")).await;
    }
    // Some request the same memory, some a missing one; more than fit into one statement.
    let wanted: Vec<usize> = (0..60).map(|number| number % 9).collect();
    let read = |number: &usize| service.memory(&format!("m{number}")).uncached();
    let answers = while_locked(ALL_VERSIONS, &service, wanted.iter().map(read).collect(), 0).await;
    for (number, answer) in wanted.into_iter().zip(answers) {
        match number {
            0..6 => assert_eq!(answer.is(200).text(), format!("text {number}")),
            _ => assert_eq!(answer.status, 404),
        }
    }
}

#[tokio::test]
async fn a_read_sees_every_write_acknowledged_before_it() {
    let service = with_memories(8).await;
    let chains = (0..8).map(|number| {
        let service = &service;
        async move {
            let name = format!("m{number}");
            let memory = service.memory(&name);
            for text in (0..25).map(|count| format!("text {count}")) {
                memory.write(text.clone()).await;
                let read = Answer::to(memory.uncached()).await;
                assert_eq!(read.is(200).text(), text);
            }
        }
    });
    join_all(chains).await;
}
