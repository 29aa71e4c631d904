//! Token usage: records what a run used, and rejects updates of a vault that has reached its daily limit.

use super::role::RoleOutcome;
use super::run::Running;
use super::{Pipeline, PipelineError};
use crate::domain::ids::VaultId;
use crate::storage::usage::{RoleSpent, Spender, Spent};
use chrono::{DateTime, Days, NaiveTime, Utc};

impl Pipeline {
    /// Rejects a vault that has used its daily tokens. The usage of an update is known only at its end, so the last
    /// update of a day may exceed the limit.
    pub(super) async fn refuse_over_tokens(&self, vault: &VaultId) -> Result<(), PipelineError> {
        let Some(limit) = self.limits.tokens_per_day(vault) else {
            return Ok(());
        };
        let now = self.clock.now();
        let day = now.date_naive();
        let spent = self.storage.tokens_of_day(vault, day).await?;
        if spent < limit {
            return Ok(());
        }
        let next = day.checked_add_days(Days::new(1)).unwrap_or(day);
        let opens_at = next.and_time(NaiveTime::MIN).and_utc();
        // Rounded up, so that a client that waits this long is admitted.
        let seconds = (opens_at - now).num_milliseconds().saturating_add(999) / 1_000;
        Err(PipelineError::TokensSpent {
            spent,
            limit,
            opens_at,
            retry_after: u64::try_from(seconds).unwrap_or(1).max(1),
        })
    }

    /// Records the usage of a run since the last call. A failure is only logged, because the run itself is already
    /// saved.
    pub(super) async fn account(&self, running: &Running, spent: Vec<RoleSpent>) {
        self.write_down(&running.target.vault, running.created_at, &spent)
            .await;
    }

    /// Adds usage to the counts of the day of `at`.
    pub(super) async fn write_down(&self, vault: &VaultId, at: DateTime<Utc>, spent: &[RoleSpent]) {
        if let Err(error) = self.storage.add_usage(vault, at.date_naive(), spent).await {
            tracing::warn!(%error, "the usage of models could not be stored");
        }
    }
}

impl RoleOutcome {
    /// The usage of a model. If it was asked before in this run, the run is not counted again.
    pub(super) fn spent(&self, by: Spender, is_first: bool) -> RoleSpent {
        let report = &self.report;
        let spent = Spent {
            runs: u64::from(is_first),
            calls: u64::from(report.attempts),
            failures: u64::from(self.failure.is_some()),
            input_tokens: report.input_tokens.unwrap_or(0),
            cached_tokens: report.cached_tokens.unwrap_or(0),
            cache_write_tokens: report.cache_write_tokens.unwrap_or(0),
            output_tokens: report.output_tokens.unwrap_or(0),
            millis: report.millis,
        };
        RoleSpent {
            role: by,
            model: report.model.clone(),
            spent,
        }
    }
}
