//! Measures whether recording a task depends on the number of archived tasks: none against 10,000, over HTTP, on one
//! service process and database. Target: a ratio of at most 1.2.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark shows what it measured, or fails"
)]

mod service;

use reqwest::Client;
use serde_json::json;
use service::{Service, client, is_wanted, millis, percentile};
use std::process::ExitCode;
use std::time::Instant;

const ARCHIVED: usize = 10_000;
/// Tasks of one import.
const CHUNK: usize = 1_000;
const ROUNDS: usize = 9;
/// Tasks to each of the two memories per round; the two alternate.
const TASKS: usize = 100;
const TARGET: f64 = 1.2;

#[tokio::main]
async fn main() -> ExitCode {
    if !is_wanted() {
        return ExitCode::SUCCESS;
    }
    let client = client();
    let service = Service::start(&client, &[]).await;
    for first in (0..ARCHIVED).step_by(CHUNK) {
        fill(&client, &service, first).await;
    }
    // The window of both is full, so that each new task archives an old one.
    for memory in ["long", "short"] {
        for _ in 0..10 {
            record(&client, &service, memory).await;
        }
    }
    let (mut none, mut many, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // A new memory for each round, so that its archive stays short.
        let fresh = format!("short-{round}");
        for _ in 0..6 {
            record(&client, &service, &fresh).await;
        }
        let (mut short, mut long) = (Vec::new(), Vec::new());
        for _ in 0..TASKS {
            short.push(record(&client, &service, &fresh).await);
            long.push(record(&client, &service, "long").await);
        }
        none.push(percentile(&mut short, 0.5));
        many.push(percentile(&mut long, 0.5));
        ratios.push(many[many.len() - 1] / none[none.len() - 1]);
    }
    let ratio = percentile(&mut ratios, 0.5);
    println!(
        "{:38} {:>12} {:>12} {:>7}",
        "median, ms", "none", "10,000", "ratio"
    );
    println!(
        "{:38} {:12.3} {:12.3} {ratio:7.2}",
        "RecordTask",
        percentile(&mut none, 0.5),
        percentile(&mut many, 0.5)
    );
    if ratio > TARGET {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Imports tasks directly into the archive.
async fn fill(client: &Client, service: &Service, first: usize) {
    let tasks: Vec<_> = (first..first + CHUNK)
        .map(|number| json!({ "time": "2026-01-01T00:00:00Z", "intent": format!("Task {number}"), "summary": "Done." }))
        .collect();
    let address = format!("{}/v1/vaults/bench/memories/long/window/import", service.url);
    let answer = client
        .post(address)
        .json(&json!({ "history": tasks }))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 201);
}

/// Records one task; returns its time in milliseconds.
async fn record(client: &Client, service: &Service, memory: &str) -> f64 {
    let address = format!("{}/v1/vaults/bench/memories/{memory}/tasks", service.url);
    let task_id = format!("t{:032x}", fastrand::u128(..));
    let task = json!({ "task_id": task_id, "intent": "Measure it", "summary": "Measured. Again." });
    let request = client.post(address).json(&task);
    let began = Instant::now();
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 201);
    answer.bytes().await.unwrap();
    millis(began.elapsed())
}
