//! Measures `show`, `status` and `path` as whole processes, from a local copy of a handoff (`--offline`). Target:
//! 20 ms at the median.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark shows what it measured, or fails"
)]

mod service;

use service::{Service, client, is_wanted, millis, percentile};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

const RUNS: usize = 300;
const TARGET: f64 = 20.0;

#[tokio::main]
async fn main() -> ExitCode {
    if !is_wanted() {
        return ExitCode::SUCCESS;
    }
    let client = client();
    let service = Service::start(&client, &[]).await;
    let context = format!("{}/v1/vaults/bench/memories/agent/context", service.url);
    let records = (1..=200).map(|n| format!("- KL-{n} because it is so: what was learnt, number {n}\n"));
    let text = format!(
        "# Current Progress\n## In Progress\n- measuring\n\n# Key Learnings\n{}",
        records.collect::<String>()
    );
    let put = client.put(context).header("Content-Type", "text/plain");
    assert_eq!(put.body(text).send().await.unwrap().status(), 201);
    let folder = tempfile::tempdir().unwrap();
    let memory = ["--vault", "bench", "--memory", "agent"];
    run(
        folder.path(),
        "refresh",
        &[&memory[..], &["--url", &service.url]].concat(),
    );
    println!("{:8} {:>10} {:>10} {:>10}", "ms", "median", "p99", "target");
    let mut missed = false;
    for name in ["show", "status", "path"] {
        let offline: &[&str] = if name == "path" { &[] } else { &["--offline"] };
        let arguments = [&memory[..], offline].concat();
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let began = Instant::now();
            run(folder.path(), name, &arguments);
            times.push(millis(began.elapsed()));
        }
        let (median, late) = (percentile(&mut times, 0.5), percentile(&mut times, 0.99));
        missed |= median > TARGET;
        println!("{name:8} {median:10.1} {late:10.1} {TARGET:10.1}");
    }
    if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn run(folder: &Path, name: &str, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_working-memory"));
    let output = command
        .arg(name)
        .args(arguments)
        .current_dir(folder)
        .env("WORKING_MEMORY_HOME", folder)
        .output()
        .unwrap();
    let error_output = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && !output.stdout.is_empty(),
        "{name}: {error_output}"
    );
}
