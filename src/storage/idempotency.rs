//! Idempotent requests: the first answers of requests with an `Idempotency-Key`, in `idempotency_keys`.
//!
//! - A key is claimed before its request runs, and answered afterwards. A claim is a lease that is renewed while the
//!   request runs. If it expires, the process is considered dead, and the next retry takes the key over.
//! - The transaction that saves the request's effect stores the answer too and ends the claim, so a key that is still claimed
//!   has saved nothing: a repeated request gets that answer even if the process died between the commit and the answer, or the
//!   connection broke during the commit. A claim that was taken over or released cannot save anything. The answer of a
//!   request that saves nothing is stored when it has ended.
//! - After the result of a request was removed, its answer is deleted, but the key and the request's fingerprint stay, as a
//!   tombstone, so that a late retry neither runs again nor restores removed data.

use crate::domain::ids::{MemoryId, UpdateId, VaultId};
use crate::storage::contexts::{ContextRef, find_context};
use crate::storage::database::connection::Connection;
use crate::storage::maintenance::redact::{Redacted, quotes};
use crate::storage::write::lock_memory;
use crate::storage::{Class, FailingVaults, Storage, StorageError};
use chrono::TimeDelta;
use futures::TryStreamExt as _;
use serde_json::{Value, json};
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::types::Json;
use std::fmt;
use std::sync::Arc;
use strum::{EnumString, IntoStaticStr};

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
    /// Claims a key for the request with this fingerprint.
    ///
    /// # Errors
    /// Database errors.
    pub async fn claim_key(
        &self,
        claim: &IdempotencyClaim,
        fingerprint: &[u8; 32],
    ) -> Result<Claim, StorageError> {
        let now = self.clock.now();
        let memory = claim.memory.as_ref().map(MemoryId::as_str);
        let insert = || {
            sqlx::query!(
                "INSERT INTO idempotency_keys (vault_id, caller, idempotency_key, fingerprint, status, claim_id,
                                               lease_until, created_at, expires_at, memory_id)
                 VALUES ($1, $2, $3, $4, 'running', $5, now() + $6::interval, $7, $8, $9)
                 ON CONFLICT (vault_id, caller, idempotency_key) DO NOTHING",
                claim.vault.as_str(),
                claim.caller,
                claim.key,
                fingerprint.as_slice(),
                claim.token,
                LEASE as _,
                now,
                now + KEPT_FOR,
                memory,
            )
        };
        let inserted = self.execute(Class::Write, "db.idempotency_keys.claim", insert);
        if inserted.await? == 1 {
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
                claim.vault.as_str(),
                claim.caller,
                claim.key,
                fingerprint.as_slice(),
                claim.token,
                LEASE as _,
                now,
                now + KEPT_FOR,
                memory,
                BEYOND_A_LEASE as _,
            )
        };
        let replaced = self.execute(Class::Write, "db.idempotency_keys.claim_again", replace);
        if replaced.await? == 1 {
            return Ok(Claim::Won);
        }
        self.claimed_key(claim, fingerprint).await
    }

    /// What stands in the way of a claim.
    async fn claimed_key(
        &self,
        claim: &IdempotencyClaim,
        fingerprint: &[u8; 32],
    ) -> Result<Claim, StorageError> {
        let row = sqlx::query!(
            r#"SELECT fingerprint, status, answer_status,
                      answer_headers AS "answer_headers: Json<Vec<(String, String)>>", answer_body
               FROM idempotency_keys
               WHERE vault_id = $1 AND caller = $2 AND idempotency_key = $3"#,
            claim.vault.as_str(),
            claim.caller,
            claim.key,
        )
        .fetch_optional(&mut self.primary_reader(Class::Read).await?)
        .await?;
        // Released at this moment: the caller tries again.
        let Some(row) = row else { return Ok(Claim::Running) };
        if row.fingerprint != fingerprint {
            return Ok(Claim::OtherRequest);
        }
        if let Ok(why) = row.status.parse() {
            return Ok(Claim::Gone(why));
        }
        let answer = (row.answer_status, row.answer_headers, row.answer_body);
        let (Some(status), Some(Json(headers)), Some(body)) = answer else {
            return Ok(Claim::Running);
        };
        Ok(Claim::Answered(KeptAnswer {
            status: u16::try_from(status).unwrap_or_default(),
            headers,
            body,
        }))
    }

    /// Renews a claim. One that was taken over, or that has ended with its saved effect, stays as it is.
    ///
    /// # Errors
    /// Database errors.
    pub async fn renew_key(&self, claim: &IdempotencyClaim) -> Result<(), StorageError> {
        let renew = || {
            sqlx::query!(
                "UPDATE idempotency_keys SET lease_until = now() + $5::interval
                 WHERE vault_id = $1 AND caller = $2 AND idempotency_key = $3 AND claim_id = $4
                   AND status = 'running'",
                claim.vault.as_str(),
                claim.caller,
                claim.key,
                claim.token,
                LEASE as _,
            )
        };
        self.execute(Class::Write, "db.idempotency_keys.renew", renew)
            .await?;
        Ok(())
    }

    /// Stores the answer of a request that has ended. With `about` the answer quotes this version of this memory and is deleted
    /// with it; if that happened before, the key ends without an answer. Nothing changes if the key was taken over, or if the
    /// answer was stored together with the effect.
    ///
    /// # Errors
    /// Database errors.
    pub async fn answer_key(
        &self,
        answer: &ClaimedAnswer,
        about: Option<(&MemoryId, i64)>,
    ) -> Result<(), StorageError> {
        let Some((memory, version)) = about else {
            let answered = || end(&[(answer, None)], None);
            self.execute(Class::Write, "db.idempotency_keys.answer", answered)
                .await?;
            return Ok(());
        };
        self.transaction("db.idempotency_keys.answer", |mut transaction| async move {
            let vault = &answer.claim.vault;
            let is_there = lock_memory(&mut transaction, vault, memory).await?.is_some();
            let quoted = ContextRef::Version(version);
            let quoted = find_context(&mut transaction, vault, memory, &quoted).await?;
            let is_redacted = quoted.is_some_and(|quoted| quoted.metadata.redaction.is_some());
            let gone = match is_there {
                true => is_redacted.then_some(Gone::Redacted),
                false => Some(Gone::Deleted),
            };
            end(&[(answer, Some(memory))], gone)
                .execute(&mut transaction)
                .await?;
            Ok::<_, StorageError>((transaction, ()))
        })
        .await
    }

    /// Releases a claim, so that the next request with the key runs. Waits for a transaction under the claim that is being
    /// committed, whose answer stays.
    ///
    /// # Errors
    /// Database errors.
    pub async fn release_key(&self, claim: &IdempotencyClaim) -> Result<(), StorageError> {
        let release = || {
            sqlx::query!(
                "DELETE FROM idempotency_keys
                 WHERE vault_id = $1 AND caller = $2 AND idempotency_key = $3 AND claim_id = $4
                   AND status = 'running'",
                claim.vault.as_str(),
                claim.caller,
                claim.key,
                claim.token,
            )
        };
        self.execute(Class::Write, "db.idempotency_keys.release", release)
            .await?;
        Ok(())
    }

    /// Deletes the expired keys, as many as `batch` at once, and returns their number. May run on any number of instances
    /// at the same time. Vaults for which it fails are skipped.
    ///
    /// # Errors
    /// Database errors.
    pub async fn purge_keys(&self, batch: i64) -> Result<u64, StorageError> {
        let (mut failing, mut deleted) = (FailingVaults::new("idempotency_keys"), 0);
        while failing.goes_on(deleted) {
            let now = self.clock.now();
            // Rare read over all vaults; the deletion then goes vault by vault.
            let expired = sqlx::query!(
                r#"SELECT vault_id, array_agg(caller) AS "callers!", array_agg(idempotency_key) AS "keys!"
                   FROM (SELECT vault_id, caller, idempotency_key FROM idempotency_keys
                         WHERE expires_at <= $1 AND vault_id <> ALL ($3)
                         ORDER BY expires_at
                         LIMIT $2) AS expired
                   GROUP BY vault_id"#,
                now,
                batch,
                &failing.waiting(),
            )
            .fetch_all(&mut self.reader().await?)
            .await?;
            for of_vault in expired {
                let delete = || {
                    sqlx::query!(
                        "DELETE FROM idempotency_keys
                         WHERE vault_id = $1 AND expires_at <= $2
                           AND (status <> 'running' OR lease_until <= now() OR lease_until > now() + $5::interval)
                           AND (caller, idempotency_key) IN (SELECT * FROM unnest($3::text[], $4::text[]))",
                        of_vault.vault_id,
                        now,
                        &of_vault.callers,
                        &of_vault.keys,
                        BEYOND_A_LEASE as _,
                    )
                };
                let done = self
                    .execute(Class::Sweep, "db.idempotency_keys.purge", delete)
                    .await;
                deleted += failing.pass_over(&of_vault.vault_id, done)?.unwrap_or_default();
            }
        }
        Ok(deleted)
    }
}

