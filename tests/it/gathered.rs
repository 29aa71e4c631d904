//! Puts that are committed together, and reads that share a statement: each comes to what it would have come to alone.

use crate::harness::{Answer, Service};
use futures::future::join_all;
use proptest::prelude::{Just, Strategy, prop, prop_oneof};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use reqwest::Method;
use sqlx::{Connection, Executor, PgConnection};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use working_memory::config::guard::Collapse;

/// A transaction that holds tables or rows against the service.
struct Hold(PgConnection);

impl Hold {
    async fn of(service: &Service, statement: &'static str) -> Self {
        let mut connection = PgConnection::connect(&service.database_url()).await.unwrap();
        connection.execute("BEGIN").await.unwrap();
        connection.execute(statement).await.unwrap();
        Self(connection)
    }

    async fn end(mut self) {
        self.0.execute("ROLLBACK").await.unwrap();
        self.0.close().await.unwrap();
    }
}

/// Keeps whoever would lock a memory's row waiting.
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

/// Keeps whoever would read a version waiting.
const ALL_VERSIONS: &str = "LOCK TABLE memory_contexts IN ACCESS EXCLUSIVE MODE";

/// Puts while all rows are held.
async fn together(service: &Service, requests: Vec<reqwest::RequestBuilder>) -> Vec<Answer> {
    behind(ALL_ROWS, service, requests, 0).await
}

/// Sends requests while something is held, the first before the others, and lets them go when all have come and this
/// many puts wait for their turn.
async fn behind(
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
        let begun = Instant::now();
        while running(service).await < before + sent.len() as u64 {
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "a request does not arrive"
            );
        }
    }
    // The count goes up when a request begins; what else it waits for cannot be seen, and changes no answer.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    while service.storage().puts_waiting() < waiting {
        assert!(begun.elapsed() < Duration::from_secs(20), "a put does not wait");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    hold.end().await;
    join_all(sent).await.into_iter().map(Result::unwrap).collect()
}

/// In how many transactions the newest versions of these memories were made.
async fn transactions(service: &Service) -> i64 {
    sqlx::query_scalar(
        "SELECT count(DISTINCT xmin::text) FROM memory_contexts WHERE context LIKE '%together%'",
    )
    .fetch_one(service.rows())
    .await
    .unwrap()
}

async fn with_memories(count: usize) -> Service {
    let service = Service::start().await;
    for number in 0..count {
        service.memory(&format!("m{number}")).put("before").await.is(201);
    }
    service
}

#[tokio::test]
async fn puts_that_wait_for_another_share_a_transaction() {
    let service = with_memories(12).await;
    let texts: Vec<String> = (0..12)
        .map(|number| {
            format!("# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because it shows: together {number}\n")
        })
        .collect();
    let requests = texts
        .iter()
        .enumerate()
        .map(|(number, text)| service.memory(&format!("m{number}")).putting(text.as_str()))
        .collect();
    let answers = behind(ALL_ROWS, &service, requests, 11).await;
    for (number, answer) in answers.into_iter().enumerate() {
        let body = answer.is(201).json();
        assert_eq!(
            (&body["version"], &body["memory_id"]),
            (&2.into(), &format!("m{number}").into())
        );
        let name = format!("m{number}");
        let memory = service.memory(&name);
        assert_eq!(memory.get("context").await.is(200).text(), texts[number]);
        assert_eq!(
            memory.get("records/KL-1").await.is(200).json()["created_version"],
            2
        );
        assert_eq!(memory.get("log").await.is(200).json()["items"][0]["version"], 2);
    }
    assert_eq!(
        transactions(&service).await,
        2,
        "the first, and those that waited for it"
    );
    assert_eq!(service.count("events").await, 24);
}

#[tokio::test]
async fn what_one_of_them_does_wrong_is_its_own_failure() {
    let service = with_memories(6).await;
    sqlx::query("ALTER TABLE memory_contexts ADD CONSTRAINT harmless CHECK (context NOT LIKE '%poison%')")
        .execute(service.rows())
        .await
        .unwrap();
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
    let statuses: Vec<u16> = together(&service, requests)
        .await
        .iter()
        .map(|answer| answer.status)
        .collect();
    assert_eq!(statuses, [201, 201, 412, 200, 500, 201, 201]);
    for (memory, text) in [
        ("m1", "together 1"),
        ("m2", "before"),
        ("m4", "before"),
        ("m5", "together 5"),
    ] {
        assert_eq!(service.memory(memory).get("context").await.is(200).text(), text);
    }
}

