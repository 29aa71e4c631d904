//! `working-memory show`: prints the handoff with its current freshness.

use super::copy::Copy;
use super::home::Workspace;
use super::live::{Checked, LiveArgs, LiveStatus};
use super::manifest::Freshness;
use crate::cli::client::{Exit, Failure, Output, ServiceResponse, ago, one_line};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::document::written_time;
use crate::domain::handoff::REFRESH_ROUTE;
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
                out.text("; not checked: ").text(&one_line(why));
            }
            out.text(".");
            if !reasons.is_empty() {
                let reasons = one_line(&reasons.join("; "));
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
