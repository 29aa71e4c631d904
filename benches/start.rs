//! How long the service takes to be ready, with a database still to be made and with one that is there, and how
//! much memory it has when idle. Targets: 5 s, 2 s, 60 MiB.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark shows what it measured, or fails"
)]
#![expect(
    missing_docs,
    unreachable_pub,
    reason = "a program, and a module that not all of them use fully"
)]

mod service;

use service::{Service, client, is_wanted};
use std::os::unix::fs::PermissionsExt as _;
use std::process::ExitCode;
use std::time::Duration;

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
        new.push(Service::start(&client, &environment).await.start.as_secs_f64());
        let service = Service::start(&client, &environment).await;
        existing.push(service.start.as_secs_f64());
        tokio::time::sleep(Duration::from_secs(2)).await;
        idle.push(service.resident_kib() as f64 / 1024.0);
    }
    let rows = [
        ("new database, s", &mut new, 5.0),
        ("existing database, s", &mut existing, 2.0),
        ("idle memory, MiB", &mut idle, 60.0),
    ];
    println!("{:24} {:>8} {:>8} {:>8}", "", "median", "worst", "target");
    let mut missed = false;
    for (what, values, target) in rows {
        let median = service::percentile(values, 0.5);
        let worst = service::percentile(values, 1.0);
        missed |= worst > target;
        println!("{what:24} {median:8.2} {worst:8.2} {target:8.2}");
    }
    if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