/// The claim of a request on a key. Its effect is saved with its answer under the claim, or not saved at all. Equal keys of
/// another vault or caller are other keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyClaim {
    /// The vault the request goes to.
    pub vault: VaultId,
    /// The memory of the request, if any: the stored answer is deleted with it.
    pub memory: Option<MemoryId>,
    /// The caller.
    pub caller: String,
    /// The client's key: 1 to 255 visible ASCII characters.
    pub key: String,
    /// The claim's id.
    pub token: String,
}

/// An answer as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The HTTP status.
    pub status: u16,
    /// Headers with lower-case names, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// An answer to be stored under a claim.
#[derive(Debug, Clone)]
pub struct ClaimedAnswer {
    /// The claim.
    pub claim: IdempotencyClaim,
    /// The answer.
    pub answer: KeptAnswer,
}

/// A claim, and the function that builds the answer to what is saved under it.
#[derive(Clone)]
pub struct Answering<'a, T> {
    claim: IdempotencyClaim,
    answer: Arc<dyn Fn(&T) -> KeptAnswer + Send + Sync + 'a>,
}

impl<'a, T> Answering<'a, T> {
    /// Creates it. `answer` may be called again when a transaction is repeated.
    pub fn new(claim: IdempotencyClaim, answer: impl Fn(&T) -> KeptAnswer + Send + Sync + 'a) -> Self {
        Self {
            claim,
            answer: Arc::new(answer),
        }
    }

