//! `working-memory show`: prints the handoff with its current freshness. `working-memory status`: prints the age of the local
//! copy, and whether it is stale. Both ask the service first, with a short timeout. `working-memory path`: prints the path of
//! the copy.

use super::copy::{Copy, NoCopy, Workspace, reasons};
use crate::cli::client::{
    Exit, Failure, Look, MemoryArgs, MemoryRef, Method, Output, Service, ServiceArgs, ago, note, text, when,
};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::document::written_time;
use crate::domain::handoff::REFRESH_ROUTE;
use crate::domain::text::single_blanks;
use chrono::{DateTime, Utc};
use clap::Args;
use serde_json::{Value, json};
use std::time::Duration;

/// The timeout of the request, unless `--timeout` is given.
const ANSWER_TIME: Duration = Duration::from_millis(300);

/// For a memory that does not exist: a refresh would be refused.
const WRITE_FIRST: &str = "write the memory with `working-memory put`, `update` or `operations`, then run \
                                      `working-memory refresh`";

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
    /// The name of the source in JSON.
    fn name(&self) -> &'static str {
        match self {
            Self::Local(_) => "local",
            _ => "service",
        }
    }

    /// Why the service did not answer, if it did not.
    fn unchecked_because(&self) -> Option<&str> {
        match self {
            Self::Local(why) => Some(why),
            _ => None,
        }
    }

    /// What to do about a copy that is stale.
    fn advice(&self) -> &'static str {
        match self {
            Self::NoMemory => WRITE_FIRST,
            _ => "run `working-memory refresh`",
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
        let mut reasons = reasons(live);
        if reasons.is_empty() && live["status"] != "fresh" {
            reasons.push(format!("the service calls it {}", text(live, "status")));
        }
        reasons
    }
}

impl LiveArgs {
    /// Requests the service's newest handoff.
    ///
    /// # Errors
    /// The options, the environment or a file name no service or memory.
    async fn handoff(&self) -> Result<Checked, Failure> {
        Ok(match self.ask(&["handoff"]).await? {
            // It may be the handoff that does not exist.
            Checked::NoMemory => match self.status().await? {
                Checked::NoMemory => Checked::NoMemory,
                _ => Checked::NoHandoff,
            },
            checked => checked,
        })
    }

    /// Requests its freshness.
    ///
    /// # Errors
    /// As [`LiveArgs::handoff`].
    async fn status(&self) -> Result<Checked, Failure> {
        Ok(match self.ask(&["handoff", "status"]).await? {
            Checked::Service(status) if status["handoff_id"].is_null() => Checked::NoHandoff,
            checked => checked,
        })
    }

    /// Requests what `set-status` wrote; `None` if the service does not answer, or there is no such memory.
    ///
    /// # Errors
    /// As [`LiveArgs::handoff`].
    async fn aim(&self) -> Result<Option<Value>, Failure> {
        Ok(match self.ask(&["window"]).await? {
            Checked::Service(mut window) => Some(window["status"].take()),
            _ => None,
        })
    }

    /// A 404 is that of the memory, unless the route knows better.
    async fn ask(&self, below: &[&str]) -> Result<Checked, Failure> {
        if self.offline {
            return Ok(Checked::Local("--offline".to_owned()));
        }
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        let answered = service.of_memory(Method::GET, below)?.send_once().await;
        Ok(match answered.and_then(|answer| answer.json()) {
            Ok(answer) => Checked::Service(answer),
            Err(failure) if failure.exit == Exit::NotFound => Checked::NoMemory,
            Err(failure) => Checked::Local(failure.sentence),
        })
    }
}

/// The local copy as it was found, and what the service says about it.
struct Found {
    workspace: Workspace,
    copy: Result<Copy, NoCopy>,
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
        match self.reasons.is_empty() {
            true => "fresh",
            false => "stale",
        }
    }

    /// The members of the copy in JSON.
    fn members(&self, copy: &Copy) -> Value {
        let mut body = copy.local.clone();
        for name in ["sha256", "bytes", "freshness"] {
            body.as_object_mut().and_then(|members| members.remove(name));
        }
        body["age_seconds"] = copy.age(self.now).num_seconds().max(0).into();
        body["path"] = copy.path.to_string_lossy().into();
        body
    }

    /// Succeeds if there is a copy that is fresh.
    fn end(self) -> Result<(), Failure> {
        let MemoryRef { vault, memory } = &self.workspace.memory_ref;
        match (self.copy, &self.checked) {
            (Err(_), Checked::NoMemory) => Err(Failure::not_found(format!(
                "memory {memory} of vault {vault} has not been written yet, or was deleted; {WRITE_FIRST}"
            ))),
            (Err(none), _) => Err(self.workspace.failure(none)),
            (Ok(_), checked) => fresh(self.reasons.is_empty(), checked),
        }
    }
}

