//! `GET M/log`

use super::lookup;
use super::window::below;
use crate::domain::document::written_time;
use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::{MemoryPath, Path};
use crate::http::extract::query::Query;
use crate::http::names::{Named, SourceName};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::ContextMetadata;
use axum::extract::State;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// One change of a document.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = LogEntry)]
pub(crate) struct LogEntry {
    /// The version that it made.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// That version's id.
    pub(crate) context_id: String,
    /// Who made it.
    pub(crate) actor_id: String,
    /// When it was made.
    pub(crate) creation_time: DateTime<Utc>,
    /// What made it.
    pub(crate) source: SourceName,
    /// The change in words, a line for each part of it.
    pub(crate) log: String,
}

impl From<ContextMetadata> for LogEntry {
    fn from(version: ContextMetadata) -> Self {
        Self {
            version: version.version,
            context_id: version.context_id.to_string(),
            actor_id: version.actor_id.to_string(),
            creation_time: version.creation_time,
            source: Named(version.source),
            log: version.log,
        }
    }
}

/// Read what changed
///
/// The changes in words, the newest first, as a list or, with `Accept: text/plain`, as text: of each version a line
/// `version <number> <time> <actor> <source>`, its changes indented by two, an empty line. `Link` names the next
/// page of the text.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/log",
    operation_id = "GetLog",
    tag = "contexts",
    params(Page),
    responses(
        (status = 200, description = "One page.", headers(("Link")), content(
            (List<LogEntry> = "application/json"),
            (String = "text/plain; charset=utf-8"),
        )),
    )
)]
pub(crate) async fn log(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(page): Query<Page>,
    accept: Accept,
) -> Result<Response, Problem> {
    let representation = accept.choose(&[Representation::Json, Representation::Plain])?;
    let name = format!("log/{vault_id}/{memory_id}");
    let before = page.after::<i64>(&name)?;
    let _list = state.budget.list().await?;
    let versions = state
        .storage
        .list_contexts(&vault_id, &memory_id, before, page.fetch())
        .await?;
    if versions.items.is_empty() {
        lookup::require(&state, &vault_id, &memory_id).await?;
    }
    let list = page.of_rows(&name, versions, |version| version.version, LogEntry::from);
    let path = below(&vault_id, &memory_id, "log?");
    list.represented(representation, &page, &path, as_text)
}

fn as_text(entries: &[LogEntry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let time = written_time(entry.creation_time);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "version {} {time} {} {}",
            entry.version, entry.actor_id, entry.source
        );
        for line in entry.log.lines() {
            let _ = writeln!(text, "  {line}");
        }
        text.push('\n');
    }
    text
}
