//! Vaults: `/v1/vaults`, the runs of all memories of one, and what it uses.

use crate::domain::ids::{MemoryId, UpdateId, VaultId};
use crate::http::extract::caller::CallerOf;
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{Path, Query, VaultPath};
use crate::http::problem::Problem;
use crate::http::state::{AppState, CURRENCY};
use crate::storage::memories::VaultSummary;
use crate::storage::updates::{Run, RunStatus};
use crate::storage::usage::{Spent, UsageOfDay};
use axum::Json;
use axum::extract::State;
use chrono::{Days, NaiveDate};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// List the vaults
///
/// By id. A vault is there as long as it has a memory; its own prompt items make it none. Shown are those that the caller's key reaches.
#[utoipa::path(
    get,
    path = "/v1/vaults",
    params(Page),
    responses((status = 200, description = "One page.", body = List<VaultSummary>))
)]
pub(crate) async fn list_vaults(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    page: Page,
) -> Result<Json<List<VaultSummary>>, Problem> {
    let after = page.after::<VaultId>()?;
    let vaults = state
        .storage
        .list_vaults(&caller.scope, after.as_ref(), page.fetch())
        .await?;
    Ok(Json(page.of(
        vaults,
        |vault| vault.vault_id.clone(),
        |vault| vault,
    )))
}

/// Which runs.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunParams {
    /// Only those with this status.
    #[param(inline)]
    status: Option<RunStatus>,
}

/// List the runs of a vault
///
/// Those of all its memories, newest first, without the messages that were sent and what the models were asked and
/// answered. With `status=proposed`: what waits to be approved.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/updates",
    params(RunParams, Page),
    responses((status = 200, description = "One page.", body = List<Run>))
)]
pub(crate) async fn list_vault_updates(
    State(state): State<AppState>,
    Path((vault_id,)): VaultPath,
    Query(RunParams { status }): Query<RunParams>,
    page: Page,
) -> Result<Json<List<Run>>, Problem> {
    let before = page.after::<(UpdateId, MemoryId)>()?;
    let _list = state.budget.list().await?;
    let runs = state
        .storage
        .list_vault_runs(&vault_id, status, before.as_ref(), page.fetch())
        .await?;
    let key = |run: &Run| (run.update_id.clone(), run.memory_id.clone());
    Ok(Json(page.of(runs, key, |run| run)))
}

/// The maximum length of the requested period, in days.
const MAX_DAYS: i64 = 366;

/// The default length of the period, in days.
const DEFAULT_DAYS: u64 = 30;

/// Which days.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageParams {
    /// The first day, as in `2026-11-21` (UTC). Without it the thirtieth up to `to`. At most 366 days are reported at once.
    #[param(format = Date, example = "2026-11-01")]
    from: Option<String>,
    /// The last day, which is included. Without it today.
    #[param(format = Date, example = "2026-11-21")]
    to: Option<String>,
}

/// A day.
fn day(name: &str, text: Option<&String>) -> Result<Option<NaiveDate>, Problem> {
    let Some(text) = text else { return Ok(None) };
    // Exactly `YYYY-MM-DD`: chrono also accepts other widths, and signs.
    let is_plain = text.len() == 10 && text.starts_with(|c: char| c.is_ascii_digit());
    let day = is_plain.then(|| text.parse().ok()).flatten();
    day.map(Some)
        .ok_or_else(|| Problem::malformed(name, format!("{name} must be a day as in 2026-11-21")))
}

impl UsageParams {
    /// The first and the last day.
    fn days(&self, today: NaiveDate) -> Result<(NaiveDate, NaiveDate), Problem> {
        let to = day("to", self.to.as_ref())?.unwrap_or(today);
        // The days before the year 0 would be answered with a sign, which no `date` has.
        let first = to.checked_sub_days(Days::new(DEFAULT_DAYS - 1));
        let first = first.max(NaiveDate::from_ymd_opt(0, 1, 1));
        let from = day("from", self.from.as_ref())?.or(first).unwrap_or(to);
        if from > to {
            let detail = format!("from is {from}, after to, which is {to}");
            return Err(Problem::invalid("from", detail));
        }
        let days = (to - from).num_days() + 1;
        if days > MAX_DAYS {
            let detail =
                format!("from {from} to {to} are {days} days; at most {MAX_DAYS} are reported at once");
            return Err(Problem::invalid("from", detail)
                .with("limit", MAX_DAYS)
                .with("actual", days));
        }
        Ok((from, to))
    }
}

