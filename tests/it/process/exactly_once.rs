//! Requests with an `Idempotency-Key` while services, databases and connections are killed: each is executed once, so nothing
//! that was acknowledged is lost, and the service works again soon after its database does.

use super::program::{PATIENCE, Program, client, folder};
use crate::harness::eventually;
use futures::future::join_all;
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const WRITERS: usize = 16;
const MEMORIES: usize = 4;

/// How soon the service works again after its database does.
const READY_WITHIN: Duration = Duration::from_secs(5);

/// Shared by the writers.
#[derive(Default)]
struct Writing {
    /// The current address of the service.
    address: Mutex<String>,
    done: AtomicUsize,
    /// Responses with the status 503.
    unavailable: AtomicUsize,
    stop: AtomicBool,
}

impl Writing {
    /// Writes one text after the other, by different operations, until it is stopped. Returns the texts.
    async fn write(&self, writer: usize) -> Vec<String> {
        let client = client();
        let mut written = Vec::new();
        let memory = writer % MEMORIES;
        for number in 0.. {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let text = format!("writer {writer} text {number}.");
            let below =
                |address: &str, what: &str| format!("{address}/v1/vaults/v/memories/m{memory}/{what}");
            match number % 4 {
                0 => {
                    let put = |address: &str| {
                        let request = client.put(below(address, "context"));
                        request
                            .header("Content-Type", "text/plain")
                            .body(format!("# Facts\n{text}\n"))
                    };
                    self.ask(&text, "put", 201, put).await;
                }
                1 => {
                    let task = json!({"intent": text, "summary": "done"});
                    let record = |address: &str| client.post(below(address, "tasks")).json(&task);
                    self.ask(&text, "record", 201, record).await;
                }
                2 => self.edit_file(&client, &text, (writer, number)).await,
                _ => self.review(&client, &text, memory).await,
            }
            written.push(text);
        }
        written
    }

    /// Creates a file, edits it and renames it: each of which fails when it is executed twice.
    async fn edit_file(&self, client: &reqwest::Client, text: &str, (writer, number): (usize, usize)) {
        let path = format!("/memories/{writer}/{number}");
        let commands = [
            json!({"command": "create", "path": path, "file_text": "nothing yet\n"}),
            json!({"command": "str_replace", "path": path, "old_str": "nothing yet", "new_str": text}),
            json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "written:"}),
            json!({"command": "rename", "old_path": path, "new_path": format!("/memories/done/{writer}/{number}")}),
            json!({"command": "create", "path": path, "file_text": ""}),
            json!({"command": "delete", "path": path}),
        ];
        for (step, command) in commands.iter().enumerate() {
            let tool = |address: &str| format!("{address}/v1/vaults/v/memory-tool?root=r");
            let request = |address: &str| client.post(tool(address)).json(command);
            let reply = self.ask(text, &format!("tool-{step}"), 200, request).await;
            assert_eq!(reply["is_error"], false, "{text} {command}: {reply}");
        }
    }

    /// Creates a proposal of a learning, and approves it.
    async fn review(&self, client: &reqwest::Client, text: &str, memory: usize) {
        let below = |address: &str, what: &str| format!("{address}/v1/vaults/v/memories/p{memory}/{what}");
        let propose = |address: &str| {
            let request = client.post(below(address, "operations?mode=propose"));
            let request = request.header("Content-Type", "text/plain");
            request.body(format!(
                "KEY_LEARNINGS:\n  ADD:\n    - because it was said: {text}\n"
            ))
        };
        let proposed = self.ask(text, "propose", 200, propose).await;
        let id = proposed["update_id"].as_str().unwrap().to_owned();
        let approve = |address: &str| client.post(below(address, &format!("updates/{id}/approve")));
        let approved = self.ask(text, "approve", 200, approve).await;
        assert_eq!(approved["status"], "applied", "{text}: {approved}");
    }

    /// Sends a request again and again with its key until it gets the final response.
    async fn ask(
        &self,
        text: &str,
        what: &str,
        expected: u16,
        request: impl Fn(&str) -> reqwest::RequestBuilder,
    ) -> Value {
        let key = format!("{}-{what}", text.replace(' ', "-"));
        let began = Instant::now();
        let reply = loop {
            assert!(began.elapsed() < PATIENCE, "no answer to {what} {text}");
            let address = self.address.lock().unwrap().clone();
            let answered = request(&address).header("Idempotency-Key", &key).send().await;
            let (status, body) = match answered {
                Ok(response) => {
                    let status = response.status().as_u16();
                    if status == 503 {
                        let header = |name: &str| response.headers()[name].to_str().unwrap();
                        assert_eq!(header("content-type"), "application/problem+json");
                        assert!(header("retry-after").parse::<u64>().unwrap() >= 1);
                        self.unavailable.fetch_add(1, Ordering::Relaxed);
                    }
                    // A truncated response has no result.
                    response
                        .json()
                        .await
                        .map_or((0, Value::Null), |body: Value| (status, body))
                }
                Err(_) => (0, Value::Null),
            };
            if status == expected {
                break body;
            }
            // Another conflict would mean that it was executed already.
            let is_running = body["type"] == "urn:working-memory:problem:still-running";
            let is_asked_again = matches!(status, 0 | 503) || status == 409 && is_running;
            assert!(is_asked_again, "{what} {text}: {status} {body}");
            tokio::time::sleep(Duration::from_millis(30)).await;
        };
        self.done.fetch_add(1, Ordering::Relaxed);
        reply
    }

    async fn until_done(&self, more: usize) {
        let goal = self.done.load(Ordering::Relaxed) + more;
        eventually("enough is written", async || {
            self.done.load(Ordering::Relaxed) >= goal
        })
        .await;
    }
}

