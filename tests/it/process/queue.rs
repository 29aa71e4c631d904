//! One of two instances is killed while it runs queued updates: each update is applied, and once.

use super::program::{Program, folder, with_models};
use crate::harness::{Answer, Database, each, eventually};
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
    program.read(&format!("m{memory}"), below).await.is(200).json()
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
        let named = said.split("insight-").nth(1).unwrap();
        let named = named.split('.').next().unwrap();
        let learned = Reply::Text(learning(&format!("insight {named}")));
        Reply::After(Duration::from_millis(60), Box::new(learned))
    })
    .await;
    let database = Database::create().await;
    let url = database.url();
    let environment = with_models(&url, stub.address());
    let folders = [folder(), folder()];
    let mut dying = Program::start_with(folders[0].path(), &environment).await;
    let living = Program::start_with(folders[1].path(), &environment).await;

    let lines = join_all((0..MEMORIES).map(|memory| queue_line([&dying, &living], memory))).await;
    dying.signal(Signal::KILL);
    dying.ended().await;
    let left = count(&living, "queued").await;
    assert!(left > 0, "there was nothing left to finish");

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
        let contents = each(&records["items"], "content");
        assert_eq!(contents.len(), UPDATES);
        assert_eq!(contents.into_iter().collect::<BTreeSet<_>>().len(), UPDATES);
    }
}
