//! `working-memory doctor`: reports what is configured, whether it is reachable, which updater is active, and what is
//! insecure. `working-memory health`: asks a service whether it is ready.

use crate::cli::client::{
    Exit, Failure, KeySource, Look, Method, Output, Service, ServiceArgs, base_url, client_builder,
    innermost, is_loopback,
};
use crate::cli::run::load_config;
use crate::config::Config;
use crate::llm::Models;
use clap::Args;
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// Timeout of a request to the service.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// Arguments of `doctor`. Exits with 0 if everything works, also with warnings; with 1 if something does not.
#[derive(Debug, Args)]
pub struct Doctor {
    /// The service's configuration file; it determines the active updater if the service runs in this folder.
    #[arg(long, value_name = "FILE", env = "WORKING_MEMORY_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    service: ServiceArgs,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Good,
    Warning,
    Bad,
}

impl Mark {
    fn name(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Warning => "warning",
            Self::Bad => "bad",
        }
    }
}

/// The findings, in order.
#[derive(Debug, Default)]
struct Findings(Vec<(Mark, &'static str, String)>);

impl Findings {
    fn add(&mut self, mark: Mark, about: &'static str, what: impl Into<String>) {
        self.0.push((mark, about, what.into()));
    }
}

impl Doctor {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let mut findings = Findings::default();
        // A wrong setting is a finding of this command, not a failure of it.
        match Service::with_timeout(&self.service, ANSWER_TIME) {
            Ok(service) => {
                configured(&service, &mut findings);
                reached(&service, &mut findings).await;
            }
            Err(failure) => findings.add(Mark::Bad, "command line", failure.sentence),
        }
        of_service(self.config.as_deref(), &mut findings);
        self.print(&findings)?;
        match findings.0.iter().filter(|(mark, ..)| *mark == Mark::Bad).count() {
            0 => Ok(()),
            1 => Err(Failure::failed("one thing does not work")),
            count => Err(Failure::failed(format!("{count} things do not work"))),
        }
    }

    fn print(&self, findings: &Findings) -> Result<(), Failure> {
        let mut out = Output::new();
        if self.service.is_json() {
            let findings = findings.0.iter();
            let list: Vec<Value> = findings
                .map(|(mark, about, what)| json!({"status": mark.name(), "about": about, "detail": what}))
                .collect();
            return out.text(&json!({ "findings": list }).to_string()).end().write();
        }
        for (mark, about, what) in &findings.0 {
            let look = match mark {
                Mark::Good => Look::Added,
                Mark::Warning => Look::Id,
                Mark::Bad => Look::Removed,
            };
            out.styled(look, &format!("{:<8}", mark.name()))
                .styled(Look::Dim, &format!("{about:<13}"))
                .text(what)
                .end();
        }
        out.write()
    }
}

/// The settings that options, environment and `.working-memory.toml` result in.
fn configured(service: &Service, findings: &mut Findings) {
    let url = &service.url;
    findings.add(Mark::Good, "service", url.to_string());
    let connection = match service.connection() {
        Ok(connection) => connection,
        Err(failure) => return findings.add(Mark::Bad, "command line", failure.sentence),
    };
    match (&connection.vault, &connection.memory) {
        (Some(vault), Some(memory)) => {
            findings.add(Mark::Good, "memory", format!("{memory} of vault {vault}"))
        }
        (None, _) => findings.add(
            Mark::Warning,
            "memory",
            "no vault is named: `working-memory init`, WORKING_MEMORY_VAULT or --vault",
        ),
        (_, None) => findings.add(
            Mark::Warning,
            "memory",
            "no memory is named: `working-memory init`, WORKING_MEMORY_MEMORY or --memory",
        ),
    }
    let clear = url.scheme() == "http" && !is_loopback(url);
    match &connection.key {
        KeySource::None => findings.add(Mark::Good, "key", "none"),
        KeySource::Variable => findings.add(Mark::Good, "key", "in WORKING_MEMORY_API_KEY"),
        KeySource::File(path) | KeySource::Project(path) => {
            findings.add(Mark::Good, "key", format!("in {}", path.display()));
            if std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0) {
                findings.add(
                    Mark::Warning,
                    "key",
                    format!(
                        "others on this machine may read {0}: chmod 600 {0}",
                        path.display()
                    ),
                );
            }
        }
    }
    if clear && connection.key != KeySource::None {
        findings.add(
            Mark::Warning,
            "key",
            "it is sent unencrypted: the address is http:// and not on this machine",
        );
    } else if clear {
        findings.add(
            Mark::Warning,
            "service",
            "all content is sent unencrypted: the address is http:// and not on this machine",
        );
    }
}

