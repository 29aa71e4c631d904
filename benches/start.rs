//! Measures how long the service takes to be ready, with a new database and with an existing one, and its
//! memory when idle. Targets: 5 s, 2 s, 60 MiB.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark shows what it measured, or fails"
)]

mod service;

use service::{Service, client, is_wanted, millis};
use std::os::unix::fs::PermissionsExt as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;

#[tokio::main]
async fn main() -> ExitCode {
    if !is_wanted() {
        return ExitCode::SUCCESS;
    }
    let (mut new, mut existing, mut idle) = (Vec::new(), Vec::new(), Vec::new());
    let client = client();
    for _ in 0..ROUNDS {
        let folder = tempfile::Builder::new()
            .permissions(std::fs::Permissions::from_mode(0o711))
            .tempdir()
            .unwrap();
        let data = folder.path().join("data").to_str().unwrap().to_owned();
        let environment = [
            ("DATABASE_URL", None),
            ("WORKING_MEMORY__DATABASE__DATA_DIR", Some(data)),
        ];
        let began = Instant::now();
        let service = Service::start(&client, &environment).await;
        new.push(millis(began.elapsed()));
        drop(service);
        let began = Instant::now();
        let service = Service::start(&client, &environment).await;
        existing.push(millis(began.elapsed()));
        // A first request of each kind, so that pools and caches are initialised.
        let context = format!("{}/v1/vaults/bench/memories/m/context", service.url);
        client.put(&context).body("a document").send().await.unwrap();
        client.get(&context).send().await.unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
        idle.push(resident_mib(service.process.id()));
    }
    let rows = [
        ("new database, ms", &mut new, 5_000.0),
        ("existing database, ms", &mut existing, 2_000.0),
        ("idle memory, MiB", &mut idle, 60.0),
    ];
    println!("{:24} {:>8} {:>8} {:>8}", "", "median", "worst", "target");
    let mut missed = false;
    for (what, values, target) in rows {
        let median = service::percentile(values, 0.5);
        let worst = service::percentile(values, 1.0);
        missed |= worst > target;
        println!("{what:24} {median:8.0} {worst:8.0} {target:8.0}");
    }
    if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
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
