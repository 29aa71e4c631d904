//! Measures the assembly of a prompt of 200 items and a document of 50 KB, over HTTP: as text, with the receipt,
//! and within a budget; and the memory of the tokenizer. Targets: a median of 5 ms, 80 MiB.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark shows what it measured, or fails"
)]

mod service;

use reqwest::Client;
use serde_json::json;
use service::{Service, client, is_wanted, millis, percentile};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Instant;

const ITEMS: usize = 200;
const DOCUMENT_BYTES: usize = 50_000;
const REQUESTS: usize = 1_000;
const TARGET_MILLIS: f64 = 5.0;
const TARGET_MIB: f64 = 80.0;

#[tokio::main]
async fn main() -> ExitCode {
    if !is_wanted() {
        return ExitCode::SUCCESS;
    }
    let client = client();
    let service = Service::start(&client, &[]).await;
    let memory = format!("{}/v1/vaults/bench/memories/m", service.url);
    fill(&client, &memory).await;
    let prompt = format!("{memory}/prompt");

    println!(
        "{:34} {:>9} {:>9} {:>9} {:>9}",
        "GetPrompt", "first, ms", "p50, ms", "p99, ms", "RSS, MiB"
    );
    let mut missed = false;
    for (name, query, accept) in [
        ("text", "", "text/plain"),
        ("receipt (JSON)", "", "application/json"),
        ("text of at most 8,000 tokens", "?max_tokens=8000", "text/plain"),
    ] {
        let url = format!("{prompt}{query}");
        let first = read(&client, &url, accept).await;
        let mut times = Vec::new();
        for _ in 0..REQUESTS {
            times.push(read(&client, &url, accept).await);
        }
        let (p50, p99) = (percentile(&mut times, 0.5), percentile(&mut times, 0.99));
        let resident = resident_mib(service.process.id());
        missed |= p50 > TARGET_MILLIS || resident > TARGET_MIB;
        println!("{name:34} {first:9.2} {p50:9.2} {p99:9.2} {resident:9.1}");
    }
    if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Adds ten categories of twenty items, and a document of records and free text.
async fn fill(client: &Client, memory: &str) {
    for category in 0..10 {
        let first = category * ITEMS / 10;
        let items: Vec<_> = (first..first + ITEMS / 10)
            .map(|number| json!({"content": format!("Item {number}: run the tests before every commit, and say why a test fails before you change it.")}))
            .collect();
        let url = format!("{memory}/items/category-{category}");
        let answer = client.put(url).json(&items).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }
    let mut document = "# Facts\n".to_owned();
    while document.len() < DOCUMENT_BYTES / 2 {
        let _ = writeln!(
            document,
            "- The {}th fact is about the build, which takes {} ms.",
            document.len(),
            document.len() * 7
        );
    }
    document.push_str("\n# Key Learnings\n");
    let mut number = 0;
    while document.len() < DOCUMENT_BYTES {
        number += 1;
        let _ = writeln!(
            document,
            "- KL-{number} [2026-11-21T02:00:00Z] because CI has no database: commit the prepared data of query {number}"
        );
    }
    let put = client
        .put(format!("{memory}/context"))
        .header("Content-Type", "text/plain");
    assert_eq!(put.body(document).send().await.unwrap().status(), 201);
}

async fn read(client: &Client, url: &str, accept: &str) -> f64 {
    let began = Instant::now();
    let answer = client.get(url).header("Accept", accept).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let body = answer.bytes().await.unwrap();
    assert!(!body.is_empty());
    millis(began.elapsed())
}

/// The resident memory of a process.
fn resident_mib(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib / 1024.0
}
