//! `working-memory health`, against any HTTP server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output};
use std::thread;

/// Runs the command against a server that returns this response to every request.
fn health(answer: &'static str) -> Output {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 512];
        let length = stream.read(&mut request).unwrap();
        assert!(request[..length].starts_with(b"GET /readyz HTTP/1.1\r\n"));
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let program = env!("CARGO_BIN_EXE_working-memory");
    let output = Command::new(program)
        .args(["health", "--address", &address])
        .output()
        .unwrap();
    server.join().unwrap();
    output
}

#[test]
fn a_ready_service_is_healthy() {
    let output = health("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty());
}

#[test]
fn a_service_that_is_not_ready_is_unhealthy_with_a_reason() {
    let output = health("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("503 Service Unavailable"),
        "{output:?}"
    );
}

#[test]
fn an_unreachable_service_is_unhealthy() {
    let program = env!("CARGO_BIN_EXE_working-memory");
    let output = Command::new(program)
        .args(["health", "--address", "127.0.0.1:1"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn the_address_may_come_from_the_environment_and_the_output_may_be_json() {
    let program = env!("CARGO_BIN_EXE_working-memory");
    let output = Command::new(program)
        .args(["health", "--json"])
        .env("WORKING_MEMORY_URL", "http://127.0.0.1:1/below")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["url"], "http://127.0.0.1:1/below/readyz");
    assert_eq!(report["healthy"], false);
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["exit_code"], 3);
}
