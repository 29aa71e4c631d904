//! Model usage: `model_usage`, counted by vault, day, model and role.
//!
//! The service's clock determines the day, in UTC. The rows do not belong to memories: deleting a memory does not
//! change them.

pub(in crate::storage) mod stored;

use crate::domain::ids::VaultId;
use crate::domain::operation::Role;
use crate::storage::batcher::{BatchConnection, Batcher, Batchers, Job};
use crate::storage::database::connection::execute_rows;
use crate::storage::{Class, Storage, StorageError};
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use sqlx::{Postgres, QueryBuilder};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What models cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Spent {
    /// Askings of a model by an update: one a role.
    pub runs: u64,
    /// Requests to the model's server, repeated ones included.
    pub calls: u64,
    /// Askings that came to nothing.
    pub failures: u64,
    /// Tokens read, where the server tells them.
    pub input_tokens: u64,
    /// Of these, tokens its provider had in its cache.
    pub cached_tokens: u64,
    /// Of these, tokens its provider put into its cache.
    pub cache_write_tokens: u64,
    /// Tokens written, where the server tells them.
    pub output_tokens: u64,
    /// Time of the askings, in milliseconds.
    pub millis: u64,
    /// What that costs in `currency`; null where a model has no price.
    // Not stored: it follows from the prices that are configured when it is asked for.
    pub cost: Option<f64>,
}

/// The purpose of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spender {
    /// A section of an update.
    Update(Role),
    /// The prose of a handoff.
    Handoff,
    /// Vectors of texts and of queries.
    Embeddings,
}

impl Spent {
    /// Adds the counts of other usage, not its cost.
    pub(crate) fn add(&mut self, other: &Self) {
        let counts = [
            (&mut self.runs, other.runs),
            (&mut self.calls, other.calls),
            (&mut self.failures, other.failures),
            (&mut self.input_tokens, other.input_tokens),
            (&mut self.cached_tokens, other.cached_tokens),
            (&mut self.cache_write_tokens, other.cache_write_tokens),
            (&mut self.output_tokens, other.output_tokens),
            (&mut self.millis, other.millis),
        ];
        for (count, other) in counts {
            *count = count.saturating_add(other);
        }
    }
}

impl Spender {
    /// The stored name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Update(role) => role.name(),
            Self::Handoff => "handoff",
            Self::Embeddings => "embeddings",
        }
    }
}

/// The usage of one role's model in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RoleSpent {
    /// The role.
    pub role: Spender,
    /// The model's name in the configuration.
    pub model: String,
    /// The usage.
    pub spent: Spent,
}

/// What a model cost on a day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UsageOfDay {
    /// The day in UTC.
    pub day: NaiveDate,
    /// The model.
    pub model: String,
    // Of all roles.
    #[serde(flatten)]
    pub(crate) spent: Spent,
}

/// Usage to be added to the counts of a day: in batches, because a count is a row of its vault, and each addition to it would
/// wait until the one before is on the disk.
#[derive(Debug)]
pub(in crate::storage) struct Usage {
    vault: VaultId,
    day: NaiveDate,
    spent: RoleSpent,
}

impl Job for Usage {
    type Answer = ();

    const MAX_IN_FLIGHT: usize = 1;

    const MAX_JOBS: usize = 256;

    fn batcher(batchers: &Batchers) -> &Arc<Batcher<Self>> {
        &batchers.usage
    }

    async fn run(storage: &Storage, kept: &mut BatchConnection, all: Vec<Self>) -> Vec<()> {
        // In one order, so that no two instances wait for each other.
        let mut counts: BTreeMap<_, Spent> = BTreeMap::new();
        for Self { vault, day, spent } in &all {
            let count = (vault, *day, &*spent.model, spent.role.name());
            counts.entry(count).or_default().add(&spent.spent);
        }
        if let Err(error) = storage.insert_usage(kept, counts).await {
            tracing::warn!(%error, "the usage of models could not be stored");
        }
        vec![(); all.len()]
    }
}

