//! `working-memory health`: checks a running service, for health checks of containers, whose images
//! contain no other HTTP client.

use super::client::{Failure, Output, base_url, finish};
use super::process::load_config;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

/// Arguments of `health`.
#[derive(Debug, Args)]
pub struct Health {
    /// Where the service listens, HOST:PORT; instead of --url.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "url")]
    address: Option<String>,
    /// Address of the service [env: WORKING_MEMORY_URL] [default: http://127.0.0.1:8080].
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The service with the settings of this folder, as `serve` reads them: `http.bind`, over TLS if it has a certificate.
    #[arg(long, conflicts_with_all = ["address", "url"])]
    settings: bool,
    /// Read this file of settings instead of `working-memory.toml`.
    #[arg(
        long,
        value_name = "FILE",
        env = "WORKING_MEMORY_CONFIG",
        requires = "settings"
    )]
    config: Option<PathBuf>,
    /// The path to request.
    #[arg(long, default_value = "/readyz")]
    path: String,
    /// Seconds to wait for the answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 3, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=86_400))]
    timeout: u32,
    /// Print the status as JSON.
    #[arg(long)]
    json: bool,
}

impl Health {
    /// Exits with 0 if the service answers 200, otherwise with 1 and an error message.
    pub(super) async fn run(self) -> ExitCode {
        finish(self.check().await)
    }

    async fn check(&self) -> Result<(), Failure> {
        let url = self.target()?;
        let asked = async {
            match url.scheme() {
                "https" => self.ask_over_tls(&url).await,
                _ => ask(&url).await,
            }
        };
        let message = match timeout(Duration::from_secs(self.timeout.into()), asked).await {
            Ok(Ok(line)) => line,
            Ok(Err(error)) => error,
            Err(_) => format!("no answer within {} s", self.timeout),
        };
        let is_well = message.split(' ').nth(1) == Some("200");
        if self.json {
            let body = json!({ "healthy": is_well, "url": url.as_str(), "answer": message });
            Output::new().text(&body.to_string()).end().write()?;
        }
        if is_well {
            Ok(())
        } else {
            Err(Failure::failed(format!("{url}: {message}")))
        }
    }

    /// The URL to request: `--address`, that of the settings, or the service of `--url`, the environment or the default.
    fn target(&self) -> Result<Url, Failure> {
        let base = match &self.address {
            None if self.settings => self.configured()?,
            Some(address) => Url::parse(&format!("http://{address}")).map_err(|error| {
                Failure::usage(format!("--address {address}: {error}; it must be HOST:PORT"))
            })?,
            None => base_url(self.url.as_deref())?,
        };
        let whole = format!(
            "{}/{}",
            base.as_str().trim_end_matches('/'),
            self.path.trim_start_matches('/')
        );
        Url::parse(&whole).map_err(|error| Failure::usage(format!("--path {}: {error}", self.path)))
    }

    /// The URL at which the service of these settings is reached from its own machine.
    fn configured(&self) -> Result<Url, Failure> {
        let http = load_config(self.config.as_deref())
            .map_err(|error| Failure::usage(error.to_string()))?
            .http;
        let mut bind = http.bind;
        if bind.ip().is_unspecified() {
            bind.set_ip(match bind.ip() {
                IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        let scheme = if http.tls.certificate.is_some() {
            "https"
        } else {
            "http"
        };
        Url::parse(&format!("{scheme}://{bind}"))
            .map_err(|error| Failure::usage(format!("http.bind {bind}: {error}")))
    }

    /// Like [`ask`], through TLS. The certificate of the configured service is issued for its public name, not for
    /// the address used here, so it is not verified then; no secret is sent.
    async fn ask_over_tls(&self, url: &Url) -> Result<String, String> {
        let client = match self.settings {
            true => unverified_client(),
            false => super::client::http_client(url).map_err(|failure| failure.sentence),
        }?;
        let answer = client
            .get(url.clone())
            .send()
            .await
            .map_err(|error| error.to_string())?;
        Ok(format!("HTTPS {}", answer.status()))
    }
}

/// Sends one HTTP/1.0 request and returns the status line of the response.
async fn ask(url: &Url) -> Result<String, String> {
    let message = |error: io::Error| error.to_string();
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(80);
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let mut stream = TcpStream::connect((bare, port)).await.map_err(message)?;
    let request = format!(
        "GET {} HTTP/1.0\r\nHost: {host}:{port}\r\n\r\n",
        &url[url::Position::BeforePath..url::Position::AfterQuery]
    );
    stream.write_all(request.as_bytes()).await.map_err(message)?;
    let mut line = String::new();
    BufReader::new(stream.take(1024))
        .read_line(&mut line)
        .await
        .map_err(message)?;
    Ok(line.trim_end().to_owned())
}

/// A client that accepts any certificate.
fn unverified_client() -> Result<reqwest::Client, String> {
    // No other code in this process installs a provider before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .tls_danger_accept_invalid_certs(true)
        .build()
        .map_err(|error| error.to_string())
}
