//! Deliberately slow clients block neither the service nor each other.

use axum::Router;
use axum::routing::get;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use working_memory::http::{Settings, serve};

const PATIENCE: Duration = Duration::from_secs(20);
const SMALL: &str = "GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// A server with one huge response and one small one.
pub(super) async fn start(settings: Settings) -> SocketAddr {
    let router = Router::new()
        .route("/huge", get(|| async { "x".repeat(64 << 20) }))
        .route("/small", get(|| async { "small" }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let never = std::future::pending();
    tokio::spawn(async move { serve(listener, move || router.clone(), &settings, never).await });
    address
}

async fn asked(address: SocketAddr, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await;
    read.expect("an answer in time").unwrap();
    answer
}

#[tokio::test]
async fn a_client_that_does_not_read_its_response_loses_its_connection() {
    let address = start(Settings {
        max_connections: 1,
        write_timeout: Duration::from_millis(100),
        ..Settings::default()
    })
    .await;
    let _never_reads = asked(address, "GET /huge HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(answer(asked(address, SMALL).await).await.ends_with("small"));
}

#[tokio::test]
async fn half_open_connections_are_closed() {
    let address = start(Settings {
        max_connections: 2,
        header_timeout: Duration::from_millis(100),
        ..Settings::default()
    })
    .await;
    let _silent = asked(address, "").await;
    let _half = asked(address, "GET /small HTTP/1.1\r\nHo").await;
    assert!(answer(asked(address, SMALL).await).await.ends_with("small"));
}

#[tokio::test]
async fn a_head_is_as_long_and_has_as_many_lines_as_the_settings_say_and_no_more() {
    let long = |bytes: usize| format!("X: {}\r\n", "y".repeat(bytes));
    let lines = |count: usize| (0..count).map(|n| format!("X-{n}: y\r\n")).collect::<String>();
    let small = || Settings {
        max_headers: 20,
        max_header_bytes: 8_192,
        ..Settings::default()
    };
    for (settings, more, status) in [
        (Settings::default(), long(60_000), "200"),
        (Settings::default(), long(66_000), "431"),
        (Settings::default(), long(100_000), "431"),
        (Settings::default(), long(130_000), "431"),
        (small(), lines(10), "200"),
        (small(), lines(30), "431"),
        (small(), long(10_000), "431"),
    ] {
        let address = start(settings).await;
        let head = format!("GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{more}\r\n");
        let answer = answer(asked(address, &head).await).await;
        let is_expected = answer.starts_with(&format!("HTTP/1.1 {status}"));
        assert!(is_expected, "{}: {answer:.200}", more.len());
    }
}
