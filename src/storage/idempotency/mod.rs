//! Idempotent requests: the first answers of requests with an `Idempotency-Key`, in `idempotency_keys`.
//!
//! A key is claimed before its request runs, and answered afterwards. A claim is a lease that is renewed while the
//! request runs. If it expires, the process is considered dead, and the next retry takes the key over. The transaction
//! that saves the request's effect stores the answer too and ends the claim (`answering`), so a key that is still claimed
//! has saved nothing. The answer of a request that saves nothing is stored when it has ended.

mod answering;
mod tombstones;

pub use answering::{Answering, ClaimedAnswer, IdempotencyClaim, IdempotencyKey, KeptAnswer};
pub(super) use answering::{keep_answers, keep_one};
pub use tombstones::Gone;
pub(super) use tombstones::{Redacted, delete_answers, delete_redacted_answers};

use crate::domain::ids::MemoryId;
use crate::storage::{Class, FailingVaults, Storage, StorageError};
use chrono::TimeDelta;
use serde_json::Value;
use std::collections::BTreeMap;

/// How long a stored answer is returned, counted from the first request.
pub const KEPT_FOR: TimeDelta = TimeDelta::hours(24);

/// How long a claim is valid without renewal, by the database's clock. That may have been set back: a claim that is valid
/// for much longer was made before, and counts as expired. Retries of a request whose process died wait for this.
pub const LEASE: TimeDelta = TimeDelta::seconds(5);

/// What is further in the future than any lease, whenever its transaction began.
const BEYOND_A_LEASE: TimeDelta = TimeDelta::seconds(60);

/// The result of claiming a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// This is the first request with the key, or the first one died and saved nothing: the caller must run it.
    Won,
    /// The first request is running, or was released at this moment.
    Running,
    /// The key belongs to another request.
    OtherRequest,
    /// The first request has finished with this answer.
    Answered(KeptAnswer),
    /// The first request has finished, and what it created was removed.
    Gone(Gone),
}

