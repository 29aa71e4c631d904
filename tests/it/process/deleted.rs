//! Memories that are deleted and made again on two instances, one of which is killed in between: nothing of a deleted one
//! comes back, every acknowledged proposal was stored, and the events tell one order.

use super::program::{Program, folder, with_models};
use crate::harness::{Answer, Database, eventually};
use crate::pipeline::dictated::learning;
use crate::pipeline::stub::{Reply, Stub};
use reqwest::{Method, RequestBuilder};
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const GENERATIONS: usize = 12;

/// Updates of one generation: on one instance, on the other as a proposal, and a queued one.
fn updates(generation: usize, [one, other]: [&Program; 2]) -> [RequestBuilder; 3] {
    let body = |number: usize, mode: &str| {
        let task = format!("insight-{generation}-{number}.");
        json!({ "task": task, "roles": ["learnings"], "mode": mode })
    };
    let update = |program: &Program| program.request(Method::POST, "m", "update");
    [
        update(one).json(&body(0, "apply")),
        update(other).json(&body(1, "propose")),
        update(other)
            .header("Prefer", "respond-async")
            .json(&body(2, "apply")),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_deleted_memory_comes_back() {
    let asked = Arc::new(Mutex::new(BTreeSet::new()));
    let counting = asked.clone();
    let stub = Stub::start(move |model_request| {
        let said = model_request.body.to_string();
        let named = said.rsplit("insight-").next().unwrap();
        let named = named.split('.').next().unwrap().to_owned();
        counting.lock().unwrap().insert(named.clone());
        let learned = Reply::Text(learning(&format!("insight-{named}")));
        Reply::After(Duration::from_millis(150), Box::new(learned))
    })
    .await;
    let database = Database::create().await;
    let url = database.url();
    let environment = with_models(&url, stub.address());
    let folders = [folder(), folder()];
    let mut one = Program::start_with(folders[0].path(), &environment).await;
    let other = Program::start_with(folders[1].path(), &environment).await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let mut rows = async |statement: String| -> i64 {
        let count = sqlx::query_scalar(sqlx::AssertSqlSafe(statement));
        count.fetch_one(&mut connection).await.unwrap()
    };
    let mut proposed = Vec::new();

    for generation in 0..GENERATIONS {
        for number in 0..3 {
            let text = format!("# Notes\ngeneration-{generation}-{number}\n");
            other.put("m", &text).await.is(201);
        }
        let sending: Vec<_> = updates(generation, [&one, &other])
            .into_iter()
            .map(|request| tokio::spawn(async move { request.send().await.ok() }))
            .collect();
        // All three have begun with the memory that is deleted: one that arrives later is about the next one.
        eventually("the models are called", async || {
            let asked = asked.lock().unwrap();
            (0..2).all(|number| asked.contains(&format!("{generation}-{number}")))
        })
        .await;
        let queued = format!("updates WHERE strpos(request::text, 'insight-{generation}-2.') > 0");
        eventually("the third one is queued", async || {
            rows(format!("SELECT count(*) FROM {queued}")).await > 0
        })
        .await;
        let is_killed = generation == GENERATIONS / 2;
        if is_killed {
            one.signal(Signal::KILL);
            one.ended().await;
        }
        Answer::to(other.request_to(Method::DELETE, "/v1/vaults/v/memories/m"))
            .await
            .is(204);
        other.put("m", "# Notes\nmade anew\n").await.is(201);
        if is_killed {
            one = Program::start_with(folders[0].path(), &environment).await;
        }
        for sent in sending {
            let Some(answer) = sent.await.unwrap() else {
                continue;
            };
            let status = answer.status().as_u16();
            let Ok(answer) = answer.json::<Value>().await else {
                continue;
            };
            assert!([200, 202, 409].contains(&status), "{status}: {answer}");
            if answer["status"] == "proposed" {
                proposed.push(answer["update_id"].as_str().unwrap().to_owned());
            }
        }
        eventually("no update runs", async || {
            rows("SELECT count(*) FROM updates WHERE queue_place IS NOT NULL".to_owned()).await == 0
        })
        .await;
        for table in ["memory_contexts", "records", "updates", "search_entries"] {
            let statement = format!(
                "SELECT count(*) FROM {table} AS t WHERE strpos(t::text, 'insight-{generation}') > 0
                    OR strpos(t::text, 'generation-{generation}') > 0"
            );
            assert_eq!(rows(statement).await, 0, "{table} holds generation {generation}");
        }
    }

    let events = told(&other).await;
    for id in proposed {
        let told = |event: &&Value| event["kind"] == "proposed" && event["update_id"] == id.as_str();
        assert_eq!(events.iter().filter(told).count(), 1, "{id} was acknowledged");
    }
    is_one_order(&events);
}

/// All events of the vault, read by page.
async fn told(program: &Program) -> Vec<Value> {
    let mut events = Vec::new();
    let mut last = "0".to_owned();
    loop {
        let request = program.request_to(Method::GET, "/v1/vaults/v/events?limit=100");
        let request = request
            .header("Accept", "application/json")
            .header("Last-Event-ID", &last);
        let page = Answer::to(request).await.is(200).json();
        let items = page["items"].as_array().unwrap();
        if items.is_empty() {
            return events;
        }
        last = page["last_event_id"].as_str().unwrap().to_owned();
        events.extend(items.iter().cloned());
    }
}

/// Versions of each life are 1, 2, 3 …, and the next life begins after the deletion.
fn is_one_order(events: &[Value]) {
    let mut newest: BTreeMap<&str, i64> = BTreeMap::new();
    let mut deleted = 0;
    for event in events {
        let memory = newest.entry(event["memory_id"].as_str().unwrap()).or_default();
        match event["kind"].as_str().unwrap() {
            "version" => {
                assert_eq!(event["version"], *memory + 1, "{event}");
                *memory += 1;
            }
            "memory_deleted" => {
                deleted += 1;
                *memory = 0;
            }
            _ => {}
        }
    }
    assert_eq!(deleted, GENERATIONS);
}
