//! Killed services and killed databases: nothing that was acknowledged is lost, and nothing exists twice.

use super::program::{PATIENCE, Program, folder};
use crate::harness::{Answer, eventually};
use futures::future::join_all;
use reqwest::Method;
use rustix::process::{Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const WRITERS: usize = 32;
const MEMORIES: usize = 8;

/// How soon the service works again after its database does.
const READY_WITHIN: Duration = Duration::from_secs(5);

/// The responses that the writers got.
#[derive(Default)]
struct Writing {
    acknowledged: AtomicUsize,
    unavailable: AtomicUsize,
    stop: AtomicBool,
}

/// A version that was acknowledged.
struct Kept {
    memory: String,
    version: i64,
    text: String,
}

impl Writing {
    /// Puts one text after the other until it is stopped or the service is unreachable.
    async fn write(&self, program: &Program, writer: usize) -> Vec<Kept> {
        let mut saved = Vec::new();
        let memory = format!("m{}", writer % MEMORIES);
        for number in 0.. {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let text = format!("writer {writer}, text {number}");
            let request = program
                .request(Method::PUT, &memory, "context")
                .body(text.clone());
            let Ok(response) = request.header("Content-Type", "text/plain").send().await else {
                break;
            };
            match response.status().as_u16() {
                201 => {
                    // A truncated response acknowledges nothing.
                    let Ok(answer) = response.json::<Value>().await else {
                        break;
                    };
                    self.acknowledged.fetch_add(1, Ordering::Relaxed);
                    let version = answer["version"].as_i64().unwrap();
                    saved.push(Kept {
                        memory: memory.clone(),
                        version,
                        text,
                    });
                }
                503 => {
                    assert_eq!(response.headers()["content-type"], "application/problem+json");
                    let wait: u64 = response.headers()["retry-after"]
                        .to_str()
                        .unwrap()
                        .parse()
                        .unwrap();
                    assert!(wait >= 1);
                    self.unavailable.fetch_add(1, Ordering::Relaxed);
                }
                other => panic!("{other}: {}", response.text().await.unwrap()),
            }
        }
        saved
    }

    async fn all(&self, program: &Program) -> Vec<Kept> {
        let writers = (0..WRITERS).map(|writer| self.write(program, writer));
        join_all(writers).await.into_iter().flatten().collect()
    }

    async fn until_acknowledged(&self, more: usize) {
        let goal = self.acknowledged.load(Ordering::Relaxed) + more;
        eventually("enough is written", async || {
            self.acknowledged.load(Ordering::Relaxed) >= goal
        })
        .await;
    }
}

/// All versions of all memories, with their texts.
async fn stored(program: &Program) -> BTreeMap<(String, i64), String> {
    let mut stored = BTreeMap::new();
    for number in 0..MEMORIES {
        let memory = format!("m{number}");
        let head = program.request(Method::GET, &memory, "context");
        let head = Answer::to(head.header("Accept", "application/json"))
            .await
            .is(200)
            .json();
        let versions = 1..=head["version"].as_i64().unwrap();
        let read = versions.map(|version| {
            let request = program.request(Method::GET, &memory, &format!("contexts/{version}"));
            let request = request.header("Accept", "text/plain");
            async move { (version, Answer::to(request).await.is(200).text().to_owned()) }
        });
        for (version, text) in join_all(read).await {
            stored.insert((memory.clone(), version), text);
        }
    }
    stored
}

async fn assert_nothing_acknowledged_is_lost_or_duplicated(program: &Program, saved: &[Kept]) {
    let stored = stored(program).await;
    for Kept {
        memory,
        version,
        text,
    } in saved
    {
        assert_eq!(
            stored.get(&(memory.clone(), *version)),
            Some(text),
            "{memory} {version}"
        );
        let times = stored.values().filter(|other| *other == text).count();
        assert_eq!(times, 1, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_killed_while_it_writes_loses_nothing_acknowledged() {
    let folder = folder();
    let mut program = Program::start(folder.path()).await;
    let writing = Writing::default();

    let (saved, ()) = tokio::join!(writing.all(&program), async {
        writing.until_acknowledged(300).await;
        program.signal(Signal::KILL);
    });
    program.ended().await;

    assert!(saved.len() >= 300);
    let again = Program::start(folder.path()).await;
    assert_nothing_acknowledged_is_lost_or_duplicated(&again, &saved).await;
    again.put("m0", "and goes on").await.is(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_database_causes_503_and_the_service_recovers_by_itself() {
    let folder = folder();
    let program = Program::start(folder.path()).await;
    let writing = Writing::default();

    let (saved, ()) = tokio::join!(writing.all(&program), async {
        let began = Instant::now();
        writing.until_acknowledged(50).await;
        // A request that waits for a connection may not notice the outage; some requests are in progress at that time.
        while writing.unavailable.load(Ordering::Relaxed) == 0 {
            assert!(began.elapsed() < PATIENCE, "no response was 503");
            let killed = program.postmaster().unwrap();
            kill_process(killed, Signal::KILL).unwrap();
            eventually("another server runs", async || {
                program.postmaster().is_some_and(|pid| pid != killed)
            })
            .await;
            eventually("the database answers", async || program.database_answers().await).await;
            let back = Instant::now();
            eventually("the service is ready", async || {
                program.get("/readyz").await.status == 200
            })
            .await;
            assert!(back.elapsed() < READY_WITHIN, "ready after {:?}", back.elapsed());
            writing.until_acknowledged(50).await;
        }
        writing.stop.store(true, Ordering::Relaxed);
    });

    program.get("/readyz").await.is(200);
    assert_nothing_acknowledged_is_lost_or_duplicated(&program, &saved).await;
}
