//! The handoff on this machine: `refresh` updates a local copy, `path` prints its path, and `show` and `status` call the
//! service with a short timeout and use the copy if it does not answer.
//!
//! Under the home folder (`~/.working-memory`, or `$WORKING_MEMORY_HOME`) each refresh has a folder of its own, and
//! the last valid one is copied to a fixed path:
//!
//! ```text
//! workspace/2026/11/21/working-memory-20261121T105500Z-<handoff id>/WORKING_MEMORY.md
//!                                                                   WORKING_MEMORY.manifest.json
//! workspace/current/<vault>/<memory>/WORKING_MEMORY.md
//!                                    WORKING_MEMORY.manifest.json
//! ```

mod copy;
mod git;

use self::copy::{Copy, Workspace, reasons};
use super::client::{
    Exit, Failure, Look, MemoryArgs, MemoryRef, Method, Output, Service, ServiceArgs, ago, note, text, when,
};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::document::written_time;
use crate::domain::handoff::{REFRESH_ROUTE, Window};
use crate::domain::text::single_blanks;
use chrono::{DateTime, Utc};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// The home folder of this process: `$WORKING_MEMORY_HOME`, or `~/.working-memory`.
///
/// # Errors
/// The environment names neither.
pub(super) fn home() -> Result<PathBuf, Failure> {
    let folder = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let home = folder("WORKING_MEMORY_HOME")
        .or_else(|| folder("HOME").map(|home| home.join(".working-memory")))
        .ok_or_else(|| Failure::usage("set WORKING_MEMORY_HOME: the environment names no home folder"))?;
    std::path::absolute(&home)
        .map_err(|error| Failure::usage(format!("WORKING_MEMORY_HOME {}: {error}", home.display())))
}

/// The timeout of the request, unless `--timeout` is given.
const ANSWER_TIME: Duration = Duration::from_millis(300);

/// What to do about a handoff that is stale.
const REFRESH: &str = "run `working-memory refresh`";

/// For a memory that does not exist: a refresh would be refused.
const WRITE_FIRST: &str = "write the memory with `working-memory put`, `update` or `operations`, then run \
                                      `working-memory refresh`";

/// What the service has no longer may have been taken out of it: redacted or deleted.
const GONE: &str = " Its text is not shown, because the service has it no longer; --offline shows it.";

/// Options of commands that can work without the service.
#[derive(Debug, Args)]
struct LiveArgs {
    /// Use only the local copy; without this the service is asked first, for at most 300 ms (or --timeout).
    #[arg(long)]
    offline: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

/// The source of the answer.
#[derive(Debug)]
enum Checked {
    /// The service, with its response.
    Service(Value),
    /// The service, which has no handoff of the memory.
    NoHandoff,
    /// The service, which has no such memory: it was deleted, or never written.
    NoMemory,
    /// Only the copy on this machine, and why.
    Local(String),
}

impl Checked {
    /// What to do about a copy that is stale.
    fn advice(&self) -> &'static str {
        match self {
            Self::NoMemory => WRITE_FIRST,
            _ => REFRESH,
        }
    }

    /// The reasons why a copy is stale: the service's if it answered, otherwise those of the copy.
    fn reasons(&self, copy: &Copy, now: DateTime<Utc>) -> Vec<String> {
        let live = match self {
            Self::Local(_) => return copy.stale(now),
            Self::NoHandoff => return vec!["the service has no handoff of this memory".to_owned()],
            Self::NoMemory => return vec!["the service has no such memory".to_owned()],
            Self::Service(live) => live,
        };
        if live["handoff_id"] != copy.local["handoff_id"] {
            let made = live["generated_at"].as_str();
            let made = made.map_or_else(String::new, |time| format!(", made at {time}"));
            return vec![format!("the service has another handoff{made}")];
        }
        reasons(live)
    }
}

impl LiveArgs {
    /// Requests the service's newest handoff, or only its freshness.
    ///
    /// # Errors
    /// The options, the environment or a file name no service or memory; the service refuses the request.
    async fn check(&self, below: &[&str]) -> Result<Checked, Failure> {
        Ok(match self.ask(below).await? {
            Ok(handoff) if handoff["handoff_id"].is_null() => Checked::NoHandoff,
            Ok(handoff) => Checked::Service(handoff),
            Err(failure) if failure.exit == Exit::NotFound => match failure.problem {
                Some(problem) if problem["freshness"] == "missing" => Checked::NoHandoff,
                _ => Checked::NoMemory,
            },
            // What the service refuses it does not confirm: a key may have been revoked.
            Err(failure) if failure.exit == Exit::NotAllowed => return Err(failure),
            Err(failure) => Checked::Local(failure.sentence),
        })
    }

    /// An object that the service sends, or why there is none.
    ///
    /// # Errors
    /// As [`LiveArgs::check`].
    async fn ask(&self, below: &[&str]) -> Result<Result<Value, Failure>, Failure> {
        if self.offline {
            return Ok(Err(Failure::failed("--offline")));
        }
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        let answered = service.of_memory(Method::GET, below)?.send_once().await;
        Ok(answered.and_then(|answer| answer.json()).map(Value::Object))
    }
}

