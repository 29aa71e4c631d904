//! What the service adds to the time of its models: `/update` with three models of 200 ms each behind a server
//! of the OpenAI API, one update at a time and twenty. Target: a median of 10 ms at one.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark shows what it measured, or fails"
)]

mod service;

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use reqwest::Client;
use serde_json::{Value, json};
use service::{Service, client, is_wanted, millis, percentile};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const MODEL_TIME: Duration = Duration::from_millis(200);
/// Updates of one memory, one after the other; the first few are not counted.
const UPDATES: usize = 50;
const WARM_UP: usize = 5;
const TARGET_MILLIS: f64 = 10.0;

/// The models: how long each answer took them, and how many there were.
#[derive(Default)]
struct Stub {
    times: Mutex<Vec<f64>>,
    answers: AtomicU64,
}

#[tokio::main]
async fn main() -> ExitCode {
    if !is_wanted() {
        return ExitCode::SUCCESS;
    }
    let stub = Arc::new(Stub::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let router = Router::new()
        .route("/v1/chat/completions", post(answer))
        .with_state(stub.clone());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let client = client();
    let set = |value: &str| Some(value.to_owned());
    let environment = [
        ("WORKING_MEMORY__LLM__PROVIDER", set("openai")),
        ("WORKING_MEMORY__LLM__BASE_URL", Some(base_url)),
        ("WORKING_MEMORY__LLM__MODEL", set("progress")),
        ("WORKING_MEMORY__LLM__ROLES__LEARNINGS__MODEL", set("learnings")),
        ("WORKING_MEMORY__LLM__ROLES__VERBATIM__MODEL", set("verbatim")),
    ];
    let service = Service::start(&client, &environment).await;

    println!(
        "{:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "in flight", "updates", "p50, ms", "p99, ms", "model p50", "added"
    );
    let mut at_one = 0.0;
    for in_flight in [1, 20] {
        stub.times.lock().unwrap().clear();
        let memories =
            (0..in_flight).map(|memory| updates(&client, &service, format!("m{in_flight}-{memory}")));
        let mut times = futures::future::join_all(memories).await.concat();
        let model = percentile(&mut stub.times.lock().unwrap(), 0.5);
        let (p50, p99) = (percentile(&mut times, 0.5), percentile(&mut times, 0.99));
        let added = p50 - model;
        println!(
            "{in_flight:9} {:9} {p50:9.1} {p99:9.1} {model:9.1} {added:9.1}",
            times.len()
        );
        if in_flight == 1 {
            at_one = added;
        }
    }
    if at_one > TARGET_MILLIS {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Updates one memory again and again; the times in milliseconds.
async fn updates(client: &Client, service: &Service, memory: String) -> Vec<f64> {
    let url = format!("{}/v1/vaults/bench/memories/{memory}/update", service.url);
    let mut times = Vec::new();
    for number in 0..UPDATES {
        let body = json!({"task": format!("Step {number} of the work"), "messages": [
            {"role": "user", "content": "Please go on with the parser, and mind the tests."},
            {"role": "assistant", "content": "Done. The parser reads the header now; the tests pass."}]});
        let began = Instant::now();
        let answer = client.post(&url).json(&body).send().await.unwrap();
        let status = answer.status();
        let answer: Value = answer.json().await.unwrap();
        let time = millis(began.elapsed());
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["operations"].as_array().unwrap().len(), 3, "{answer}");
        if number >= WARM_UP {
            times.push(time);
        }
    }
    times
}

/// A model: thinks, then answers its section, each time with something new.
async fn answer(State(stub): State<Arc<Stub>>, Json(request): Json<Value>) -> Json<Value> {
    let began = Instant::now();
    let number = stub.answers.fetch_add(1, Ordering::Relaxed);
    let content = match request["model"].as_str() {
        Some("progress") => format!("CURRENT_PROGRESS:\n  In Progress:\n    - Work on part {number}\n"),
        Some("learnings") => {
            format!("KEY_LEARNINGS:\n  ADD:\n    - because it was measured: insight {number}\n")
        }
        _ => format!(
            "VERBATIM_CONTEXT:\n  ADD:\n    - because it is next: snippet {number} => let x = {number};\n"
        ),
    };
    tokio::time::sleep(MODEL_TIME).await;
    stub.times.lock().unwrap().push(millis(began.elapsed()));
    Json(json!({
        "model": request["model"],
        "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 40},
    }))
}