/// Kills the database, and waits until the service has started it and is ready again.
async fn killed_database_is_back(program: &Program) {
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
}

async fn database(folder: &Path) -> PgConnection {
    let options = PgConnectOptions::new()
        .socket(folder.join("data/postgres/run"))
        .username("working_memory")
        .database("working_memory");
    PgConnection::connect_with(&options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_with_a_key_is_executed_once_despite_crashes() {
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
            // The database is killed and restarted, until a request noticed it.
            let began = Instant::now();
            loop {
                killed_database_is_back(&program).await;
                writing.until_done(20).await;
                if writing.unavailable.load(Ordering::Relaxed) > 0 {
                    break;
                }
                assert!(began.elapsed() < PATIENCE, "no response was 503");
            }
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
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for (statement, before) in [
        (
            "SELECT context FROM memory_contexts WHERE source = 'put'",
            "# Facts\n",
        ),
        (
            "SELECT intent FROM records WHERE kind = 'T' AND intent IS NOT NULL",
            "",
        ),
        (
            "SELECT context FROM memory_paths JOIN memories USING (vault_id, memory_id)
             JOIN memory_contexts USING (vault_id, memory_id)
             WHERE memory_contexts.context_id = memories.head_context_id AND path LIKE '/memories/done/%'",
            "written:\n",
        ),
        (
            "SELECT content FROM records WHERE kind = 'KL' AND content IS NOT NULL",
            "",
        ),
    ] {
        let texts: Vec<String> = sqlx::query_scalar(statement)
            .fetch_all(&mut connection)
            .await
            .unwrap();
        for text in texts {
            let text = text.strip_prefix(before).unwrap_or(&text).trim_end();
            *times.entry(text.to_owned()).or_default() += 1;
        }
    }
    let mut attempts = 0;
    for text in written.into_iter().flatten() {
        assert_eq!(times.remove(&text), Some(1), "{text}");
        attempts += 1;
    }
    assert!(attempts > 60, "{attempts}");
    assert_eq!(times, BTreeMap::new(), "texts without a request");
}