/// The failure of a handoff that is not fresh.
fn fresh(is_fresh: bool, checked: &Checked) -> Result<(), Failure> {
    match is_fresh {
        true => Ok(()),
        false => Err(Failure::new(
            Exit::Stale,
            format!("the handoff is stale; {}", checked.advice()),
        )),
    }
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
        let workspace = Workspace::of(self.live.service.memory_ref()?)?;
        let is_json = self.live.service.is_json();
        let mut out = Output::new();
        match self.live.handoff().await? {
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
                fresh(is_fresh, &Checked::NoHandoff)
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
            let mut body = self.members(copy);
            body["checked"] = self.checked.name().into();
            body["unchecked_because"] = self.checked.unchecked_because().into();
            body["freshness"] = json!({ "status": self.status(), "reasons": reasons });
            body["markdown"] = copy.markdown.as_str().into();
            out.text(&body.to_string()).end();
            return;
        }
        out.text(&format!(
            "> Local copy, refreshed {} ({}), of version {}",
            ago(copy.age(self.now)),
            written_time(copy.time("refreshed_at")),
            copy.local["base_version"],
        ));
        if let Some(why) = self.checked.unchecked_because() {
            out.text("; not checked: ").text(&single_blanks(why));
        }
        out.text(".");
        if !reasons.is_empty() {
            let reasons = single_blanks(&reasons.join("; "));
            out.text(&format!(" Stale ({reasons}): {}.", self.checked.advice()));
        }
        out.text("\n\n").whole_lines(&copy.markdown);
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
        let workspace = Workspace::of(self.live.service.memory_ref()?)?;
        let checked = self.live.status().await?;
        let aim = match &checked {
            Checked::Service(_) | Checked::NoHandoff => self.live.aim().await?,
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
            Err(NoCopy::Missing) => json!({"status": "missing", "reasons": []}),
            Err(NoCopy::Damaged(what)) => json!({"status": "damaged", "reasons": [what]}),
            Ok(copy) => {
                let mut body = self.members(copy);
                body["status"] = self.status().into();
                body["reasons"] = json!(self.reasons);
                body
            }
        };
        body["checked"] = self.checked.name().into();
        if let Some(why) = self.checked.unchecked_because() {
            body["unchecked_because"] = why.into();
        }
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
        // What `set-status` wrote.
        for name in aim.map_or(&[][..], |_| &["goal", "blocker", "updated"]) {
            let shown = match aim.and_then(|aim| aim[*name].as_str()) {
                None => "none".to_owned(),
                Some(time) if *name == "updated" => when(time),
                Some(text) => text.to_owned(),
            };
            line(name, &shown);
        }
        let Ok(copy) = &self.copy else { return };
        let of = |name: &str| text(&copy.local, name);
        line("memory", &format!("{}/{}", of("vault_id"), of("memory_id")));
        match self.reasons.is_empty() {
            true => line("status", "fresh"),
            false => line("status", &format!("stale: {}", self.checked.advice())),
        }
        for reason in &self.reasons {
            line("", reason);
        }
        let by = match self.checked.unchecked_because() {
            None => "by the service, just now".to_owned(),
            Some(why) => format!("by the local copy only: {why}"),
        };
        line("checked", &by);
        let (age, refreshed) = (ago(copy.age(self.now)), written_time(copy.time("refreshed_at")));
        line("refreshed", &format!("{age} ({refreshed}) from {}", of("url")));
        let (version, window) = (&copy.local["base_version"], of("window"));
        let handoff = format!("{} of version {version}, window {window}", of("handoff_id"));
        line("handoff", &handoff);
        line("file", &copy.path.display().to_string());
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
        let copy = workspace.read().map_err(|none| workspace.failure(none))?;
        let path = copy.path.to_string_lossy();
        if self.json {
            let body = json!({ "path": path, "refreshed_at": copy.local["refreshed_at"] });
            return Output::new().text(&body.to_string()).end().write();
        }
        Output::new().text(&path).end().write()?;
        note(&format!("refreshed {}", ago(copy.age(SystemClock.now()))));
        Ok(())
    }
}
