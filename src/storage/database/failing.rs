//! Vaults whose work failed. Work that loops over all vaults skips them for a while and continues with the others.
//!
//! An error returned by the server says nothing about the other vaults: a lock held by another session, a trigger, a
//! failed node of a distributed database. If the database does not answer at all, no vault can be processed, and the
//! work ends.

use crate::storage::StorageError;
use crate::storage::error::is_of_a_statement;
use crate::telemetry::{meters, requests};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long a vault is skipped after its first failure. Each further failure doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(2);

/// The maximum.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// The vaults that one kind of work skips.
#[derive(Debug)]
pub struct FailingVaults {
    work: &'static str,
    vaults: HashMap<String, Failing>,
    failures: u64,
    /// What was done, and how often it failed, when the last round began.
    at_last_round: Option<(u64, u64)>,
}

#[derive(Debug, Clone, Copy)]
struct Failing {
    wait: Duration,
    until: Instant,
}

impl FailingVaults {
    /// Creates an empty list. `work` is the label in the metrics.
    #[must_use]
    pub fn new(work: &'static str) -> Self {
        Self {
            work,
            vaults: HashMap::new(),
            failures: 0,
            at_last_round: None,
        }
    }

    /// Whether work that goes in rounds needs another one: the last round did something, of which `done` is the sum of all
    /// rounds, or it failed for a vault.
    pub fn goes_on(&mut self, done: u64) -> bool {
        let now = Some((done, self.failures));
        self.at_last_round.replace((done, self.failures)) != now
    }

    /// How often the work of a vault failed.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures
    }

    /// Whether the vault is skipped at the moment.
    #[must_use]
    pub fn waits(&self, vault: &str) -> bool {
        let now = Instant::now();
        self.vaults.get(vault).is_some_and(|failing| now < failing.until)
    }

    /// All vaults that are skipped at the moment.
    #[must_use]
    pub fn waiting(&self) -> Vec<String> {
        let now = Instant::now();
        let waiting = self.vaults.iter().filter(|(_, failing)| now < failing.until);
        waiting.map(|(vault, _)| vault.clone()).collect()
    }

    /// Records the result of the work for a vault. After a failure the vault is skipped for a while.
    ///
    /// # Errors
    /// Returns the error if it concerns all vaults.
    pub fn pass_over<T>(
        &mut self,
        vault: &str,
        done: Result<T, StorageError>,
    ) -> Result<Option<T>, StorageError> {
        match done {
            Ok(done) => {
                self.vaults.remove(vault);
                Ok(Some(done))
            }
            Err(error) if is_of_a_statement(&error) => {
                self.fails(vault, &error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn fails(&mut self, vault: &str, error: &StorageError) {
        let before = self.vaults.get(vault);
        let wait = before.map_or(FIRST_WAIT, |before| (before.wait * 2).min(LONGEST_WAIT));
        let until = Instant::now() + wait;
        self.vaults.insert(vault.to_owned(), Failing { wait, until });
        self.failures += 1;
        metrics::counter!(meters::PASSED_OVER_TOTAL, "work" => self.work).increment(1);
        let (work, wait_seconds) = (self.work, wait.as_secs());
        let vault = &*requests::vault_hash(vault);
        tracing::warn!(vault, work, wait_seconds, %error, "a vault is passed over for now");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_the_connection_is_not_of_one_vault() {
        let mut failing = FailingVaults::new("test");
        let vault = "acme";
        let away = failing.pass_over::<()>(vault, Err(sqlx::Error::PoolTimedOut.into()));
        assert!(away.is_err() && !failing.waits(vault) && failing.waiting().is_empty());
        assert_eq!(failing.pass_over(vault, Ok(7)).unwrap(), Some(7));
    }

    #[test]
    fn the_wait_grows_and_ends_with_success() {
        let mut failing = FailingVaults::new("test");
        let vault = "acme";
        let error: StorageError = sqlx::Error::RowNotFound.into();
        failing.fails(vault, &error);
        failing.fails(vault, &error);
        assert!(failing.waits(vault));
        assert_eq!(failing.waiting(), ["acme"]);
        assert_eq!(failing.vaults[vault].wait, FIRST_WAIT * 2);
        for _ in 0..20 {
            failing.fails(vault, &error);
        }
        assert_eq!(failing.vaults[vault].wait, LONGEST_WAIT);
        failing.pass_over(vault, Ok(())).unwrap();
        assert!(!failing.waits(vault));
    }
}
