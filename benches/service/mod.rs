//! Shared by all benchmarks: a service process to measure, and medians.

use rustix::process::{Pid, Signal, kill_process};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Whether to measure: `cargo bench` passes the flag; a test runner that runs all targets does not.
pub(crate) fn is_wanted() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// A running `working-memory serve`, stopped when the value is dropped.
pub(crate) struct Service {
    pub(crate) process: Child,
    /// `http://…`, without a trailing slash.
    pub(crate) url: String,
}

impl Service {
    /// Starts the service and waits for the first 200 of `/readyz`, with
    /// additional environment variables; one without a value is removed.
    pub(crate) async fn start(client: &reqwest::Client, environment: &[(&str, Option<String>)]) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let mut command = Command::new(env!("CARGO_BIN_EXE_working-memory"));
        command
            .arg("serve")
            .env("WORKING_MEMORY__HTTP__BIND", &address)
            .current_dir(std::env::temp_dir())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        for (name, value) in environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let began = Instant::now();
        let process = command.spawn().unwrap();
        let url = format!("http://{address}");
        loop {
            let ready = client.get(format!("{url}/readyz")).send().await;
            if ready.is_ok_and(|answer| answer.status() == 200) {
                break;
            }
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "the service does not get ready"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Self { process, url }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        let _ = self.process.wait();
    }
}

/// A client with connection reuse and without TLS.
pub(crate) fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .build()
        .unwrap()
}

/// The time in milliseconds.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The value that a share of the values does not exceed: 0.5 for the median.
pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    values[(last as f64 * share).round() as usize]
}