    /// The answer to what was done, to be stored in the transaction that does it.
    #[must_use]
    pub fn to(&self, done: &T) -> ClaimedAnswer {
        ClaimedAnswer {
            claim: self.claim.clone(),
            answer: (self.answer)(done),
        }
    }
}

impl<T> fmt::Debug for Answering<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answering").field(&self.claim).finish()
    }
}

/// Stores the answer under the claim, if there is one, inside the transaction that saves the effect. With `about` the
/// answer belongs to this memory and is deleted with it.
///
/// # Errors
/// As [`keep_answers`].
pub(in crate::storage) async fn keep_one<T>(
    connection: &mut Connection,
    under: Option<&Answering<'_, T>>,
    about: Option<&MemoryId>,
    done: &T,
) -> Result<(), StorageError> {
    match under {
        Some(under) => keep_answers(connection, &[(&under.to(done), about)], None).await,
        None => Ok(()),
    }
}

/// Stores answers under their claims, inside the transaction that saves the effects. With `gone` the claims end without their
/// answers, which may quote what was redacted while the requests ran.
///
/// # Errors
/// [`StorageError::KeyTakenOver`] if one of the claims is no longer held: then nothing of the transaction may be
/// committed.
pub(in crate::storage) async fn keep_answers(
    connection: &mut Connection,
    all: &[(&ClaimedAnswer, Option<&MemoryId>)],
    gone: Option<Gone>,
) -> Result<(), StorageError> {
    if all.is_empty() {
        return Ok(());
    }
    let done = end(all, gone).execute(connection).await?;
    if done.rows_affected() == all.len() as u64 {
        Ok(())
    } else {
        Err(StorageError::KeyTakenOver)
    }
}

/// Ends claims with their answers, or without them; changes no row of a claim that is no longer held.
fn end(
    all: &[(&ClaimedAnswer, Option<&MemoryId>)],
    gone: Option<Gone>,
) -> Query<'static, Postgres, PgArguments> {
    let column = |of: fn(&IdempotencyClaim) -> &str| {
        all.iter()
            .map(|(claimed, _)| of(&claimed.claim))
            .collect::<Vec<_>>()
    };
    let answers = || {
        all.iter()
            .map(|(claimed, _)| Some(&claimed.answer).filter(|_| gone.is_none()))
    };
    let statuses: Vec<Option<i32>> = answers().map(|answer| Some(answer?.status.into())).collect();
    let headers: Vec<Option<Value>> = answers().map(|answer| Some(json!(answer?.headers))).collect();
    let bodies: Vec<Option<&[u8]>> = answers().map(|answer| Some(&*answer?.body)).collect();
    let memories: Vec<Option<&str>> = all.iter().map(|(_, about)| about.map(MemoryId::as_str)).collect();
    sqlx::query!(
        "UPDATE idempotency_keys
         SET status = $9, lease_until = NULL, answer_status = given.answer_status,
             answer_headers = given.answer_headers, answer_body = given.answer_body,
             memory_id = COALESCE(given.memory_id, idempotency_keys.memory_id)
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::jsonb[], $7::bytea[], $8::text[])
              AS given (vault_id, caller, idempotency_key, claim_id, answer_status, answer_headers, answer_body, memory_id)
         WHERE idempotency_keys.vault_id = ANY ($1) AND idempotency_keys.vault_id = given.vault_id
           AND idempotency_keys.caller = given.caller
           AND idempotency_keys.idempotency_key = given.idempotency_key
           AND idempotency_keys.claim_id = given.claim_id AND idempotency_keys.status = 'running'",
        &column(|claim| claim.vault.as_str()) as &[&str],
        &column(|claim| &claim.caller) as &[&str],
        &column(|claim| &claim.key) as &[&str],
        &column(|claim| &claim.token) as &[&str],
        &statuses as &[Option<i32>],
        &headers as &[Option<Value>],
        &bodies as &[Option<&[u8]>],
        &memories as &[Option<&str>],
        gone.map_or("done", Gone::name),
    )
}

