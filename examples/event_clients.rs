//! Opens many streams of one vault's events, writes versions, and prints how soon all clients received them and the memory
//! of the service. `docs/events.md` has results.
//!
//! ```text
//! cargo build --release --example event_clients
//! target/release/examples/event_clients 127.0.0.1:8080 PID [CLIENTS] [VERSIONS]
//! ```
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use std::error::Error;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, pid, rest @ ..] = arguments.as_slice() else {
        return Err("give the service's host:port and its process id".into());
    };
    let number = |at: usize, default: usize| rest.get(at).map_or(Ok(default), |text| text.parse());
    let (clients, versions) = (number(0, 1_000)?, number(1, 50)?);
    println!("before: {}", resident(pid)?);
    let (told, mut heard) = unbounded_channel();
    for _ in 0..clients {
        tokio::spawn(watch(address.clone(), told.clone()));
        // One after the other, as real clients connect.
        heard.recv().await.ok_or("a client could not connect")?;
    }
    println!("{clients} clients: {}", resident(pid)?);
    let mut last_ones = Vec::new();
    for version in 0..versions {
        put(address, version).await?;
        // Acknowledged: from here on events may arrive.
        let written = Instant::now();
        for _ in 0..clients {
            heard.recv().await.ok_or("a client was cut off")?;
        }
        last_ones.push(written.elapsed());
    }
    last_ones.sort();
    println!("{versions} versions: {}", resident(pid)?);
    println!(
        "until the last client knew, from the answer on: median {:?}, longest {:?}",
        last_ones[versions / 2],
        last_ones[versions - 1]
    );
    Ok(())
}

/// Sends a message when the stream has begun, then one for each event.
async fn watch(address: String, told: UnboundedSender<()>) -> Outcome<()> {
    let mut stream = TcpStream::connect(&address).await?;
    stream
        .write_all(b"GET /v1/vaults/event-clients/events?kinds=version HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await?;
    let mut buffer = [0; 2_048];
    let mut text = String::new();
    loop {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Err("the stream ended".into());
        }
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
        while let Some(at) = text.find("\n\n") {
            let block: String = text.drain(..at + 2).collect();
            if block.contains("retry:") || block.contains("event: version") {
                told.send(())?;
            }
        }
    }
}

async fn put(address: &str, version: usize) -> Outcome<()> {
    let body = format!("version {version} of {}", fastrand::u64(..));
    let request = format!(
        "PUT /v1/vaults/event-clients/memories/agent/context HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    tokio::time::timeout(Duration::from_secs(10), stream.read_to_string(&mut answer)).await??;
    if answer.starts_with("HTTP/1.1 201") {
        Ok(())
    } else {
        Err(answer.into())
    }
}

/// The resident memory of a process.
fn resident(pid: &str) -> Outcome<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    Ok(line
        .ok_or("no VmRSS")?
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" "))
}
