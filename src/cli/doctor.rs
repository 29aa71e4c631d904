//! `working-memory doctor`: reports what is configured, whether it is reachable, which updater is active, and what is
//! insecure. `working-memory health`: asks a service whether it is ready.

use crate::cli::client::{
    Call, Connection, Exit, Failure, KeySource, Look, MemoryRef, Method, Output, Service, ServiceArgs,
    base_url, built, client_builder, innermost, is_loopback,
};
use crate::cli::run::load_config;
use crate::llm::Models;
use clap::Args;
use serde::Serialize;
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
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    service: ServiceArgs,
}

/// One thing that works or does not.
#[derive(Debug, Serialize)]
struct Finding {
    status: &'static str,
    about: &'static str,
    detail: String,
}

/// How severe a finding is.
const OK: &str = "ok";
const WARNING: &str = "warning";
const BAD: &str = "bad";

/// The findings, in order.
#[derive(Debug, Default, Serialize)]
struct Findings {
    findings: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, status: &'static str, about: &'static str, detail: impl ToString) {
        self.findings.push(Finding {
            status,
            about,
            detail: detail.to_string(),
        });
    }

    /// Adds what works, or why it does not.
    fn add_result(&mut self, about: &'static str, found: Result<impl ToString, Failure>) {
        match found {
            Ok(detail) => self.add(OK, about, detail),
            Err(failure) => self.add(BAD, about, failure),
        }
    }
}

impl Doctor {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let mut found = Findings::default();
        // A wrong setting is a finding of this command, not a failure of it.
        match Service::with_timeout(&self.service, ANSWER_TIME) {
            Ok(service) => {
                configured(&service, &mut found);
                reached(&service, &mut found).await;
            }
            Err(failure) => found.add(BAD, "command line", failure),
        }
        of_service(self.config.as_deref(), &mut found);
        self.print(&found)?;
        match found.findings.iter().filter(|found| found.status == BAD).count() {
            0 => Ok(()),
            1 => Err(Failure::failed("one thing does not work")),
            count => Err(Failure::failed(format!("{count} things do not work"))),
        }
    }

    fn print(&self, found: &Findings) -> Result<(), Failure> {
        let mut out = Output::new();
        if self.service.is_json() {
            return out.text(&json!(found).to_string()).end().write();
        }
        for found in &found.findings {
            let look = match found.status {
                OK => Look::Added,
                WARNING => Look::Id,
                _ => Look::Removed,
            };
            out.styled(look, &format!("{:<8}", found.status))
                .styled(Look::Dim, &format!("{:<13}", found.about))
                .text(&found.detail)
                .end();
        }
        out.write()
    }
}

/// The settings that options, environment and `.working-memory.toml` result in.
fn configured(service: &Service, found: &mut Findings) {
    let Connection { url, key, .. } = &service.connection;
    found.add(OK, "service", url);
    match service.memory_ref() {
        Ok(MemoryRef { vault, memory }) => found.add(OK, "memory", format!("{memory} of vault {vault}")),
        Err(none) => found.add(WARNING, "memory", none),
    }
    match key {
        KeySource::None => found.add(OK, "key", "none"),
        KeySource::Variable => found.add(OK, "key", "in WORKING_MEMORY_API_KEY"),
        KeySource::File(path) => {
            let shown = path.display();
            found.add(OK, "key", format!("in {shown}"));
            if std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0) {
                let readable = format!("others on this machine may read {shown}: chmod 600 {shown}");
                found.add(WARNING, "key", readable);
            }
        }
    }
    if url.scheme() == "http" && !is_loopback(url) {
        let (about, what) = match key {
            KeySource::None => ("service", "all content"),
            _ => ("key", "it"),
        };
        let sent = "is sent unencrypted: the address is http:// and not on this machine";
        found.add(WARNING, about, format!("{what} {sent}"));
    }
}