/// Why there is no answer any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Gone {
    /// What the request created, or what its answer quotes, was redacted.
    Redacted,
    /// The memory was deleted.
    Deleted,
}

impl Gone {
    fn name(self) -> &'static str {
        self.into()
    }
}

/// Removes the answers about a memory that is deleted. A request that is still running saves nothing any more, and its
/// retry does not run either: it began before the deletion.
pub(in crate::storage) async fn delete_answers(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<(), StorageError> {
    sqlx::query!(
        "UPDATE idempotency_keys
         SET status = $3, lease_until = NULL, answer_status = NULL, answer_headers = NULL, answer_body = NULL
         WHERE vault_id = $1 AND memory_id = $2",
        vault.as_str(),
        memory.as_str(),
        Gone::Deleted.name(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Whether an answer mentions the redacted version, one of the runs that are redacted with it, or their text.
fn mentions(body: &[u8], redacted: &Redacted<'_>, runs: &[UpdateId]) -> bool {
    let of = &redacted.context.metadata;
    let id = of.context_id.as_str();
    match serde_json::from_slice::<Value>(body) {
        Ok(answer) => {
            let is = |member: &str, id: &str| answer[member].as_str() == Some(id);
            // The memory tool identifies versions by number only.
            let is_numbered = answer.get("context_id").is_none();
            // A handoff quotes in other spellings, as those that are deleted with the version.
            let is_handoff_since =
                answer.get("handoff_id").is_some() && answer["base_version"].as_i64() >= Some(of.version);
            is("context_id", id)
                || is_handoff_since
                || (is_numbered && answer["version"].as_i64() == Some(of.version))
                || runs.iter().any(|run| is("update_id", run.as_str()))
                || quotes(&answer, &redacted.quotations)
        }
        Err(_) => {
            let text = String::from_utf8_lossy(body);
            let mut ids = runs.iter().map(UpdateId::as_str).chain([id]);
            ids.any(|id| text.contains(id)) || redacted.quotations.are_in(&text)
        }
    }
}

/// Removes the answers that mention a redacted version; others stay.
pub(in crate::storage) async fn delete_redacted_answers(
    connection: &mut Connection,
    redacted: &Redacted<'_>,
    runs: &[UpdateId],
) -> Result<(), StorageError> {
    let of = &redacted.context.metadata;
    // One after another, because answers may be large.
    let mut rows = sqlx::query!(
        r#"SELECT caller, idempotency_key, answer_body AS "answer_body!"
           FROM idempotency_keys
           WHERE vault_id = $1 AND memory_id = $2 AND answer_body IS NOT NULL"#,
        of.vault_id.as_str(),
        of.memory_id.as_str(),
    )
    .fetch(&mut *connection);
    let (mut callers, mut keys) = (Vec::new(), Vec::new());
    while let Some(row) = rows.try_next().await? {
        if mentions(&row.answer_body, redacted, runs) {
            callers.push(row.caller);
            keys.push(row.idempotency_key);
        }
    }
    drop(rows);
    sqlx::query!(
        "UPDATE idempotency_keys
         SET status = $5, answer_status = NULL, answer_headers = NULL, answer_body = NULL
         WHERE vault_id = $1 AND memory_id = $2 AND status = 'done'
           AND (caller, idempotency_key) IN (SELECT * FROM unnest($3::text[], $4::text[]))",
        of.vault_id.as_str(),
        of.memory_id.as_str(),
        &callers,
        &keys,
        Gone::Redacted.name(),
    )
    .execute(connection)
    .await?;
    Ok(())
}
