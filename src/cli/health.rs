//! `working-memory health`: checks a running service, for health checks of containers, whose images
//! contain no other HTTP client.

use super::client::{Exit, Failure, Output, base_url, client_builder, finish, innermost};
use super::process::load_config;
use clap::Args;
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
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
    /// Exits with 0 if the service answers 200, with 3 if none answers at the address, with 7 if not in time, and
    /// otherwise with 1.
    pub(super) async fn run(self) -> ExitCode {
        finish(self.check().await)
    }

    async fn check(&self) -> Result<(), Failure> {
        let url = self.target()?;
        let (answer, failed) = match self.client(&url)?.get(url.clone()).send().await {
            Ok(answer) => {
                let failed = (answer.status() != 200).then_some(Exit::Failed);
                (format!("HTTP {}", answer.status()), failed)
            }
            Err(error) if error.is_timeout() => {
                (format!("no answer within {} s", self.timeout), Some(Exit::Busy))
            }
            Err(error) if error.is_connect() => (innermost(&error), Some(Exit::NoService)),
            Err(error) => (innermost(&error), Some(Exit::Failed)),
        };
        if self.json {
            let body = json!({ "healthy": failed.is_none(), "url": url.as_str(), "answer": answer });
            Output::new().text(&body.to_string()).end().write()?;
        }
        match failed {
            None => Ok(()),
            Some(exit) => Err(Failure::new(exit, format!("{url}: {answer}"))),
        }
    }

    /// The certificate of the configured service is issued for its public name, not for the address used here, so it is
    /// not verified with `--settings`; no secret is sent.
    fn client(&self, url: &Url) -> Result<reqwest::Client, Failure> {
        let builder = client_builder(url).timeout(Duration::from_secs(self.timeout.into()));
        let builder = match self.settings {
            true => builder.no_proxy().tls_danger_accept_invalid_certs(true),
            false => builder,
        };
        let unusable = |error| Failure::failed(format!("cannot connect to {url}: {}", innermost(&error)));
        builder.build().map_err(unusable)
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
}
