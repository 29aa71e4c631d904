//! A running `working-memory serve`.

use crate::harness::{Answer, eventually};
use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use working_memory::clock::{Clock, SystemClock};

const PROGRAM: &str = env!("CARGO_BIN_EXE_working-memory");

/// The timeout of every wait.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A folder that the account of the embedded database can reach.
pub(crate) fn folder() -> TempDir {
    tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o755))
        .tempdir()
        .unwrap()
}

/// `serve` in a folder, with this environment and nothing of the test's own but the path.
pub(crate) fn command(folder: &Path, environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .arg("serve")
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("WORKING_MEMORY__HTTP__BIND", "127.0.0.1:0")
        .env("WORKING_MEMORY__LOG__FORMAT", "json")
        .env("WORKING_MEMORY__DATABASE__DATA_DIR", folder.join("data"))
        .envs(environment.iter().copied())
        .stdin(Stdio::null());
    command
}

/// Killed when the value is dropped, if it still runs.
pub(crate) struct Program {
    child: Child,
    folder: std::path::PathBuf,
    /// `http://127.0.0.1:<port>`.
    pub(crate) address: String,
    /// The time from its start until it was ready.
    pub(crate) ready_after: Duration,
    client: reqwest::Client,
}

impl Program {
    /// Starts the program and waits until it is ready.
    pub(crate) async fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[]).await
    }

    /// The same with additional environment variables.
    pub(crate) async fn start_with(folder: &Path, environment: &[(&str, &str)]) -> Self {
        let began = Instant::now();
        let mut program = Self::start_until("ready", folder, environment).await;
        program.get("/readyz").await.is(200);
        program.ready_after = began.elapsed();
        program
    }

    /// Starts it and waits for the log line with this message, which has its address.
    pub(crate) async fn start_until(message: &str, folder: &Path, environment: &[(&str, &str)]) -> Self {
        let log = folder.join("service.log");
        let began = Instant::now();
        let child = command(folder, environment)
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut program = Self {
            child,
            folder: folder.to_owned(),
            address: String::new(),
            ready_after: Duration::ZERO,
            client: client(),
        };
        while program.address.is_empty() {
            let text = fs::read_to_string(&log).unwrap();
            assert!(program.child.try_wait().unwrap().is_none(), "it ended: {text}");
            assert!(began.elapsed() < PATIENCE, "not {message}: {text}");
            let line = lines(&text).into_iter().find(|line| line["message"] == message);
            program.address = line.map_or_else(String::new, |line| line["url"].as_str().unwrap().to_owned());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        program
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        eventually("the program ends", async || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        })
        .await;
        status.unwrap()
    }

    /// The process id of its database server, if the server has written its pid file.
    pub(crate) fn postmaster(&self) -> Option<Pid> {
        let file = self.folder.join("data/postgres/cluster/postmaster.pid");
        let text = fs::read_to_string(file).ok()?;
        Pid::from_raw(text.lines().next()?.parse().ok()?)
    }

    /// Whether its database server accepts connections.
    pub(crate) async fn database_answers(&self) -> bool {
        let options = PgConnectOptions::new()
            .socket(self.folder.join("data/postgres/run"))
            .username("working_memory")
            .database("working_memory");
        PgConnection::connect_with(&options).await.is_ok()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::to(self.client.get(format!("{}{path}", self.address))).await
    }

    /// Everything logged until now. Lines are written asynchronously: this sends one more request, and waits for its line.
    pub(crate) async fn log(&self) -> String {
        let last = format!("last-{}", SystemClock.new_id());
        let request = self.request_to(Method::GET, "/healthz");
        Answer::to(request.header("X-Request-Id", &last)).await.is(200);
        let log = || fs::read_to_string(self.folder.join("service.log")).unwrap();
        eventually("what was logged is written", async || log().contains(&last)).await;
        log()
    }

    /// A request to any path.
    pub(crate) fn request_to(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.address))
    }

    /// Sends a text to a resource of a memory.
    pub(crate) fn request(&self, method: Method, memory: &str, below: &str) -> reqwest::RequestBuilder {
        let path = format!("/v1/vaults/v/memories/{memory}/{below}");
        self.client.request(method, format!("{}{path}", self.address))
    }

    /// GET a resource of a memory.
    pub(crate) async fn read(&self, memory: &str, below: &str) -> Answer {
        Answer::to(self.request(Method::GET, memory, below)).await
    }

    /// PUT a document.
    pub(crate) async fn put(&self, memory: &str, text: &str) -> Answer {
        let request = self.request(Method::PUT, memory, "context");
        Answer::to(request.header("Content-Type", "text/plain").body(text.to_owned())).await
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that opens a new connection for every request: a pooled one may belong to a service that was killed.
pub(crate) fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .pool_max_idle_per_host(0)
        .timeout(PATIENCE)
        .build()
        .unwrap()
}

/// The lines of a log.
pub(crate) fn lines(log: &str) -> Vec<Value> {
    let lines = log.lines().filter_map(|line| serde_json::from_str(line).ok());
    lines.collect()
}

/// The environment of a service with this database, and a server of models at this address.
pub(crate) fn with_models<'e>(database: &'e str, address: &'e str) -> Vec<(&'static str, &'e str)> {
    vec![
        ("DATABASE_URL", database),
        ("WORKING_MEMORY__LLM__PROVIDER", "openai"),
        ("WORKING_MEMORY__LLM__BASE_URL", address),
        ("WORKING_MEMORY__LLM__MODEL", "stub"),
        ("WORKING_MEMORY__PIPELINE__QUEUE__LEASE_SECONDS", "3"),
        ("WORKING_MEMORY__DATABASE__MAX_CONNECTIONS", "8"),
    ]
}
