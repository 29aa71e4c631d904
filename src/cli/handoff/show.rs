//! `working-memory show`: prints the handoff with its current freshness. `working-memory status`: prints the age of the local
//! copy, and whether it is stale according to the service.

use crate::cli::client::{Exit, Failure, Look, MemoryRef, Output, ServiceResponse, ago, when};
use crate::cli::handoff::copy::{Copy, NoCopy};
use crate::cli::handoff::home::Workspace;
use crate::cli::handoff::live::{Aim, Checked, LiveArgs, LiveStatus};
use crate::cli::handoff::manifest::Freshness;
use crate::clock::{Clock as _, SystemClock};
use crate::domain::document::written_time;
use crate::domain::handoff::REFRESH_ROUTE;
use crate::domain::text::single_blanks;
use chrono::{DateTime, Utc};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    live: LiveArgs,
}

/// The response of `GET M/handoff`, as far as it is shown.
#[derive(Debug, Deserialize)]
struct Live {
    freshness: Freshness,
    #[serde(default)]
    preface: String,
    markdown: String,
}

impl Show {
    /// Prints the service's newest handoff below its live preface; without the service the local copy below a quoted line
    /// with its age and the reason why it was not checked. Succeeds only if the handoff is fresh.
    pub(in crate::cli) async fn run(self) -> Result<(), Failure> {
        let (memory_ref, workspace) = (self.live.service.memory_ref()?, Workspace::of_process()?);
        let checked = match self.live.handoff().await? {
            Checked::Service(answer) => return self.show_live(&answer),
            Checked::NoHandoff => Checked::NoHandoff,
            Checked::NoMemory => Checked::NoMemory,
            Checked::Local(why) => Checked::Local(why),
        };
        let copy = Copy::read(&workspace, &memory_ref)
            .map_err(|none| checked.failure(none, &memory_ref, &workspace))?;
        self.show_copy(&copy, &checked, SystemClock.now())
    }

    fn show_live(&self, answer: &ServiceResponse) -> Result<(), Failure> {
        let live: Live = answer.json()?;
        let mut out = Output::new();
        if self.live.service.is_json() {
            let mut body: Value = answer.json()?;
            body["checked"] = "service".into();
            out.text(&body.to_string()).end();
        } else {
            let preface = live.preface.replace(REFRESH_ROUTE, "`working-memory refresh`");
            out.text(&preface).whole_lines(&live.markdown);
        }
        out.write()?;
        match live.freshness.status.as_str() {
            "fresh" => Ok(()),
            _ => Err(stale(&Checked::Service(()))),
        }
    }

    /// The copy is stale for the same reasons as `status` gives.
    fn show_copy(
        &self,
        copy: &Copy,
        checked: &Checked<LiveStatus>,
        now: DateTime<Utc>,
    ) -> Result<(), Failure> {
        let local = &copy.local;
        let reasons = copy.reasons(checked, now);
        let mut out = Output::new();
        if self.live.service.is_json() {
            let status = if reasons.is_empty() { "fresh" } else { "stale" };
            let body = json!({
                "checked": checked.name(),
                "unchecked_because": checked.unchecked_because(),
                "handoff_id": local.handoff_id,
                "vault_id": local.vault_id,
                "memory_id": local.memory_id,
                "generated_at": local.generated_at,
                "window": local.window,
                "base_version": local.base_version,
                "freshness": { "status": status, "reasons": reasons },
                "refreshed_at": local.refreshed_at,
                "markdown": copy.markdown,
            });
            out.text(&body.to_string()).end();
        } else {
            out.text(&format!(
                "> Local copy, refreshed {} ({}), of version {}",
                ago(copy.age(now)),
                written_time(local.refreshed_at),
                local.base_version,
            ));
            if let Some(why) = checked.unchecked_because() {
                out.text("; not checked: ").text(&single_blanks(why));
            }
            out.text(".");
            if !reasons.is_empty() {
                let reasons = single_blanks(&reasons.join("; "));
                out.text(&format!(" Stale ({reasons}): {}.", checked.advice()));
            }
            out.text("\n\n");
            out.whole_lines(&copy.markdown);
        }
        out.write()?;
        match reasons.is_empty() {
            true => Ok(()),
            false => Err(stale(checked)),
        }
    }
}

