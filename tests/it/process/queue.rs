//! One of two instances is killed while it runs queued updates: each update is applied, and once.

use super::program::{Program, folder};
use crate::harness::{Answer, Database, eventually};
use crate::pipeline::dictated::learning;
use crate::pipeline::stub::{Reply, Stub};
use futures::future::join_all;
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const MEMORIES: usize = 10;
const UPDATES: usize = 20;

async fn queue_line(instances: [&Program; 2], memory: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for number in 0..UPDATES {
        // Alternating between both, so that each memory has updates of both instances.
        let instance = instances[number % 2];
        let body = json!({ "task": format!("insight-{memory}-{number}."), "roles": ["learnings"] });
        let request = instance.request(Method::POST, &format!("m{memory}"), "update");
        let answer = Answer::to(request.header("Prefer", "respond-async").json(&body)).await;
        ids.push(answer.is(202).json()["update_id"].as_str().unwrap().to_owned());
    }
    ids
}

async fn read(program: &Program, memory: usize, below: &str) -> Value {
    let request = program.request(Method::GET, &format!("m{memory}"), below);
    Answer::to(request).await.is(200).json()
}

/// How many updates of all memories have this status.
async fn count(program: &Program, status: &str) -> usize {
    let lists = join_all((0..MEMORIES).map(|memory| read(program, memory, "updates?limit=500"))).await;
    let runs = lists.iter().flat_map(|list| list["items"].as_array().unwrap());
    runs.filter(|run| run["status"] == status).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_updates_of_a_killed_instance_finish_once() {
    let stub = Stub::start(|model_request| {
        let said = model_request.body.to_string();
        let named = said
            .split("insight-")
            .nth(1)
            .unwrap()
            .split('.')
            .next()
            .unwrap()
            .to_owned();
        Reply::After(
            Duration::from_millis(60),
            Box::new(Reply::Text(learning(&format!("insight {named}")))),
        )
    })
    .await;
    let database = Database::create().await;
    let url = database.url();
    let environment = [
        ("DATABASE_URL", url.as_str()),
        ("WORKING_MEMORY__LLM__PROVIDER", "openai"),
        ("WORKING_MEMORY__LLM__BASE_URL", stub.address()),
        ("WORKING_MEMORY__LLM__MODEL", "stub"),
        ("WORKING_MEMORY__PIPELINE__QUEUE__LEASE_SECONDS", "3"),
        ("WORKING_MEMORY__DATABASE__MAX_CONNECTIONS", "8"),
    ];
    let folders = [folder(), folder()];
    let mut dying = Program::start_with(folders[0].path(), &environment).await;
    let living = Program::start_with(folders[1].path(), &environment).await;

    let lines = join_all((0..MEMORIES).map(|memory| queue_line([&dying, &living], memory))).await;
    dying.signal(Signal::KILL);
    dying.ended().await;
    assert!(
        count(&living, "queued").await > 0,
        "there was nothing left to finish"
    );

    eventually("all have ended", async || {
        count(&living, "applied").await == MEMORIES * UPDATES
    })
    .await;
    for (memory, line) in lines.iter().enumerate() {
        // In the order of arrival, and one version each.
        for (number, id) in line.iter().enumerate() {
            let run = read(&living, memory, &format!("updates/{id}")).await;
            assert_eq!(run["version"], number + 1, "{run}");
        }
        let head = read(&living, memory, "contexts?limit=1").await;
        assert_eq!(head["items"][0]["version"], UPDATES);
        let records = read(&living, memory, "records?limit=500").await;
        let contents = records["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|record| record["content"].to_string());
        let contents: Vec<String> = contents.collect();
        assert_eq!(contents.len(), UPDATES);
        assert_eq!(contents.into_iter().collect::<BTreeSet<_>>().len(), UPDATES);
    }
}