/// The local copy as it was found, and what the service says about it.
struct Found {
    workspace: Workspace,
    copy: Result<Copy, Failure>,
    checked: Checked,
    /// Why the copy is stale; empty if it is fresh.
    reasons: Vec<String>,
    now: DateTime<Utc>,
}

impl Found {
    fn of(workspace: Workspace, checked: Checked) -> Self {
        let (copy, now) = (workspace.read(), SystemClock.now());
        let reasons = copy
            .as_ref()
            .map_or_else(|_| Vec::new(), |copy| checked.reasons(copy, now));
        Self {
            workspace,
            copy,
            checked,
            reasons,
            now,
        }
    }

    fn status(&self) -> &'static str {
        if self.reasons.is_empty() { "fresh" } else { "stale" }
    }

    /// Succeeds if there is a copy that is fresh.
    fn end(self) -> Result<(), Failure> {
        let MemoryRef { vault, memory } = &self.workspace.memory_ref;
        match (self.copy, &self.checked) {
            (Err(_), Checked::NoMemory) => Err(Failure::not_found(format!(
                "memory {memory} of vault {vault} has not been written yet, or was deleted; {WRITE_FIRST}"
            ))),
            (Err(failure), _) => Err(failure),
            (Ok(_), checked) => fresh(self.reasons.is_empty(), checked.advice()),
        }
    }
}

/// The failure of a handoff that is not fresh, with what to do about it.
fn fresh(is_fresh: bool, advice: &str) -> Result<(), Failure> {
    let stale = || Failure::new(Exit::Stale, format!("the handoff is stale; {advice}"));
    is_fresh.then_some(()).ok_or_else(stale)
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    live: LiveArgs,
}

impl Show {
    /// Prints the service's newest handoff below its live preface; without the service the local copy below a quoted line
    /// with its age and the reason why it was not checked. Succeeds only if the handoff is fresh.
    pub(in crate::cli) async fn run(self) -> Result<(), Failure> {
        let workspace = Workspace::of(self.live.service.memory_ref.memory_ref()?)?;
        let is_json = self.live.service.is_json();
        let mut out = Output::new();
        match self.live.check(&["handoff"]).await? {
            Checked::Service(mut live) => {
                let is_fresh = live["freshness"]["status"] == "fresh";
                if is_json {
                    live["checked"] = "service".into();
                    out.text(&live.to_string()).end();
                } else {
                    let preface = text(&live, "preface").replace(REFRESH_ROUTE, "`working-memory refresh`");
                    out.text(&preface).whole_lines(&text(&live, "markdown"));
                }
                out.write()?;
                fresh(is_fresh, REFRESH)
            }
            checked => {
                let found = Found::of(workspace, checked);
                if let Ok(copy) = &found.copy {
                    found.show(&mut out, copy, is_json);
                    out.write()?;
                }
                found.end()
            }
        }
    }
}

impl Found {
    /// The copy is stale for the same reasons as `status` gives.
    fn show(&self, out: &mut Output, copy: &Copy, is_json: bool) {
        let reasons = &self.reasons;
        if is_json {
            let mut body = self.json(None);
            body["freshness"] = json!({ "status": self.status(), "reasons": reasons });
            let is_shown = matches!(self.checked, Checked::Local(_));
            body["markdown"] = is_shown.then_some(copy.markdown.as_str()).into();
            out.text(&body.to_string()).end();
            return;
        }
        out.text(&format!(
            "> Local copy, refreshed {} ({}) from {}, of version {}",
            ago(copy.age(self.now)),
            written_time(copy.time("refreshed_at")),
            text(&copy.local, "url"),
            copy.local["base_version"],
        ));
        if let Checked::Local(why) = &self.checked {
            out.text("; not checked: ").text(&single_blanks(why));
        }
        out.text(".");
        if !reasons.is_empty() {
            let reasons = single_blanks(&reasons.join("; "));
            out.text(&format!(" Stale ({reasons}): {}.", self.checked.advice()));
        }
        match self.checked {
            Checked::Local(_) => out.text("\n\n").whole_lines(&copy.markdown),
            _ => out.text(GONE).end(),
        };
    }
}

/// Arguments of `status`. With --json `status` is `fresh`, `stale`, `missing` or `damaged`.
#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    live: LiveArgs,
}

impl Status {
    /// Succeeds if the copy is fresh.
    pub(in crate::cli) async fn run(self) -> Result<(), Failure> {
        let workspace = Workspace::of(self.live.service.memory_ref.memory_ref()?)?;
        let checked = self.live.check(&["handoff", "status"]).await?;
        // What `set-status` wrote, unless there is no such memory, or the service does not answer.
        let aim = match &checked {
            Checked::Service(_) | Checked::NoHandoff => {
                let window = self.live.ask(&["window"]).await?.ok();
                window.map(|mut window| window["status"].take())
            }
            Checked::NoMemory | Checked::Local(_) => None,
        };
        let found = Found::of(workspace, checked);
        let mut out = Output::new();
        if self.live.service.is_json() {
            out.text(&format!("{:#}", found.json(aim.as_ref()))).end();
        } else {
            found.print(&mut out, aim.as_ref());
        }
        out.write()?;
        found.end()
    }
}

