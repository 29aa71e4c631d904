//! The document of a memory and its versions: `M/context`, `M/contexts`; and the look-up of the memory and the version that a route
//! below a memory works on.

pub(crate) mod diff;
pub(crate) mod put;
pub(crate) mod read;
pub(crate) mod views;

use crate::domain::ids::{MemoryId, VaultId};
use crate::http::extract::params::Params;
use crate::http::problem::{Kind, Problem};
use crate::http::routes::contexts::read::readable;
use crate::http::state::AppState;
use crate::storage::contexts::Redaction;
use crate::storage::{Context, ContextRef};
use chrono::{DateTime, Utc};
use serde::Deserialize;

/// Which version a view of the document is about.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionParams {
    /// This version, by its number or its context_id; the newest without it.
    #[serde(rename = "ref")]
    #[param(rename = "ref", value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    pub(in crate::http::routes) reference: Option<ContextRef>,
}

impl Params for VersionParams {}

/// The version that `reference` names, or the newest one.
///
/// # Errors
/// 404 if the memory or version does not exist, 410 if the version was redacted.
pub(in crate::http::routes) async fn version(
    state: &AppState,
    vault: &VaultId,
    memory: &MemoryId,
    reference: Option<&ContextRef>,
) -> Result<Context, Problem> {
    let version = match reference {
        None => state
            .storage
            .latest_context(vault, memory)
            .await?
            .ok_or_else(missing),
        Some(reference) => state
            .storage
            .context(vault, memory, reference)
            .await?
            .ok_or_else(no_such_version),
    };
    readable(version?, "ref")
}

/// The version that was the newest at a time; `None` if the memory does not exist.
///
/// # Errors
/// 422 if the time lies in the future, 404 if the memory had no version then.
pub(in crate::http::routes) async fn as_of(
    state: &AppState,
    vault: &VaultId,
    memory: &MemoryId,
    time: DateTime<Utc>,
) -> Result<Option<Context>, Problem> {
    if time > state.clock.now() {
        return Err(Problem::invalid("as_of", "as_of must not lie in the future"));
    }
    match state.storage.context_as_of(vault, memory, time).await? {
        None if state.storage.memory_exists(vault, memory).await? => {
            Err(Problem::not_found("the memory had no version at that time").with("field", "as_of"))
        }
        version => Ok(version),
    }
}

/// 404 for a memory that does not exist; it is never shown as an empty one.
pub(in crate::http) fn missing() -> Problem {
    Problem::not_found("the memory does not exist")
}

/// 404 for a version that does not exist.
pub(in crate::http) fn no_such_version() -> Problem {
    Problem::not_found(
        "there is no such memory or version; a ref is the number of a version (such as 3) or its context_id, and \
         GET …/contexts lists them",
    )
    .with("field", "ref")
}

/// Checks that a memory exists, if nothing else shows that.
///
/// # Errors
/// 404 if it does not exist.
pub(in crate::http::routes) async fn require(
    state: &AppState,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<(), Problem> {
    if state.storage.memory_exists(vault, memory).await? {
        Ok(())
    } else {
        Err(missing())
    }
}

/// 410 for a redacted version.
pub(in crate::http) fn redacted(version: i64, redaction: &Redaction) -> Problem {
    Problem::new(
        Kind::Gone,
        format!(
            "version {version} was redacted by {}; reason: {}",
            redaction.by, redaction.reason
        ),
    )
    .with("field", "ref")
    .with("version", version)
    .with("redaction_reason", redaction.reason.as_str())
    .with("redacted_at", serde_json::json!(redaction.at))
}