#[tokio::test]
async fn a_refusal_takes_nobody_along() {
    let service = with_memories(5).await;
    let put = |number: usize, text: &str| service.memory(&format!("m{number}")).putting(text);
    let requests = vec![
        put(0, "together 0"),
        put(1, "together 1"),
        put(2, "together 2").header("If-None-Match", "*"),
        put(3, "together 3"),
        put(4, "together 4"),
    ];
    let answers = behind(ALL_ROWS, &service, requests, 3).await;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [201, 201, 412, 201, 201]);
    assert_eq!(transactions(&service).await, 2);
}

#[tokio::test]
async fn a_memory_that_somebody_holds_keeps_nobody_else_waiting() {
    let service = with_memories(8).await;
    let hold = Hold::of(
        &service,
        "SELECT 1 FROM memories WHERE memory_id = 'm0' FOR UPDATE",
    )
    .await;
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
async fn who_gives_up_takes_nobody_along() {
    let service = with_memories(8).await;
    let hold = Hold::of(&service, ALL_ROWS).await;
    let put = |number: usize| service.memory(&format!("m{number}")).putting("together");
    let first = tokio::spawn(Answer::to(put(0)));
    while running(&service).await < 1 {}
    let mut others: Vec<_> = (1..8)
        .map(|number| tokio::spawn(Answer::to(put(number))))
        .collect();
    while running(&service).await < 8 {}
    // The one whose turn it is, and one that waits.
    first.abort();
    others.remove(3).abort();
    while running(&service).await > 6 {}
    hold.end().await;
    for other in others {
        other.await.unwrap().is(201);
    }
    service.memory("m0").put("afterwards").await.is(201);
}

#[tokio::test]
async fn writers_of_one_memory_lose_nothing_and_are_in_the_order_of_their_commits() {
    let service = with_memories(1).await;
    let puts = (0..32).map(|number| {
        let request = service.memory("m0").putting(format!("writer {number}"));
        async move {
            Answer::to(request).await.is(201).json()["version"]
                .as_i64()
                .unwrap()
        }
    });
    let mut versions = join_all(puts).await;
    versions.sort_unstable();
    assert_eq!(versions, (2..=33).collect::<Vec<_>>());
}

#[tokio::test]
async fn only_one_of_many_that_name_the_same_version_is_made() {
    let service = with_memories(1).await;
    let tag = service
        .memory("m0")
        .get("context")
        .await
        .header("etag")
        .to_owned();
    let puts = (0..16).map(|number| {
        let request = service
            .memory("m0")
            .putting(format!("writer {number}"))
            .header("If-Match", tag.as_str());
        async move { Answer::to(request).await.status }
    });
    let mut statuses = join_all(puts).await;
    statuses.sort_unstable();
    assert_eq!(statuses[0], 201);
    assert!(statuses[1..].iter().all(|status| *status == 412), "{statuses:?}");
}

#[tokio::test]
async fn reads_that_wait_for_another_each_get_their_own() {
    let service = with_memories(6).await;
    for number in 0..6 {
        service
            .memory(&format!("m{number}"))
            .put(format!("text {number}"))
            .await
            .is(201);
    }
    // Some want the same memory, some one that is not there; more than fit into one statement.
    let wanted: Vec<usize> = (0..60).map(|number| number % 9).collect();
    let read = |number: &usize| {
        let memory = format!("m{number}");
        let request = service.memory(&memory).request(Method::GET, "context");
        request.header("Cache-Control", "no-cache")
    };
    let answers = behind(ALL_VERSIONS, &service, wanted.iter().map(read).collect(), 0).await;
    for (number, answer) in wanted.into_iter().zip(answers) {
        match number {
            0..6 => assert_eq!(answer.is(200).text(), format!("text {number}")),
            _ => assert_eq!(answer.status, 404),
        }
    }
}

#[tokio::test]
async fn a_read_sees_what_was_answered_before_it_was_asked_for() {
    let service = with_memories(8).await;
    let chains = (0..8).map(|number| {
        let service = &service;
        async move {
            let name = format!("m{number}");
            let memory = service.memory(&name);
            for text in (0..25).map(|count| format!("text {count}")) {
                memory.put(text.clone()).await.is(201);
                let request = memory.request(Method::GET, "context");
                let read = Answer::to(request.header("Cache-Control", "no-cache")).await;
                assert_eq!(read.is(200).text(), text);
            }
        }
    });
    join_all(chains).await;
}

/// One put of a chain, as it follows from the one before.
#[derive(Debug, Clone)]
enum Link {
    Text(String),
    Same,
    WithTag(String),
    WithOldTag(String),
    Confirmed(String),
    Deletion,
}

fn document() -> impl Strategy<Value = String> {
    let record = (1..6, "[a-z]{1,8}").prop_map(|(number, text)| {
        format!("- KL-{number} [2026-11-21T02:00:00Z] because it is so: {text}\n")
    });
    let snippet = (1..4, "[a-z]{1,8}").prop_map(|(number, text)| {
        format!("- VC-{number} [2026-11-21T02:00:00Z] because it is so: {text} =>\n  {text}\n")
    });
    let records = prop::collection::vec(record, 0..5);
    let snippets = prop::collection::vec(snippet, 0..3);
    ("[a-z ]{0,60}", records, snippets).prop_map(|(words, records, snippets)| {
        let (records, snippets) = (records.concat(), snippets.concat());
        format!("# Notes\n{words}\n\n# Key Learnings\n{records}\n# Verbatim Context\n{snippets}")
    })
}

fn chain() -> impl Strategy<Value = Vec<Link>> {
    let link = prop_oneof![
        6 => document().prop_map(Link::Text),
        1 => Just(Link::Same),
        2 => document().prop_map(Link::WithTag),
        1 => document().prop_map(Link::WithOldTag),
        2 => document().prop_map(Link::Confirmed),
        1 => Just(Link::Deletion),
    ];
    prop::collection::vec(link, 12)
}

/// Runs a chain on a memory, and says what each put came to, but for ids and times.
async fn run(service: &Service, memory: String, chain: Vec<Link>) -> Vec<String> {
    let memory = service.memory(&memory);
    let mut said = Vec::new();
    let (mut text, mut tag) = ("nothing yet".to_owned(), "\"none\"".to_owned());
    for link in chain {
        let request = match &link {
            Link::Deletion => {
                said.push(format!("deleted: {}", memory.delete().await.status));
                continue;
            }
            Link::Same => memory.putting(text.clone()),
            Link::Text(new) => memory.putting(new.clone()),
            Link::WithTag(new) => memory.putting(new.clone()).header("If-Match", &tag),
            Link::WithOldTag(new) => memory.putting(new.clone()).header("If-Match", "\"old\""),
            Link::Confirmed(new) => memory
                .request(Method::PUT, "context?confirm=collapse")
                .header("Content-Type", "text/plain")
                .body(new.clone()),
        };
        let answer = Answer::to(request).await;
        if let (Some(new), Link::Text(put) | Link::WithTag(put) | Link::Confirmed(put)) =
            (answer.headers.get("etag"), &link)
        {
            tag = new.to_str().unwrap().to_owned();
            text.clone_from(put);
        }
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        let [version, bytes, unchanged, warnings] =
            ["version", "bytes", "unchanged", "warnings"].map(|name| body[name].to_string());
        said.push(format!(
            "{} {version} {bytes} {unchanged} {warnings}",
            answer.status
        ));
    }
    said
}

async fn rows(service: &Service) -> Vec<String> {
    let statements = [
        "SELECT concat_ws('|', memory_id, head_version, learning_counter, verbatim_counter) FROM memories ORDER BY 1",
        "SELECT concat_ws('|', memory_id, version, actor_id, context, source, bytes, log, line_origins, operations)
         FROM memory_contexts ORDER BY memory_id, version",
        "SELECT concat_ws('|', memory_id, kind, number, status, label, reason, content, created_version, ended_version)
         FROM records ORDER BY memory_id, kind, number",
        "SELECT concat_ws('|', memory_id, kind, number, version, change) FROM record_changes
         ORDER BY memory_id, kind, number, version, change",
        "SELECT concat_ws('|', memory_id, kind, version, actor_id, source, details) FROM events
         ORDER BY memory_id, created_at, event_id, version",
    ];
    let mut all = Vec::new();
    for statement in statements {
        let rows: Vec<String> = sqlx::query_scalar(statement)
            .fetch_all(service.rows())
            .await
            .unwrap();
        all.extend(rows);
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn together_and_alone_come_to_the_same() {
    let mut runner = TestRunner::deterministic();
    let with = |gather_puts, prepared_statements| {
        move |config: &mut working_memory::config::Config| {
            config.database.gather_puts = gather_puts;
            config.database.prepared_statements = Some(prepared_statements);
            config.guard.collapse = Collapse::Reject;
        }
    };
    let keeping = Service::start_with(with(true, true), None).await;
    keeping.listen().await;
    let gathering = Service::start_with(with(true, true), None).await;
    let as_behind_a_pooler = Service::start_with(with(true, false), None).await;
    let alone = Service::start_with(with(false, true), None).await;
    let chains: Vec<Vec<Link>> = (0..24)
        .map(|_| chain().new_tree(&mut runner).unwrap().current())
        .collect();
    let all = |service| {
        let chains = chains.clone().into_iter().enumerate();
        join_all(chains.map(move |(number, chain)| run(service, format!("m{number:02}"), chain)))
    };
    let (said, left) = (all(&alone).await, rows(&alone).await);
    for service in [&gathering, &keeping, &as_behind_a_pooler] {
        assert_eq!(all(service).await, said);
        assert_eq!(rows(service).await, left);
    }
}