/// What the models of a vault cost.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Usage)]
pub(crate) struct UsageBody {
    /// The vault.
    pub(crate) vault_id: String,
    /// The first day.
    pub(crate) from: NaiveDate,
    /// The last day, included.
    pub(crate) to: NaiveDate,
    /// What costs are told in.
    pub(crate) currency: String,
    /// All days and models together, whatever the page. Its cost leaves out the models of `without_price`.
    pub(crate) totals: Spent,
    /// Models that no price is configured for and that read or wrote tokens.
    pub(crate) without_price: Vec<String>,
    /// Tokens read and written today.
    pub(crate) tokens_today: u64,
    /// How many may be in a day; null without a limit.
    pub(crate) tokens_per_day: Option<u64>,
    /// Memories with a document that the vault has now.
    #[schema(minimum = 0)]
    pub(crate) memories: i64,
    /// How many it may have; null without a limit.
    pub(crate) memories_limit: Option<u64>,
    /// Bytes of the texts of all their versions now; those that were redacted take none.
    #[schema(minimum = 0)]
    pub(crate) bytes: i64,
    /// How many they may have; null without a limit.
    pub(crate) bytes_limit: Option<u64>,
    /// Days and models, in that order.
    #[serde(flatten)]
    pub(crate) page: List<UsageOfDay>,
}

/// What a vault uses
///
/// What it holds and may hold, and what its models cost by day and model: requests, tokens and, where prices are configured, money. Counted for every update, also for one
/// that failed or was only tried. A vault that used no model has no entries.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/usage",
    params(UsageParams, Page),
    responses((status = 200, description = "One page, and the sum of all.", body = UsageBody))
)]
pub(crate) async fn get_usage(
    State(state): State<AppState>,
    Path((vault_id,)): VaultPath,
    Query(params): Query<UsageParams>,
    page: Page,
) -> Result<Json<UsageBody>, Problem> {
    let today = state.clock.now().date_naive();
    let (from, to) = params.days(today)?;
    let after = page.after::<(NaiveDate, String)>()?;
    let settings = &state.settings;
    let mut days = state.storage.usage(&vault_id, from, to).await?;
    for day in &mut days {
        day.spent.cost = settings.cost(day);
    }
    let (totals, without_price) = sum(&days);
    let tokens_today = state.storage.tokens_of_day(&vault_id, today).await?;
    let stored = state.storage.vault_storage(&vault_id).await?;
    // By the bytes of the names, as pages are divided, whatever order the database has.
    let place = |day: &UsageOfDay| (day.day, day.model.clone());
    days.sort_by_key(place);
    // There are few days, and the sum needs all of them anyway.
    days.retain(|day| after.as_ref().is_none_or(|after| place(day) > *after));
    let show = |day: UsageOfDay| UsageOfDay {
        spent: rounded(day.spent),
        ..day
    };
    Ok(Json(UsageBody {
        from,
        to,
        currency: CURRENCY.to_owned(),
        totals,
        without_price,
        tokens_today,
        tokens_per_day: settings
            .config
            .limits
            .tokens_per_day(&vault_id)
            .map(|(most, _)| most),
        memories: stored.memories.max(0),
        memories_limit: settings.config.limits.vault_memories,
        bytes: stored.bytes.max(0),
        bytes_limit: settings.config.limits.vault_bytes,
        page: page.of(days, place, show),
        vault_id: vault_id.to_string(),
    }))
}

/// The sum of all days, and the models whose cost is unknown.
fn sum(days: &[UsageOfDay]) -> (Spent, Vec<String>) {
    let mut total = Spent::default();
    let mut without_price = BTreeSet::new();
    for UsageOfDay { model, spent, .. } in days {
        total.add(spent);
        match spent.cost {
            Some(more) => total.cost = Some(total.cost.unwrap_or(0.0) + more),
            None if spent.input_tokens + spent.output_tokens > 0 => {
                without_price.insert(model.clone());
            }
            None => {}
        }
    }
    (rounded(total), without_price.into_iter().collect())
}

/// Usage whose cost has no floating point noise.
fn rounded(spent: Spent) -> Spent {
    Spent {
        cost: spent.cost.map(|cost| (cost * 1e9).round() / 1e9),
        ..spent
    }
}