impl Storage {
    /// Claims a key for the request with this fingerprint. `claim` is the claim's id for the methods below.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.idempotency_keys.claim", skip_all)]
    pub async fn claim_key(
        &self,
        key: &IdempotencyKey,
        fingerprint: &[u8; 32],
        claim: &str,
    ) -> Result<Claim, StorageError> {
        let now = self.clock.now();
        let memory = key.memory.as_ref().map(MemoryId::as_str);
        let insert = || {
            sqlx::query!(
                "INSERT INTO idempotency_keys (vault_id, caller, idempotency_key, fingerprint, status, claim_id,
                                               lease_until, created_at, expires_at, memory_id)
                 VALUES ($1, $2, $3, $4, 'running', $5, now() + $6::interval, $7, $8, $9)
                 ON CONFLICT (vault_id, caller, idempotency_key) DO NOTHING",
                key.vault.as_str(),
                key.caller,
                key.key,
                fingerprint.as_slice(),
                claim,
                LEASE as _,
                now,
                now + KEPT_FOR,
                memory,
            )
        };
        if self
            .execute(Class::Write, "db.idempotency_keys.claim", insert)
            .await?
            == 1
        {
            return Ok(Claim::Won);
        }
        let replace = || {
            sqlx::query!(
                "UPDATE idempotency_keys
                 SET fingerprint = $4, status = 'running', claim_id = $5, lease_until = now() + $6::interval,
                     created_at = $7, expires_at = $8, memory_id = $9,
                     answer_status = NULL, answer_headers = NULL, answer_body = NULL
                 WHERE vault_id = $1 AND caller = $2 AND idempotency_key = $3
                   AND (status <> 'running' OR lease_until <= now() OR lease_until > now() + $10::interval)
                   AND (expires_at <= $7 OR (status = 'running' AND fingerprint = $4))",
                key.vault.as_str(),
                key.caller,
                key.key,
                fingerprint.as_slice(),
                claim,
                LEASE as _,
                now,
                now + KEPT_FOR,
                memory,
                BEYOND_A_LEASE as _,
            )
        };
        if self
            .execute(Class::Write, "db.idempotency_keys.claim_again", replace)
            .await?
            == 1
        {
            return Ok(Claim::Won);
        }
        let row = sqlx::query_as!(
            Row,
            "SELECT fingerprint, status, answer_status, answer_headers, answer_body
             FROM idempotency_keys
             WHERE vault_id = $1 AND caller = $2 AND idempotency_key = $3",
            key.vault.as_str(),
            key.caller,
            key.key,
        )
        .fetch_optional(&mut self.primary_reader(Class::Read).await?)
        .await?;
        match row {
            Some(row) if row.fingerprint != fingerprint => Ok(Claim::OtherRequest),
            Some(row) => row.into_claim(key),
            // Released at this moment: the caller tries again.
            None => Ok(Claim::Running),
        }
    }

    /// Renews a claim. `false` if another request took the key over. A claim that has ended with its saved effect needs
    /// no renewal.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.idempotency_keys.renew", skip_all)]
    pub async fn renew_key(&self, key: &IdempotencyKey, claim: &str) -> Result<bool, StorageError> {
        let renew = || {
            sqlx::query!(
                "UPDATE idempotency_keys SET lease_until = now() + $5::interval
                 WHERE vault_id = $1 AND caller = $2 AND idempotency_key = $3 AND claim_id = $4
                   AND status = 'running'",
                key.vault.as_str(),
                key.caller,
                key.key,
                claim,
                LEASE as _,
            )
        };
        if self
            .execute(Class::Write, "db.idempotency_keys.renew", renew)
            .await?
            == 1
        {
            return Ok(true);
        }
        let is_own = sqlx::query_scalar!(
            r#"SELECT EXISTS (
                   SELECT 1 FROM idempotency_keys
                   WHERE vault_id = $1 AND caller = $2 AND idempotency_key = $3 AND claim_id = $4
               ) AS "is_own!""#,
            key.vault.as_str(),
            key.caller,
            key.key,
            claim,
        )
        .fetch_one(&mut self.primary_reader(Class::Read).await?)
        .await?;
        Ok(is_own)
    }

    /// Stores the answer of the request that holds the claim. With `about` the answer belongs to this memory and is
    /// deleted with it. `false` if the key was taken over, or if the answer was stored together with the effect.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.idempotency_keys.answer", skip_all)]
    pub async fn answer_key(
        &self,
        key: &IdempotencyKey,
        claim: &str,
        answer: &KeptAnswer,
        about: Option<&MemoryId>,
    ) -> Result<bool, StorageError> {
        let claim = IdempotencyClaim {
            key: key.clone(),
            token: claim.to_owned(),
        };
        let end = || answering::end(&[(&claim, answer, about)]);
        Ok(self
            .execute(Class::Write, "db.idempotency_keys.answer", end)
            .await?
            == 1)
    }

    /// Releases a claim, so that the next request with the key runs. Waits for a transaction under the claim that is being
    /// committed, whose answer stays.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.idempotency_keys.release", skip_all)]
    pub async fn release_key(&self, key: &IdempotencyKey, claim: &str) -> Result<(), StorageError> {
        let release = || {
            sqlx::query!(
                "DELETE FROM idempotency_keys
                 WHERE vault_id = $1 AND caller = $2 AND idempotency_key = $3 AND claim_id = $4
                   AND status = 'running'",
                key.vault.as_str(),
                key.caller,
                key.key,
                claim,
            )
        };
        self.execute(Class::Write, "db.idempotency_keys.release", release)
            .await?;
        Ok(())
    }

    /// Deletes at most `limit` expired keys and returns their number. May run on any number of instances at the same
    /// time.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.idempotency_keys.purge", skip_all)]
    pub async fn purge_keys(&self, limit: i64) -> Result<u64, StorageError> {
        let now = self.clock.now();
        // Rare read over all vaults; the deletion then goes vault by vault.
        let expired = sqlx::query!(
            "SELECT vault_id, caller, idempotency_key FROM idempotency_keys
             WHERE expires_at <= $1
             ORDER BY expires_at
             LIMIT $2",
            now,
            limit,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        let mut deleted = 0;
        let mut vaults: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
        for row in expired {
            let (callers, keys) = vaults.entry(row.vault_id).or_default();
            callers.push(row.caller);
            keys.push(row.idempotency_key);
        }
        let mut failing = FailingVaults::new("idempotency_keys");
        for (vault, (callers, keys)) in vaults {
            let delete = || {
                sqlx::query!(
                    "DELETE FROM idempotency_keys
             WHERE vault_id = $1 AND expires_at <= $2
               AND (status <> 'running' OR lease_until <= now() OR lease_until > now() + $5::interval)
               AND (caller, idempotency_key) IN (SELECT * FROM unnest($3::text[], $4::text[]))",
                    vault.as_str(),
                    now,
                    &callers,
                    &keys,
                    BEYOND_A_LEASE as _,
                )
            };
            let done = self
                .execute(Class::Sweep, "db.idempotency_keys.purge", delete)
                .await;
            deleted += failing.pass_over(&vault, done)?.unwrap_or_default();
        }
        Ok(deleted)
    }
}

struct Row {
    fingerprint: Vec<u8>,
    status: String,
    answer_status: Option<i32>,
    answer_headers: Option<Value>,
    answer_body: Option<Vec<u8>>,
}

impl Row {
    fn into_claim(self, key: &IdempotencyKey) -> Result<Claim, StorageError> {
        if let Ok(why) = self.status.parse() {
            return Ok(Claim::Gone(why));
        }
        let (Some(status), Some(headers), Some(body)) =
            (self.answer_status, self.answer_headers, self.answer_body)
        else {
            return Ok(Claim::Running);
        };
        Ok(Claim::Answered(KeptAnswer {
            status: u16::try_from(status).map_err(|_| corrupt(key, "answer_status", "not a status"))?,
            headers: serde_json::from_value(headers)
                .map_err(|_| corrupt(key, "answer_headers", "not a list of pairs"))?,
            body,
        }))
    }
}

fn corrupt(key: &IdempotencyKey, column: &'static str, problem: &str) -> StorageError {
    let row = format!("({}, {}, {})", key.vault, key.caller, key.key);
    StorageError::corrupt(("idempotency_keys", column), row, problem)
}
