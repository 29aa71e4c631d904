//! Reads from a standby that may lag: real servers, one of which replicates the other.

use super::program::{Program, folder};
use crate::harness::{Answer, Pair, Relay, Target, eventually};
use reqwest::Method;
use std::time::{Duration, Instant};

/// The header that says that the standby responded.
const LAG: &str = "x-replica-lag";

/// Longer than any of these tests: no lag is too large.
const FOR_EVER: (&str, &str) = ("WORKING_MEMORY__DATABASE__REPLICA_MAX_LAG_SECONDS", "3600");
const SHORT: (&str, &str) = ("WORKING_MEMORY__DATABASE__REPLICA_MAX_LAG_SECONDS", "1");

async fn beside(pair: &Pair, folder: &std::path::Path, replica: &str, bound: (&str, &str)) -> Program {
    let url = pair.url();
    let environment = [
        ("DATABASE_URL", url.as_str()),
        ("WORKING_MEMORY__DATABASE__REPLICA_URL", replica),
        bound,
    ];
    Program::start_with(folder, &environment).await
}

fn address_of_second(pair: &Pair) -> String {
    pair.url().replace(":5432", ":5433")
}

async fn read(program: &Program, rest: &str) -> Answer {
    program.read("agent", rest).await
}

fn versions(answer: &Answer) -> usize {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["items"].as_array().unwrap().len()
}

async fn standby_answers(program: &Program, count: usize) {
    eventually("the standby has all and answers", async || {
        let answer = read(program, "contexts").await;
        answer.headers.contains_key(LAG) && versions(&answer) == count
    })
    .await;
}

async fn primary_answers(program: &Program, count: usize) {
    eventually("the primary answers", async || {
        let answer = read(program, "contexts").await;
        // There is never an error in between.
        let has_all = versions(&answer) == count;
        has_all && !answer.headers.contains_key(LAG)
    })
    .await;
}

/// The standby receives the log, and does not replay it.
async fn pause(pair: &Pair) {
    let paused = "SELECT pg_wal_replay_pause(); DO $$ BEGIN WHILE pg_get_wal_replay_pause_state() <> 'paused' LOOP \
                  PERFORM pg_sleep(0.02); END LOOP; END $$";
    pair.second.execute("postgres", paused).await;
}