/// What the service reports.
async fn reached(service: &Service, findings: &mut Findings) {
    let ready = match service.call(Method::GET, &["readyz"]) {
        Ok(call) => call.accept("text/plain").send().await,
        Err(failure) => Err(failure),
    };
    match ready {
        Ok(answer) => match answer.text() {
            Ok(text) if text.starts_with("ready") => {
                findings.add(
                    Mark::Good,
                    "reachable",
                    text.lines().collect::<Vec<_>>().join(", "),
                );
            }
            _ => {
                return findings.add(
                    Mark::Bad,
                    "reachable",
                    "the server at this address is not a working-memory service",
                );
            }
        },
        Err(failure) if failure.exit == Exit::NoService => {
            return findings.add(Mark::Bad, "reachable", failure.sentence);
        }
        Err(failure) => findings.add(Mark::Bad, "reachable", failure.sentence),
    }
    let has_key = service
        .connection()
        .is_ok_and(|connection| connection.key != KeySource::None);
    let vaults = match service.call(Method::GET, &["v1", "vaults"]) {
        Ok(call) => call.query("limit", "1").send().await,
        Err(failure) => Err(failure),
    };
    match vaults {
        Ok(_) if has_key => findings.add(Mark::Good, "access", "the service accepts the key, or requires none"),
        Ok(_) if is_loopback(&service.url) => findings.add(Mark::Good, "access", "the service requires no key"),
        Ok(_) => findings.add(
            Mark::Warning, "access",
            "the service requires no key, and is not on this machine: anyone who reaches it can read and write everything",
        ),
        Err(failure) => findings.add(Mark::Bad, "access", failure.sentence),
    }
    if let Ok((Some(_), Some(_))) = service.named()
        && let Ok(call) = service.of_memory(Method::GET, &[])
    {
        match call.send().await {
            Ok(answer) => {
                let version = answer
                    .json::<Value>()
                    .ok()
                    .and_then(|body| body["version"].as_i64());
                let found = match version {
                    Some(0) => "has prompt items and no document yet".to_owned(),
                    version => format!("has version {}", version.unwrap_or_default()),
                };
                findings.add(Mark::Good, "memory", found);
            }
            Err(failure) if failure.exit == Exit::NotFound => {
                findings.add(
                    Mark::Good,
                    "memory",
                    "does not exist yet; the first change creates it",
                );
            }
            Err(failure) => findings.add(Mark::Bad, "memory", failure.sentence),
        }
    }
}

/// The configuration of a service that is started in this folder.
fn of_service(file: Option<&Path>, findings: &mut Findings) {
    let config = match load_config(file) {
        Ok(config) => config,
        Err(error) => return findings.add(Mark::Bad, "serve here", error.to_string()),
    };
    match Models::from_config(&config.llm) {
        Ok(models) => findings.add(Mark::Good, "updater here", models.describe()),
        Err(error) => findings.add(Mark::Bad, "updater here", error.to_string()),
    }
    insecure(&config, findings);
}

fn insecure(config: &Config, findings: &mut Findings) {
    let http = &config.http;
    let is_local = http.bind.ip().is_loopback();
    if http.allow_open && http.require_keys != Some(true) {
        findings.add(
            Mark::Warning, "serve here",
            "http.allow_open: while there are no keys, anyone who reaches the service can read and write everything",
        );
    }
    if !is_local && http.tls.files().is_none() {
        findings.add(
            Mark::Warning,
            "serve here",
            format!(
                "http.bind is {}, which others can reach, without http.tls: a proxy has to encrypt",
                http.bind
            ),
        );
    }
}

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
    pub(super) async fn run(self) -> Result<(), Failure> {
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
            None => base_url(self.url.as_ref())?,
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
