//! `working-memory health`: asks a running service how it is, for health checks of containers, whose images
//! have no other program to ask with.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Arguments of `health`.
#[derive(Debug, Args)]
pub struct Health {
    /// Where the service listens.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    address: String,
    /// What to ask for.
    #[arg(long, default_value = "/readyz")]
    path: String,
    /// Seconds to wait for the answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    timeout: u64,
}

impl Health {
    /// Exits with 0 if the service answers 200, with 1 otherwise, saying why.
    pub(super) async fn run(self) -> ExitCode {
        let status = match timeout(Duration::from_secs(self.timeout), self.ask()).await {
            Ok(Ok(line)) if line.split(' ').nth(1) == Some("200") => return ExitCode::SUCCESS,
            Ok(Ok(line)) => line,
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {} s", self.timeout),
        };
        eprintln!("working-memory: {}{}: {status}", self.address, self.path);
        ExitCode::FAILURE
    }

    /// One HTTP/1.0 request, and the status line of its answer.
    async fn ask(&self) -> io::Result<String> {
        let mut stream = TcpStream::connect(&self.address).await?;
        let request = format!("GET {} HTTP/1.0\r\nHost: {}\r\n\r\n", self.path, self.address);
        stream.write_all(request.as_bytes()).await?;
        let mut line = String::new();
        BufReader::new(stream.take(1024)).read_line(&mut line).await?;
        Ok(line.trim_end().to_owned())
    }
}