async fn resume(pair: &Pair) {
    let resumed = "SELECT pg_wal_replay_resume()";
    pair.second.execute("postgres", resumed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stale_reads_use_the_standby_and_missing_rows_the_primary() {
    let pair = Pair::start().await;
    let folder = folder();
    let replica = format!("{}&target_session_attrs=standby", address_of_second(&pair));
    let program = beside(&pair, folder.path(), &replica, FOR_EVER).await;
    for text in ["one\n", "two\n", "three\n"] {
        program.put("agent", text).await.is(201);
    }
    standby_answers(&program, 3).await;
    let old = read(&program, "contexts/2").await;
    assert!(old.headers.contains_key(LAG) && old.is(200).text() == "two\n");
    program.get("/v1/vaults/v/memories?limit=5").await.is(200);

    pause(&pair).await;
    program.put("agent", "four\n").await.is(201);
    standby_answers(&program, 3).await;
    let lagging = read(&program, "contexts").await;
    let lag: f64 = lagging.headers[LAG].to_str().unwrap().parse().unwrap();
    assert!(lag >= 0.0 && versions(&lagging) == 3, "{lag}");
    // The newest version is read from the primary, and so is a version that the standby does not have yet.
    for rest in ["context", "contexts/4"] {
        let answer = read(&program, rest).await;
        assert!(!answer.headers.contains_key(LAG), "{rest}");
        assert_eq!(answer.is(200).text(), "four\n", "{rest}");
    }
    for wanted in ["no-cache", "max-age=0"] {
        let request = program.request(Method::GET, "agent", "contexts");
        let answer = Answer::to(request.header("Cache-Control", wanted)).await;
        let is_fresh = versions(&answer) == 4 && !answer.headers.contains_key(LAG);
        assert!(is_fresh, "{wanted}");
    }
    program.read("nobody", "contexts").await.is(404);

    // A pruned version is not returned any more.
    let redact = program.request(Method::POST, "agent", "contexts/2/redact");
    let redact = redact.json(&serde_json::json!({"reason": "a secret"}));
    Answer::to(redact).await.is(200);
    let gone = read(&program, "contexts/2").await;
    gone.problem(410, "gone", Some("ref"));
    resume(&pair).await;
    standby_answers(&program, 4).await;
    let metrics = program.get("/metrics").await;
    for result in ["standby", "behind", "repeated"] {
        let counted = format!("db_replica_reads_total{{result=\"{result}\"}}");
        assert!(metrics.text().contains(&counted), "{counted}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_that_lags_too_far_or_is_unreachable_is_not_used() {
    let pair = Pair::start().await;
    let folder = folder();
    let relay = Relay::to(pair.second.target()).await;
    let program = beside(&pair, folder.path(), &relay.url(&pair.url()), SHORT).await;
    program.put("agent", "one\n").await.is(201);
    standby_answers(&program, 1).await;
    pause(&pair).await;
    program.put("agent", "two\n").await.is(201);
    primary_answers(&program, 2).await;
    resume(&pair).await;
    standby_answers(&program, 2).await;

    relay.fall_silent();
    primary_answers(&program, 2).await;
    relay.switch(pair.second.target());
    relay.cut();
    standby_answers(&program, 2).await;

    // A promoted standby diverges from the primary.
    pair.second.promote().await;
    program.put("agent", "three\n").await.is(201);
    primary_answers(&program, 3).await;
    pair.second.kill();
    primary_answers(&program, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_that_an_instance_is_not_notified_of_is_not_missed_on_the_standby() {
    let pair = Pair::start().await;
    let (folder, other_folder) = (folder(), folder());
    let listener = Relay::to(pair.first.target()).await;
    let (url, listen_url, replica) = (pair.url(), listener.url(&pair.url()), address_of_second(&pair));
    let other = Program::start_with(other_folder.path(), &[("DATABASE_URL", &url)]).await;
    let environment = [
        ("DATABASE_URL", &*url),
        ("WORKING_MEMORY__DATABASE__LISTEN_URL", &listen_url),
        ("WORKING_MEMORY__DATABASE__REPLICA_URL", &replica),
        FOR_EVER,
    ];
    let program = Program::start_with(folder.path(), &environment).await;
    other.put("agent", "secret\n").await.is(201);
    standby_answers(&program, 1).await;

    pause(&pair).await;
    listener.switch(Target::Unix("/nowhere".into()));
    listener.cut();
    let delete = other.request_to(Method::DELETE, "/v1/vaults/v/memories/agent");
    Answer::to(delete).await.is(204);
    eventually("the primary answers", async || {
        read(&program, "contexts/1").await.status == 404
    })
    .await;
    // Nor is it missed when the program listens again.
    listener.switch(pair.first.target());
    let both_listen = "DO $$ BEGIN WHILE (SELECT count(*) FROM pg_stat_activity \
                       WHERE application_name = 'working-memory listener') < 2 \
                       LOOP PERFORM pg_sleep(0.02), pg_stat_clear_snapshot(); END LOOP; END $$";
    pair.first.execute("postgres", both_listen).await;
    let listens = Instant::now();
    while listens.elapsed() < Duration::from_secs(2) {
        read(&program, "contexts/1").await.is(404);
    }

    resume(&pair).await;
    other.put("agent", "another\n").await.is(201);
    standby_answers(&program, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_another_database_is_not_used() {
    let (pair, other) = (Pair::start().await, Pair::start().await);
    let folder = folder();
    let program = beside(&pair, folder.path(), &address_of_second(&other), FOR_EVER).await;
    program.put("agent", "one\n").await.is(201);
    primary_answers(&program, 1).await;
    eventually("it says why", async || {
        program.log().await.contains("it is of another database")
    })
    .await;
    assert!(!read(&program, "contexts").await.headers.contains_key(LAG));
}