impl Storage {
    /// Adds to the counts of today: a queued update may be of another day, whose limit it does not use. A failure is only logged,
    /// because what was made of it is saved.
    pub async fn add_usage(&self, vault: &VaultId, spent: RoleSpent) {
        let usage = Usage {
            vault: vault.clone(),
            day: self.clock.now().date_naive(),
            spent,
        };
        // `None` if its batch was cancelled: not counted, like after a failure.
        let _ = self.submit(usage).await;
    }

    async fn insert_usage(
        &self,
        kept: &mut BatchConnection,
        counts: BTreeMap<(&VaultId, NaiveDate, &str, &'static str), Spent>,
    ) -> Result<(), StorageError> {
        let (mut connection, since) = kept.take(self, Class::Write).await?;
        let rows = counts.len();
        let mut statement = QueryBuilder::<Postgres>::new(
            "INSERT INTO model_usage (vault_id, day, model, role, runs, calls, failures, input_tokens, cached_tokens,
                                      cache_write_tokens, output_tokens, millis) ",
        );
        statement.push_values(counts, |mut row, ((vault, day, model, role), spent)| {
            row.push_bind(vault.as_str())
                .push_bind(day)
                .push_bind(model)
                .push_bind(role)
                .push_bind(stored(spent.runs))
                .push_bind(stored(spent.calls))
                .push_bind(stored(spent.failures))
                .push_bind(stored(spent.input_tokens))
                .push_bind(stored(spent.cached_tokens))
                .push_bind(stored(spent.cache_write_tokens))
                .push_bind(stored(spent.output_tokens))
                .push_bind(stored(spent.millis));
        });
        statement.push(
            " ON CONFLICT (vault_id, day, model, role) DO UPDATE
              SET runs = model_usage.runs + excluded.runs, calls = model_usage.calls + excluded.calls,
                  failures = model_usage.failures + excluded.failures,
                  input_tokens = model_usage.input_tokens + excluded.input_tokens,
                  cached_tokens = model_usage.cached_tokens + excluded.cached_tokens,
                  cache_write_tokens = model_usage.cache_write_tokens + excluded.cache_write_tokens,
                  output_tokens = model_usage.output_tokens + excluded.output_tokens,
                  millis = model_usage.millis + excluded.millis",
        );
        execute_rows(&mut connection, statement, rows).await?;
        let connection = connection.commit().await?;
        kept.keep(self, connection, since);
        Ok(())
    }

    /// The usage of a vault's models from one day to another, both inclusive, by day and then by model.
    ///
    /// # Errors
    /// Database errors.
    pub async fn usage(
        &self,
        vault: &VaultId,
        from: NaiveDate,
        to: NaiveDate,
    ) -> Result<Vec<UsageOfDay>, StorageError> {
        let days = sqlx::query!(
            r#"SELECT day, model, jsonb_build_object(
                      'runs', sum(runs), 'calls', sum(calls), 'failures', sum(failures), 'input_tokens', sum(input_tokens),
                      'cached_tokens', sum(cached_tokens), 'cache_write_tokens', sum(cache_write_tokens),
                      'output_tokens', sum(output_tokens), 'millis', sum(millis)) AS "spent!: Json<Spent>"
               FROM model_usage
               WHERE vault_id = $1 AND day BETWEEN $2 AND $3
               GROUP BY day, model
               ORDER BY day, model"#,
            vault.as_str(),
            from,
            to,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        let days = days.into_iter().map(|row| UsageOfDay {
            day: row.day,
            model: row.model,
            spent: row.spent.0,
        });
        Ok(days.collect())
    }

    /// Input and output tokens of a vault's models on a day.
    ///
    /// # Errors
    /// Database errors.
    pub async fn tokens_of_day(&self, vault: &VaultId, day: NaiveDate) -> Result<u64, StorageError> {
        let models = self.usage(vault, day, day).await?;
        let tokens = models
            .iter()
            .map(|of| of.spent.input_tokens + of.spent.output_tokens);
        Ok(tokens.sum())
    }
}

fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
