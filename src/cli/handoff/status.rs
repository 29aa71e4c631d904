//! `working-memory status`: how old the local copy is, and whether it should be refreshed.

use super::copy::{Copy, NoCopy};
use super::home::Workspace;
use super::time::ago;
use crate::cli::client::{Failure, Look, Output, Place, PlaceArgs};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::document::written_time;
use chrono::{DateTime, Utc};
use clap::Args;
use serde_json::{Value, json};

/// Arguments of `status`.
#[derive(Debug, Args)]
pub struct Status {
    /// Print it as JSON: `status` is `fresh`, `stale`, `missing` or `damaged`.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: PlaceArgs,
}

impl Status {
    /// Succeeds with a copy, fresh or stale.
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let (place, workspace) = (self.place.place()?, Workspace::of_process()?);
        let copy = Copy::read(&workspace, &place);
        let now = SystemClock.now();
        if self.json {
            let body = as_json(&copy, &place, now);
            Output::new().text(&format!("{body:#}")).end().write()?;
        }
        let copy = copy.map_err(|none| none.failure(&place, &workspace))?;
        if self.json {
            return Ok(());
        }
        let mut out = Output::new();
        print(&mut out, &copy, now);
        out.write()
    }
}

fn print(out: &mut Output, copy: &Copy, now: DateTime<Utc>) {
    let local = &copy.local;
    let stale = copy.stale(now);
    let mut line = |name: &str, value: &str| {
        out.styled(Look::Dim, &format!("{name:<10}")).text(value).end();
    };
    line("memory", &format!("{}/{}", local.vault_id, local.memory_id));
    line(
        "status",
        if stale.is_empty() {
            "fresh, as far as the local copy tells"
        } else {
            "stale: run `working-memory refresh`"
        },
    );
    for reason in &stale {
        line("", reason);
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

fn as_json(copy: &Result<Copy, NoCopy>, place: &Place, now: DateTime<Utc>) -> Value {
    let mut body = match copy {
        Err(NoCopy::Missing) => json!({"status": "missing", "reasons": []}),
        Err(NoCopy::Damaged(what)) => json!({"status": "damaged", "reasons": [what]}),
        Ok(copy) => {
            let (local, stale) = (&copy.local, copy.stale(now));
            json!({
                "status": if stale.is_empty() { "fresh" } else { "stale" },
                "reasons": stale,
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
    body["vault_id"] = place.vault.as_str().into();
    body["memory_id"] = place.memory.as_str().into();
    body
}
