//! A service whose database is unavailable when it starts.

use super::program::{PATIENCE, Program, command, folder};
use crate::harness::{Answer, Database, Relay, Target, eventually, has};
use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use std::fs::{self, File};
use std::path::Path;
use std::process::Child;
use std::str::FromStr;
use std::time::Duration;
use tokio::net::TcpListener;
use url::Url;
use working_memory::storage::is_direct;

/// A port of this machine where nobody listens.
async fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().port()
}

/// The address of a database at that port.
fn url_at(database: &Database, port: u16) -> String {
    let server = PgConnectOptions::from_str(&database.url()).unwrap();
    let (user, name) = (server.get_username(), server.get_database().unwrap());
    let password = Url::parse(&database.url()).unwrap();
    let password = password.password().unwrap_or("hidden");
    format!("postgres://{user}:{password}@127.0.0.1:{port}/{name}")
}

/// Killed when the value is dropped, if it still runs.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the program and waits for the log line with this message. Returns its address.
async fn listening(folder: &Path, url: &str) -> (Started, String) {
    let log = folder.join("service.log");
    let child = command(folder, &[("DATABASE_URL", url)])
        .stderr(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let child = Started(child);
    let mut address = String::new();
    eventually("it listens", async || {
        let text = fs::read_to_string(&log).unwrap();
        let mut lines = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let starting = lines.find(|line| line["message"] == "starting");
        address = starting.map_or_else(String::new, |line| line["url"].as_str().unwrap().to_owned());
        !address.is_empty()
    })
    .await;
    (child, address)
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]);
    client.timeout(PATIENCE).build().unwrap()
}

#[tokio::test]
async fn a_service_reports_that_it_waits_for_its_database_and_then_starts() {
    let database = Database::create().await;
    let port = free_port().await;
    let folder = folder();
    let url = url_at(&database, port);
    let parsed = Url::parse(&url).unwrap();
    let (password, name) = (parsed.password().unwrap(), parsed.path().trim_start_matches('/'));
    let (_child, address) = listening(folder.path(), &url).await;
    let client = client();
    let get = async |path: &str| Answer::to(client.request(Method::GET, format!("{address}{path}"))).await;

    assert_eq!(get("/healthz").await.is(200).text(), "ok\n");
    let readiness = get("/readyz").await;
    assert!(readiness.headers.contains_key("retry-after") && readiness.headers.contains_key("x-request-id"));
    let readiness = readiness.problem(503, "unavailable", None);
    has(
        &readiness,
        json!({"not_ready": ["database"], "checks": {"database": "failed", "schema": "unknown", "writes": "unknown"}}),
    );
    for path in ["/v1/vaults", "/v1/keys", "/metrics", "/none"] {
        let readiness = get(path).await.problem(503, "unavailable", None);
        assert!(!readiness.to_string().contains(name), "{readiness}");
    }

    let _relay = Relay::at(port, Target::of(&database.url()), 0).await;
    // No request is lost on a connection, kept or new, while the service takes over.
    let other = self::client();
    eventually("it is ready", async || {
        let new = Answer::to(self::client().request(Method::GET, format!("{address}/readyz")));
        let kept = Answer::to(other.request(Method::GET, format!("{address}/readyz")));
        let (new, kept) = tokio::join!(new, kept);
        assert!([200, 503].contains(&new.status), "{new:?}");
        new.status == 200 && kept.status == 200
    })
    .await;
    get("/v1/vaults").await.is(200);
    let log = fs::read_to_string(folder.path().join("service.log")).unwrap();
    assert!(
        log.contains("waiting for the database") && !log.contains(password),
        "{log}"
    );
    let lines: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    assert!(lines.iter().any(|line| line["message"] == "models"), "{log}");
    let probed = lines.iter().filter(|line| line["status"] == 503);
    assert!(
        probed.clone().count() > 0 && probed.clone().all(|line| line["level"] == "INFO"),
        "{log}"
    );
}

#[tokio::test]
async fn a_connection_that_is_lost_is_no_sign_of_a_pooler() {
    let database = Database::create().await;
    let port = free_port().await;
    let _relay = Relay::at(port, Target::of(&database.url()), 1).await;
    assert!(matches!(is_direct(&url_at(&database, port)).await, Ok(true)));
}

#[tokio::test]
async fn an_address_names_its_server_in_the_query_alone() {
    let database = Database::create().await;
    let server = PgConnectOptions::from_str(&database.url()).unwrap();
    let host = match server.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => server.get_host().to_owned(),
    };
    let (user, name, port) = (
        server.get_username(),
        server.get_database().unwrap(),
        server.get_port(),
    );
    let parsed = Url::parse(&database.url()).unwrap();
    let password = parsed
        .password()
        .map(|password| format!(":{password}"))
        .unwrap_or_default();
    // The second server of the list does not exist.
    let nowhere = free_port().await;
    for url in [
        format!("postgres://{user}{password}@/{name}?host={host}&port={port}"),
        format!("postgres://{user}{password}@/{name}?host={host},127.0.0.1&port={port},{nowhere}"),
    ] {
        let folder = folder();
        let program = Program::start_with(folder.path(), &[("DATABASE_URL", &url)]).await;
        program.put("m", "text\n").await.is(201);
        Answer::to(program.request_to(Method::DELETE, "/v1/vaults/v/memories/m"))
            .await
            .is(204);
    }
}

#[tokio::test]
async fn a_service_that_waits_for_its_database_stops_on_sigterm() {
    let folder = folder();
    let url = format!("postgres://nobody@127.0.0.1:{}/nothing", free_port().await);
    let (mut child, _) = listening(folder.path(), &url).await;
    kill_process(Pid::from_child(&child.0), Signal::TERM).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            if let Some(status) = child.0.try_wait().unwrap() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(ended.await.unwrap().success());
}
