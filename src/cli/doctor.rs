//! `working-memory doctor`: reports what is configured, whether it is reachable, which updater is active, and what is insecure.

use super::client::{Exit, Failure, KeySource, Look, Method, Output, Service, ServiceArgs, is_loopback};
use super::process::load_config;
use crate::config::Config;
use crate::llm::Models;
use clap::Args;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

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

/// The findings, in order.
#[derive(Debug, Default)]
struct Findings(Vec<(Mark, &'static str, String)>);

impl Findings {
    fn good(&mut self, about: &'static str, what: impl Into<String>) {
        self.0.push((Mark::Good, about, what.into()));
    }

    fn warn(&mut self, about: &'static str, what: impl Into<String>) {
        self.0.push((Mark::Warning, about, what.into()));
    }

    fn bad(&mut self, about: &'static str, what: impl Into<String>) {
        self.0.push((Mark::Bad, about, what.into()));
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
            Err(failure) => findings.bad("command line", failure.sentence),
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
        let name = |mark| match mark {
            Mark::Good => "ok",
            Mark::Warning => "warning",
            Mark::Bad => "bad",
        };
        if self.service.is_json() {
            let findings = findings.0.iter();
            let list: Vec<Value> = findings
                .map(|(mark, about, what)| json!({"status": name(*mark), "about": about, "detail": what}))
                .collect();
            return out.text(&json!({ "findings": list }).to_string()).end().write();
        }
        for (mark, about, what) in &findings.0 {
            let look = match mark {
                Mark::Good => Look::Added,
                Mark::Warning => Look::Id,
                Mark::Bad => Look::Removed,
            };
            out.styled(look, &format!("{:<8}", name(*mark)))
                .styled(Look::Dim, &format!("{about:<13}"))
                .text(what)
                .end();
        }
        out.write()
    }
}

/// The settings that options, environment and `.working-memory.toml` result in.
fn configured(service: &Service, findings: &mut Findings) {
    let url = service.url();
    findings.good("service", url.to_string());
    let connection = match service.connection() {
        Ok(connection) => connection,
        Err(failure) => return findings.bad("command line", failure.sentence),
    };
    match (&connection.vault, &connection.memory) {
        (Some(vault), Some(memory)) => findings.good("memory", format!("{memory} of vault {vault}")),
        (None, _) => findings.warn(
            "memory",
            "no vault is named: `working-memory init`, WORKING_MEMORY_VAULT or --vault",
        ),
        (_, None) => findings.warn(
            "memory",
            "no memory is named: `working-memory init`, WORKING_MEMORY_MEMORY or --memory",
        ),
    }
    let clear = url.scheme() == "http" && !is_loopback(url);
    match &connection.key {
        KeySource::None => findings.good("key", "none"),
        KeySource::Variable => findings.good("key", "in WORKING_MEMORY_API_KEY"),
        KeySource::File(path) | KeySource::Project(path) => {
            findings.good("key", format!("in {}", path.display()));
            if std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0) {
                findings.warn(
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
        findings.warn(
            "key",
            "it is sent unencrypted: the address is http:// and not on this machine",
        );
    } else if clear {
        findings.warn(
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
                findings.good("reachable", text.lines().collect::<Vec<_>>().join(", "));
            }
            _ => {
                return findings.bad(
                    "reachable",
                    "the server at this address is not a working-memory service",
                );
            }
        },
        Err(failure) if failure.exit == Exit::NoService => {
            return findings.bad("reachable", failure.sentence);
        }
        Err(failure) => findings.bad("reachable", failure.sentence),
    }
    let has_key = service
        .connection()
        .is_ok_and(|connection| connection.key != KeySource::None);
    let vaults = match service.call(Method::GET, &["v1", "vaults"]) {
        Ok(call) => call.query("limit", "1").send().await,
        Err(failure) => Err(failure),
    };
    match vaults {
        Ok(_) if has_key => findings.good("access", "the service accepts the key, or requires none"),
        Ok(_) if is_loopback(service.url()) => findings.good("access", "the service requires no key"),
        Ok(_) => findings.warn(
            "access",
            "the service requires no key, and is not on this machine: anyone who reaches it can read and write everything",
        ),
        Err(failure) => findings.bad("access", failure.sentence),
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
                findings.good("memory", found);
            }
            Err(failure) if failure.exit == Exit::NotFound => {
                findings.good("memory", "does not exist yet; the first change creates it");
            }
            Err(failure) => findings.bad("memory", failure.sentence),
        }
    }
}

/// The configuration of a service that is started in this folder.
fn of_service(file: Option<&Path>, findings: &mut Findings) {
    let config = match load_config(file) {
        Ok(config) => config,
        Err(error) => return findings.bad("serve here", error.to_string()),
    };
    match Models::from_config(&config.llm) {
        Ok(models) => findings.good("updater here", models.describe()),
        Err(error) => findings.bad("updater here", error.to_string()),
    }
    insecure(&config, findings);
}

fn insecure(config: &Config, findings: &mut Findings) {
    let http = &config.http;
    let is_local = http.bind.ip().is_loopback();
    if http.allow_open && http.require_keys != Some(true) {
        findings.warn(
            "serve here",
            "http.allow_open: while there are no keys, anyone who reaches the service can read and write everything",
        );
    }
    if !is_local && http.tls.files().is_none() {
        findings.warn(
            "serve here",
            format!(
                "http.bind is {}, which others can reach, without http.tls: a proxy has to encrypt",
                http.bind
            ),
        );
    }
}
