//! A service whose database is unavailable when it starts.

use super::program::{PATIENCE, Program, command, folder, lines};
use crate::harness::{Answer, Database, Relay, Service, Target, eventually, has, holds, lacks};
use reqwest::Method;
use rustix::process::Signal;
use serde_json::json;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _};
use std::fs;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};
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
    let program = Program::start_until("starting", folder.path(), &[("DATABASE_URL", &url)]).await;
    let address = &program.address;
    let client = client();
    let get = async |path: &str| Answer::to(client.request(Method::GET, format!("{address}{path}"))).await;

    assert_eq!(get("/healthz").await.is(200).text(), "ok\n");
    let readiness = get("/readyz").await;
    assert!(readiness.headers.contains_key("retry-after") && readiness.headers.contains_key("x-request-id"));
    let readiness = readiness.problem(503, "unavailable", None);
    let checks = json!({"database": "failed", "schema": "unknown", "writes": "unknown"});
    has(&readiness, json!({"not_ready": ["database"], "checks": checks}));
    for path in ["/v1/vaults", "/v1/keys", "/metrics", "/none"] {
        let readiness = get(path).await.problem(503, "unavailable", None);
        assert!(!readiness.to_string().contains(name), "{readiness}");
    }

    let _relay = Relay::at(port, Target::of(&database.url()), &[]).await;
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
    holds(&log, &["waiting for the database"]);
    lacks(&log, &[password]);
    let lines = lines(&log);
    assert!(lines.iter().any(|line| line["message"] == "models"), "{log}");
    let mut probed = lines.iter().filter(|line| line["status"] == 503).peekable();
    assert!(
        probed.peek().is_some() && probed.all(|line| line["level"] == "INFO"),
        "{log}"
    );
}

#[tokio::test]
async fn a_connection_that_is_lost_is_no_sign_of_a_pooler() {
    let database = Database::create().await;
    let port = free_port().await;
    let _relay = Relay::at(port, Target::of(&database.url()), &[b""]).await;
    assert!(matches!(is_direct(&url_at(&database, port)).await, Ok(true)));
}

#[tokio::test]
async fn a_server_that_is_starting_is_no_sign_of_a_pooler() {
    let database = Database::create().await;
    let port = free_port().await;
    let starting = b"E\0\0\0\x25SFATAL\0VFATAL\0C57P03\0Mit starts\0\0";
    let _relay = Relay::at(port, Target::of(&database.url()), &[starting]).await;
    let url = format!("{}?sslmode=disable", url_at(&database, port));
    let folder = folder();
    let program = Program::start_with(folder.path(), &[("DATABASE_URL", &url)]).await;
    lacks(program.log().await, &["behind a pooler"]);
}

#[tokio::test]
async fn a_database_of_another_name_ends_a_start_but_not_a_running_service() {
    let database = Arc::new(Database::create().await);
    let url = database.url();
    let name = PgConnectOptions::from_str(&url).unwrap();
    let mut server = name.clone().database("postgres").connect().await.unwrap();
    let name = name.get_database().unwrap();
    let mut run = async |statement: String| {
        sqlx::raw_sql(AssertSqlSafe(statement))
            .execute(&mut server)
            .await
            .unwrap();
    };
    let (service, memory) = Service::through(database, url.clone()).await.agent();
    memory.write("text").await;
    run(format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).await;
    run(format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    ))
    .await;
    run(format!("ALTER DATABASE {name} RENAME TO {name}_")).await;

    for _ in 0..3 {
        let answer = memory.get("context").await;
        assert!(answer.headers.contains_key("retry-after"), "{}", answer.text());
        answer.problem(503, "unavailable", None);
    }
    let (folder, began) = (folder(), Instant::now());
    let output = command(folder.path(), &[("DATABASE_URL", &url)])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    holds(&said, &["the database refuses connections", "does not exist"]);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());

    run(format!("ALTER DATABASE {name}_ RENAME TO {name}")).await;
    run(format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")).await;
    eventually("it works again", async || {
        memory.get("context").await.status == 200
    })
    .await;
    drop(service);
}

#[tokio::test]
async fn an_address_names_its_server_in_the_query_alone() {
    let database = Database::create().await;
    let server = PgConnectOptions::from_str(&database.url()).unwrap();
    let host = match server.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => server.get_host().to_owned(),
    };
    let (user, name) = (server.get_username(), server.get_database().unwrap());
    let port = server.get_port();
    let parsed = Url::parse(&database.url()).unwrap();
    let password = parsed
        .password()
        .map_or_else(String::new, |word| format!(":{word}"));
    // The second server of the list does not exist.
    let nowhere = free_port().await;
    for url in [
        format!("postgres://{user}{password}@/{name}?host={host}&port={port}"),
        format!("postgres://{user}{password}@/{name}?host={host},127.0.0.1&port={port},{nowhere}"),
    ] {
        let folder = folder();
        let program = Program::start_with(folder.path(), &[("DATABASE_URL", &url)]).await;
        program.put("m", "text\n").await.is(201);
        let delete = program.request_to(Method::DELETE, "/v1/vaults/v/memories/m");
        Answer::to(delete).await.is(204);
    }
}

#[tokio::test]
async fn a_service_that_waits_for_its_database_stops_on_sigterm() {
    let folder = folder();
    let url = format!("postgres://nobody@127.0.0.1:{}/nothing", free_port().await);
    let mut program = Program::start_until("starting", folder.path(), &[("DATABASE_URL", &url)]).await;
    program.signal(Signal::TERM);
    let ended = tokio::time::timeout(Duration::from_secs(20), program.ended());
    assert!(ended.await.unwrap().success());
}
