//! `working-memory show`: prints the handoff with its current freshness. `working-memory status`: prints the age of the local
//! copy, and whether it is stale according to the service.

use super::copy::{Copy, Handoff, Local, NoCopy, Workspace};
use super::live::{Checked, LiveArgs};
use crate::cli::client::{Exit, Failure, Look, Output, ago, text, when};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::document::written_time;
use crate::domain::handoff::REFRESH_ROUTE;
use crate::domain::text::single_blanks;
use chrono::{DateTime, Utc};
use clap::Args;
use serde_json::{Value, json};

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
        let (memory_ref, workspace) = (self.live.service.memory_ref()?, Workspace::of_process()?);
        let checked = self.live.handoff().await?;
        let mut out = Output::new();
        let is_fresh = match &checked {
            Checked::Service(live) => {
                self.show_live(&mut out, live.clone());
                live["freshness"]["status"] == "fresh"
            }
            checked => {
                let copy = workspace
                    .read(&memory_ref)
                    .map_err(|none| checked.failure(none, &memory_ref, &workspace))?;
                self.show_copy(&mut out, &copy, checked)
            }
        };
        out.write()?;
        fresh(is_fresh, &checked)
    }

    fn show_live(&self, out: &mut Output, mut live: Value) {
        if self.live.service.is_json() {
            live["checked"] = "service".into();
            out.text(&live.to_string()).end();
        } else {
            let preface = text(&live, "preface").replace(REFRESH_ROUTE, "`working-memory refresh`");
            out.text(&preface).whole_lines(&text(&live, "markdown"));
        }
    }

    /// The copy is stale for the same reasons as `status` gives. Returns whether it is fresh.
    fn show_copy(&self, out: &mut Output, copy: &Copy, checked: &Checked) -> bool {
        let now = SystemClock.now();
        let reasons = copy.reasons(checked, now);
        if self.live.service.is_json() {
            let mut body = members(copy, now);
            body["checked"] = checked.name().into();
            body["unchecked_because"] = checked.unchecked_because().into();
            body["freshness"] = json!({ "status": status(&reasons), "reasons": reasons });
            body["markdown"] = copy.markdown.as_str().into();
            out.text(&body.to_string()).end();
            return reasons.is_empty();
        }
        let local = &copy.local;
        out.text(&format!(
            "> Local copy, refreshed {} ({}), of version {}",
            ago(copy.age(now)),
            written_time(local.refreshed_at),
            local.handoff.base_version,
        ));
        if let Some(why) = checked.unchecked_because() {
            out.text("; not checked: ").text(&single_blanks(why));
        }
        out.text(".");
        if !reasons.is_empty() {
            let reasons = single_blanks(&reasons.join("; "));
            out.text(&format!(" Stale ({reasons}): {}.", checked.advice()));
        }
        out.text("\n\n").whole_lines(&copy.markdown);
        reasons.is_empty()
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

fn status(reasons: &[String]) -> &'static str {
    match reasons.is_empty() {
        true => "fresh",
        false => "stale",
    }
}

/// The members of a copy in JSON.
fn members(copy: &Copy, now: DateTime<Utc>) -> Value {
    let Local {
        handoff,
        refreshed_at,
        url,
        ..
    } = &copy.local;
    json!({
        "refreshed_at": refreshed_at,
        "age_seconds": copy.age(now).num_seconds().max(0),
        "generated_at": handoff.generated_at,
        "handoff_id": handoff.handoff_id,
        "vault_id": handoff.vault_id,
        "memory_id": handoff.memory_id,
        "base_version": handoff.base_version,
        "window": handoff.window,
        "url": url,
        "path": copy.path.to_string_lossy(),
    })
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
        let copy = workspace.read(&memory_ref);
        let now = SystemClock.now();
        let checked = self.live.status().await?;
        let aim = match &checked {
            Checked::Service(_) | Checked::NoHandoff => self.live.aim().await?,
            Checked::NoMemory | Checked::Local(_) => None,
        };
        let reasons = copy
            .as_ref()
            .map_or_else(|_| Vec::new(), |copy| copy.reasons(&checked, now));
        let mut out = Output::new();
        if self.live.service.is_json() {
            let mut body = match &copy {
                Err(NoCopy::Missing) => json!({"status": "missing", "reasons": []}),
                Err(NoCopy::Damaged(what)) => json!({"status": "damaged", "reasons": [what]}),
                Ok(copy) => members(copy, now),
            };
            if copy.is_ok() {
                body["status"] = status(&reasons).into();
                body["reasons"] = json!(reasons);
            }
            body["checked"] = checked.name().into();
            if let Some(why) = checked.unchecked_because() {
                body["unchecked_because"] = why.into();
            }
            if let Some(aim) = &aim {
                body["goal"] = aim["goal"].clone();
                body["blocker"] = aim["blocker"].clone();
            }
            body["vault_id"] = memory_ref.vault.as_str().into();
            body["memory_id"] = memory_ref.memory.as_str().into();
            out.text(&format!("{body:#}")).end();
        } else {
            if let Some(aim) = &aim {
                print_aim(&mut out, aim);
            }
            if let Ok(copy) = &copy {
                print(&mut out, copy, &reasons, &checked, now);
            }
        }
        out.write()?;
        copy.map_err(|none| checked.failure(none, &memory_ref, &workspace))?;
        fresh(reasons.is_empty(), &checked)
    }
}

fn line(out: &mut Output, name: &str, value: &str) {
    out.styled(Look::Dim, &format!("{name:<10}")).text(value).end();
}

/// What `set-status` wrote.
fn print_aim(out: &mut Output, aim: &Value) {
    for name in ["goal", "blocker", "updated"] {
        let shown = match aim[name].as_str() {
            None => "none".to_owned(),
            Some(time) if name == "updated" => when(time),
            Some(text) => text.to_owned(),
        };
        line(out, name, &shown);
    }
}

fn print(out: &mut Output, copy: &Copy, reasons: &[String], checked: &Checked, now: DateTime<Utc>) {
    let Local {
        handoff,
        refreshed_at,
        url,
        ..
    } = &copy.local;
    let Handoff {
        handoff_id,
        vault_id,
        memory_id,
        base_version,
        window,
        ..
    } = handoff;
    line(out, "memory", &format!("{vault_id}/{memory_id}"));
    let status = match reasons.is_empty() {
        true => "fresh".to_owned(),
        false => format!("stale: {}", checked.advice()),
    };
    line(out, "status", &status);
    for reason in reasons {
        line(out, "", reason);
    }
    let by = match checked.unchecked_because() {
        None => "by the service, just now".to_owned(),
        Some(why) => format!("by the local copy only: {why}"),
    };
    line(out, "checked", &by);
    let (age, refreshed) = (ago(copy.age(now)), written_time(*refreshed_at));
    line(out, "refreshed", &format!("{age} ({refreshed}) from {url}"));
    line(
        out,
        "handoff",
        &format!("{handoff_id} of version {base_version}, window {window}"),
    );
    line(out, "file", &copy.path.display().to_string());
}