/// The failure of a stale handoff.
pub(super) fn stale<T>(checked: &Checked<T>) -> Failure {
    Failure::new(Exit::Stale, format!("the handoff is stale; {}", checked.advice()))
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
        let (memory_ref, workspace) = (self.live.service.memory_ref()?, Workspace::of_process()?);
        let copy = Copy::read(&workspace, &memory_ref);
        let now = SystemClock.now();
        let checked = self.live.status().await?;
        let aim = match &checked {
            Checked::Service(_) | Checked::NoHandoff => self.live.aim().await?,
            Checked::NoMemory | Checked::Local(_) => None,
        };
        let reasons = copy
            .as_ref()
            .map_or_else(|_| Vec::new(), |copy| copy.reasons(&checked, now));
        if self.live.service.is_json() {
            let body = as_json(&copy, &reasons, &checked, aim.as_ref(), &memory_ref, now);
            Output::new().text(&format!("{body:#}")).end().write()?;
        }
        if !self.live.service.is_json()
            && let Some(aim) = &aim
        {
            let mut out = Output::new();
            print_aim(&mut out, aim);
            out.write()?;
        }
        let copy = copy.map_err(|none| checked.failure(none, &memory_ref, &workspace))?;
        if !self.live.service.is_json() {
            let mut out = Output::new();
            print(&mut out, &copy, &reasons, &checked, now);
            out.write()?;
        }
        match reasons.is_empty() {
            true => Ok(()),
            false => Err(stale(&checked)),
        }
    }
}

/// What `set-status` wrote.
fn print_aim(out: &mut Output, aim: &Aim) {
    let none = || "none".to_owned();
    for (name, text) in [
        ("goal", aim.goal.clone().unwrap_or_else(none)),
        ("blocker", aim.blocker.clone().unwrap_or_else(none)),
        ("updated", aim.updated.as_deref().map_or_else(none, when)),
    ] {
        out.styled(Look::Dim, &format!("{name:<10}")).text(&text).end();
    }
}

fn print(
    out: &mut Output,
    copy: &Copy,
    reasons: &[String],
    checked: &Checked<LiveStatus>,
    now: DateTime<Utc>,
) {
    let local = &copy.local;
    let mut line = |name: &str, value: &str| {
        out.styled(Look::Dim, &format!("{name:<10}")).text(value).end();
    };
    line("memory", &format!("{}/{}", local.vault_id, local.memory_id));
    let status = match reasons.is_empty() {
        true => "fresh".to_owned(),
        false => format!("stale: {}", checked.advice()),
    };
    line("status", &status);
    for reason in reasons {
        line("", reason);
    }
    match checked {
        Checked::Service(_) | Checked::NoHandoff | Checked::NoMemory => {
            line("checked", "by the service, just now");
        }
        Checked::Local(why) => line("checked", &format!("by the local copy only: {why}")),
    }
    line(
        "refreshed",
        &format!(
            "{} ({}) from {}",
            ago(copy.age(now)),
            written_time(local.refreshed_at),
            local.url
        ),
    );
    line(
        "handoff",
        &format!(
            "{} of version {}, window {}",
            local.handoff_id, local.base_version, local.window
        ),
    );
    line("file", &copy.path.display().to_string());
}

fn as_json(
    copy: &Result<Copy, NoCopy>,
    reasons: &[String],
    checked: &Checked<LiveStatus>,
    aim: Option<&Aim>,
    memory_ref: &MemoryRef,
    now: DateTime<Utc>,
) -> Value {
    let mut body = match copy {
        Err(NoCopy::Missing) => json!({"status": "missing", "reasons": []}),
        Err(NoCopy::Damaged(what)) => json!({"status": "damaged", "reasons": [what]}),
        Ok(copy) => {
            let local = &copy.local;
            json!({
                "status": if reasons.is_empty() { "fresh" } else { "stale" },
                "reasons": reasons,
                "refreshed_at": local.refreshed_at,
                "age_seconds": copy.age(now).num_seconds().max(0),
                "generated_at": local.generated_at,
                "handoff_id": local.handoff_id,
                "base_version": local.base_version,
                "window": local.window,
                "url": local.url,
                "path": copy.path.to_string_lossy(),
            })
        }
    };
    body["checked"] = checked.name().into();
    if let Checked::Local(why) = checked {
        body["unchecked_because"] = why.as_str().into();
    }
    if let Some(aim) = aim {
        body["goal"] = json!(aim.goal);
        body["blocker"] = json!(aim.blocker);
    }
    body["vault_id"] = memory_ref.vault.as_str().into();
    body["memory_id"] = memory_ref.memory.as_str().into();
    body
}
