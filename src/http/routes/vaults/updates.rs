//! `GET /v1/vaults/{vault_id}/updates`: with `status=proposed`, the proposals that wait for a reviewer.

use crate::domain::ids::{MemoryId, UpdateId};
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::VaultPath;
use crate::http::extract::query::{FromQuery, Query, QueryReader};
use crate::http::names::RunStatusName;
use crate::http::problem::Problem;
use crate::http::routes::updates::view::RunBody;
use crate::http::state::AppState;
use crate::storage::updates::RunStatus;
use crate::storage::updates::proposals::VaultRunKey;
use axum::Json;
use axum::extract::State;
use std::fmt;
use std::str::FromStr;

/// Which runs.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunParams {
    /// Only those with this status.
    #[param(value_type = Option<RunStatusName>, inline)]
    status: Option<RunStatus>,
}

impl FromQuery for RunParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            status: query.name("status")?,
        })
    }
}

/// The position at which a page begins.
struct Key(VaultRunKey);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self((update, memory)) = self;
        write!(f, "{update} {memory}")
    }
}

impl FromStr for Key {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (update, memory) = text.split_once(' ').ok_or(())?;
        let update: UpdateId = update.parse().map_err(|_| ())?;
        let memory: MemoryId = memory.parse().map_err(|_| ())?;
        Ok(Self((update, memory)))
    }
}

/// List the runs of a vault
///
/// Those of all its memories, newest first, without the messages that were sent and what the models were asked and
/// answered. With `status=proposed`: what waits to be approved.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/updates",
    operation_id = "ListVaultUpdates",
    tag = "updates",
    params(RunParams, Page),
    responses((status = 200, description = "One page.", body = List<RunBody>))
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    VaultPath { vault_id }: VaultPath,
    Query(params): Query<(RunParams, Page)>,
) -> Result<Json<List<RunBody>>, Problem> {
    let (RunParams { status }, page) = params;
    let name = format!("updates/{vault_id}?{}", status.map_or("", RunStatus::name));
    let before = page.after::<Key>(&name)?.map(|Key(key)| key);
    let _list = state.budget.list().await?;
    let runs = state
        .storage
        .list_vault_runs(&vault_id, status, before.as_ref(), page.fetch())
        .await?;
    let key = |run: &crate::storage::updates::Run| Key((run.update_id.clone(), run.memory_id.clone()));
    Ok(Json(page.of_rows(&name, runs, key, RunBody::summary)))
}
