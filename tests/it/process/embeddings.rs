//! Semantic search while an indexing process is killed, and while the model changes.

use super::program::{Program, folder};
use crate::harness::{Answer, Database, EmbeddingServer, eventually, has};
use futures::future::{join, join_all};
use reqwest::Method;
use rustix::process::Signal;
use serde_json::json;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

const MEMORIES: usize = 600;

/// The texts of one embedding request, lost if the process is killed before it writes the vectors.
const IN_FLIGHT: usize = 128;

async fn put_all(program: &Program, memories: std::ops::Range<usize>) {
    let memories: Vec<usize> = memories.collect();
    for some in memories.chunks(20) {
        join_all(some.iter().map(async |number| {
            let text = format!("# Facts\nThe automobile of house number{number} is red.\n");
            program.put(&format!("m{number}"), &text).await.is(201);
        }))
        .await;
    }
}

async fn search(program: &Program, parameters: &str) -> Answer {
    let path = format!("/v1/vaults/v/search?{parameters}");
    Answer::to(program.request_to(Method::GET, &path)).await
}

/// Whether these memories are found by their meaning, with other words than their texts.
async fn are_found(program: &Program, memories: impl IntoIterator<Item = usize>) -> bool {
    for number in memories {
        let query = format!("mode=semantic&limit=5&q=vehicle+house+number{number}");
        let page = search(program, &query).await.is(200).json();
        if page["items"][0]["memory_id"] != format!("m{number}") {
            return false;
        }
    }
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_instance_continues_the_embedding_of_a_killed_one() {
    let server = EmbeddingServer::start().await;
    let database = Database::create().await;
    let url = database.url();
    let mut environment = vec![("DATABASE_URL", url.as_str())];
    environment.extend(server.environment("one"));
    let folders = [folder(), folder()];
    server.takes(Duration::from_millis(400));
    let mut dying = Program::start_with(folders[0].path(), &environment).await;
    put_all(&dying, 0..MEMORIES).await;
    eventually("some are embedded", async || server.asked("one").len() >= 100).await;
    dying.signal(Signal::KILL);
    dying.ended().await;
    let embedded = server.asked("one").len();
    assert!(embedded < MEMORIES, "there was nothing left to embed");

    server.takes(Duration::ZERO);
    let living = Program::start_with(folders[1].path(), &environment).await;
    let distinct = || BTreeSet::from_iter(server.asked("one")).len();
    eventually("all are embedded and found", async || {
        distinct() == MEMORIES && are_found(&living, (0..MEMORIES).step_by(60)).await
    })
    .await;
    let texts = server.asked("one");
    let again = texts.len() - MEMORIES;
    assert!(again <= IN_FLIGHT, "{again} were embedded twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_change_under_load_does_not_affect_searches() {
    let server = EmbeddingServer::start().await;
    let database = Database::create().await;
    let url = database.url();
    let with = |model: &'static str| {
        let mut environment = vec![("DATABASE_URL", url.as_str())];
        environment.extend(server.environment(model));
        environment
    };
    let folders = [folder(), folder()];
    let old = Program::start_with(folders[0].path(), &with("one")).await;
    put_all(&old, 0..MEMORIES / 2).await;
    // Memories are embedded in no order: the last one is not found after all others.
    eventually("the first half is found", async || {
        are_found(&old, [7, MEMORIES / 2 - 1]).await && server.asked("one").len() >= MEMORIES / 2
    })
    .await;

    server.takes(Duration::from_millis(100));
    let new = Program::start_with(folders[1].path(), &with("two")).await;
    let is_over = Cell::new(false);
    let searches = async {
        let mut made = 0;
        while !is_over.get() {
            for program in [&old, &new] {
                let page = search(program, "mode=semantic&limit=5&q=vehicle+house+number7").await;
                let expected = json!({"degraded": null, "/items/0/memory_id": "m7"});
                has(&page.is(200).json(), expected);
                made += 1;
            }
        }
        made
    };
    let load = async {
        put_all(&new, MEMORIES / 2..MEMORIES).await;
        server.takes(Duration::ZERO);
        eventually("all are found by the new model", async || {
            server.asked("two").len() >= MEMORIES && are_found(&new, (0..MEMORIES).step_by(60)).await
        })
        .await;
        is_over.set(true);
    };
    let (made, ()) = join(searches, load).await;
    assert!(made > 20, "only {made} searches were made meanwhile");
}