/// What the service reports.
async fn reached(service: &Service, found: &mut Findings) {
    let connection = &service.connection;
    let ready = ready(service).await;
    let is_unreachable =
        matches!(&ready, Err(failure) if matches!(failure.exit, Exit::NoService | Exit::Usage));
    found.add_result("reachable", ready);
    if is_unreachable {
        return;
    }
    let vaults = service.call(Method::GET, &["v1", "vaults"]);
    match get(vaults.map(|call| call.query("limit", "1"))).await {
        Ok(_) if connection.key != KeySource::None => {
            found.add(OK, "access", "the service accepts the key, or requires none");
        }
        Ok(_) if is_loopback(&connection.url) => found.add(OK, "access", "the service requires no key"),
        Ok(_) => found.add(
            WARNING,
            "access",
            "the service requires no key, and is not on this machine: anyone who reaches it can read and write everything",
        ),
        Err(failure) => found.add(BAD, "access", failure),
    }
    if service.memory_ref().is_ok() {
        let memory = match get(service.of_memory(Method::GET, &[])).await {
            Err(failure) if failure.exit == Exit::NotFound => {
                Ok("does not exist yet; the first change creates it".to_owned())
            }
            head => head.map(|head| match head["version"].as_i64().unwrap_or_default() {
                0 => "has prompt items and no document yet".to_owned(),
                version => format!("has version {version}"),
            }),
        };
        found.add_result("memory", memory);
    }
}

async fn get(call: Result<Call<'_>, Failure>) -> Result<Value, Failure> {
    call?.send().await?.json()
}

/// What a service that is ready says; a usage error for a server that is something else.
async fn ready(service: &Service) -> Result<String, Failure> {
    let call = service.call(Method::GET, &["readyz"])?;
    let answer = call.accept("text/plain").send().await?;
    match answer.text() {
        Ok(text) if text.starts_with("ready") => Ok(text.lines().collect::<Vec<_>>().join(", ")),
        _ => Err(Failure::usage(
            "the server at this address is not a working-memory service",
        )),
    }
}

/// The configuration of a service that is started in this folder.
fn of_service(file: Option<&Path>, found: &mut Findings) {
    let config = match load_config(file) {
        Ok(config) => config,
        Err(error) => return found.add(BAD, "serve here", error),
    };
    match Models::from_config(&config.llm) {
        Ok(models) => found.add(OK, "updater here", models.describe()),
        Err(error) => found.add(BAD, "updater here", error),
    }
    let http = &config.http;
    if http.allow_open && http.require_keys != Some(true) {
        let open = "http.allow_open: while there are no keys, anyone who reaches the service can read and write everything";
        found.add(WARNING, "serve here", open);
    }
    if !http.bind.ip().is_loopback() && http.tls.files().is_none() {
        let bind = http.bind;
        let reached =
            format!("http.bind is {bind}, which others can reach, without http.tls: a proxy has to encrypt");
        found.add(WARNING, "serve here", reached);
    }
}

/// Arguments of `health`.
#[derive(Debug, Args)]
pub struct Health {
    /// Address of the service [env: WORKING_MEMORY_URL] [default: http://127.0.0.1:8080].
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The service with the settings of this folder, as `serve` reads them: `http.bind`, over TLS if it has a certificate.
    #[arg(long, conflicts_with = "url")]
    settings: bool,
    /// Read this file of settings instead of `working-memory.toml` [env: WORKING_MEMORY_CONFIG].
    #[arg(long, value_name = "FILE", requires = "settings")]
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
        built(builder, url)
    }

    /// The URL to request: that of the settings, or the service of `--url`, the environment or the default.
    fn target(&self) -> Result<Url, Failure> {
        let base = match self.settings {
            true => self.configured()?,
            false => base_url(self.url.as_ref())?,
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
        let has_tls = http.tls.certificate.is_some();
        let scheme = if has_tls { "https" } else { "http" };
        Url::parse(&format!("{scheme}://{bind}"))
            .map_err(|error| Failure::usage(format!("http.bind {bind}: {error}")))
    }
}