impl Found {
    fn json(&self, aim: Option<&Value>) -> Value {
        let mut body = match &self.copy {
            Err(none) if none.exit == Exit::NotFound => json!({"status": "missing", "reasons": []}),
            Err(damaged) => json!({"status": "damaged", "reasons": [damaged.sentence]}),
            Ok(copy) => {
                let mut body = copy.handoff();
                body["age_seconds"] = copy.age(self.now).num_seconds().max(0).into();
                body["path"] = self.workspace.markdown().to_string_lossy().into();
                body["status"] = self.status().into();
                body["reasons"] = json!(self.reasons);
                body
            }
        };
        (body["checked"], body["unchecked_because"]) = match &self.checked {
            Checked::Local(why) => ("local".into(), why.as_str().into()),
            _ => ("service".into(), Value::Null),
        };
        if let Some(aim) = aim {
            body["goal"] = aim["goal"].clone();
            body["blocker"] = aim["blocker"].clone();
        }
        let MemoryRef { vault, memory } = &self.workspace.memory_ref;
        body["vault_id"] = vault.as_str().into();
        body["memory_id"] = memory.as_str().into();
        body
    }

    fn print(&self, out: &mut Output, aim: Option<&Value>) {
        let mut line = |name: &str, value: &str| {
            out.styled(Look::Dim, &format!("{name:<10}")).text(value).end();
        };
        if let Some(aim) = aim {
            let shown = |name: &str| aim[name].as_str().unwrap_or("none");
            line("goal", shown("goal"));
            line("blocker", shown("blocker"));
            line("updated", &when(shown("updated")));
        }
        let Ok(copy) = &self.copy else { return };
        let of = |name: &str| text(&copy.local, name);
        line("memory", &format!("{}/{}", of("vault_id"), of("memory_id")));
        match self.status() {
            "stale" => line("status", &format!("stale: {}", self.checked.advice())),
            fresh => line("status", fresh),
        }
        for reason in &self.reasons {
            line("", reason);
        }
        let by = match &self.checked {
            Checked::Local(why) => format!("by the local copy only: {why}"),
            _ => "by the service, just now".to_owned(),
        };
        line("checked", &by);
        let (age, refreshed) = (ago(copy.age(self.now)), written_time(copy.time("refreshed_at")));
        line("refreshed", &format!("{age} ({refreshed}) from {}", of("url")));
        let (version, window) = (&copy.local["base_version"], of("window"));
        let handoff = format!("{} of version {version}, window {window}", of("handoff_id"));
        line("handoff", &handoff);
        line("file", &self.workspace.markdown().display().to_string());
    }
}

/// Arguments of `path`.
#[derive(Debug, Args)]
pub struct Path {
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    memory_ref: MemoryArgs,
}

impl Path {
    /// Prints the path on standard output, for `cat "$(working-memory path)"`, and its age on standard error.
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let workspace = Workspace::of(self.memory_ref.memory_ref()?)?;
        let copy = workspace.read()?;
        let path = workspace.markdown();
        let path = path.to_string_lossy();
        if self.json {
            let body = json!({ "path": path, "refreshed_at": copy.local["refreshed_at"] });
            return Output::new().text(&body.to_string()).end().write();
        }
        Output::new().text(&path).end().write()?;
        note(&format!("refreshed {}", ago(copy.age(SystemClock.now()))));
        Ok(())
    }
}

/// A model may write the handoff, which takes time.
const REFRESH_TIME: Duration = Duration::from_secs(600);

/// Arguments of `refresh`.
#[derive(Debug, Args)]
pub struct Refresh {
    /// Make a new one also if it is fresh.
    #[arg(long)]
    force: bool,
    /// The window, such as 6h, 90m or 2d; the service's `handoff.window` without it.
    #[arg(long, value_name = "TIME")]
    window: Option<Window>,
    /// Do not send the git branch and the changed files of this folder.
    #[arg(long)]
    no_workspace: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Refresh {
    pub(in crate::cli) async fn run(self) -> Result<(), Failure> {
        let service = Service::with_timeout(&self.service, REFRESH_TIME)?;
        let workspace = Workspace::of(service.memory_ref()?)?;
        let workspace_now = match self.no_workspace {
            true => None,
            false => git::workspace().await,
        };
        let request = workspace_now.map_or_else(|| json!({}), |workspace| json!({ "workspace": workspace }));
        let answer = service
            .of_memory(Method::POST, &["handoff", "refresh"])?
            .maybe("force", self.force.then_some(true))
            .maybe("window", self.window)
            .json(&request)
            .send()
            .await?;
        let body: Value = answer.json()?;
        let url = service.connection.url.as_str();
        let written = workspace.write(&body, url, SystemClock.now())?;
        if self.service.is_json() {
            return answer.print_json();
        }
        let done = match written {
            false => "fresh, nothing to do",
            true if body["refreshed"] == true => "refreshed",
            true => "fresh, copied",
        };
        let path = workspace.markdown().display().to_string();
        Output::new().text(done).text(": ").text(&path).end().write()
    }
}
