//! Stores the answer to a request with an `Idempotency-Key` in the transaction that saves its effect.
//!
//! So a repeated request gets that answer even if the process died between the commit and the answer, or the connection
//! broke during the commit. A claim that was taken over or released cannot save anything.

use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use serde_json::Value;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use std::fmt;
use std::sync::Arc;

/// An idempotency key with its scope: equal characters of another vault or caller are another key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The vault the request goes to.
    pub vault: VaultId,
    /// The memory of the request, if any: the stored answer is deleted with it.
    pub memory: Option<MemoryId>,
    /// The caller.
    pub caller: String,
    /// The client's key: 1 to 255 visible ASCII characters.
    pub key: String,
}

/// The claim of a request. Its effect is saved with its answer under the claim, or not saved at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyClaim {
    /// The claimed key.
    pub key: IdempotencyKey,
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
    claim: IdempotencyClaim,
    answer: KeptAnswer,
}

/// A claim, and the function that builds the answer to what is saved under it.
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

impl<T> Clone for Answering<'_, T> {
    fn clone(&self) -> Self {
        Self {
            claim: self.claim.clone(),
            answer: self.answer.clone(),
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
        Some(under) => keep_answers(connection, &[(&under.to(done), about)]).await,
        None => Ok(()),
    }
}

/// Stores answers under their claims, inside the transaction that saves the effects.
///
/// # Errors
/// [`StorageError::KeyTakenOver`] if one of the claims is no longer held: then nothing of the transaction may be
/// committed.
#[tracing::instrument(name = "db.idempotency_keys.answered", skip_all)]
pub(in crate::storage) async fn keep_answers(
    connection: &mut Connection,
    all: &[(&ClaimedAnswer, Option<&MemoryId>)],
) -> Result<(), StorageError> {
    if all.is_empty() {
        return Ok(());
    }
    let answers: Vec<_> = all
        .iter()
        .map(|(of, about)| (&of.claim, &of.answer, *about))
        .collect();
    let done = end(&answers).execute(connection).await?;
    if done.rows_affected() == all.len() as u64 {
        Ok(())
    } else {
        Err(StorageError::KeyTakenOver)
    }
}

/// Ends claims with their answers; changes no row of a claim that is no longer held.
pub(super) fn end(
    all: &[(&IdempotencyClaim, &KeptAnswer, Option<&MemoryId>)],
) -> Query<'static, Postgres, PgArguments> {
    let column =
        |of: fn(&IdempotencyClaim) -> &str| all.iter().map(|(claim, ..)| of(claim)).collect::<Vec<_>>();
    let statuses: Vec<i32> = all.iter().map(|(_, answer, _)| answer.status.into()).collect();
    let headers = all.iter().map(|(_, answer, _)| {
        let headers = answer.headers.iter();
        headers
            .map(|(name, value)| Value::from(vec![&**name, &**value]))
            .collect::<Value>()
    });
    let headers: Vec<Value> = headers.collect();
    let bodies: Vec<&[u8]> = all.iter().map(|(_, answer, _)| &*answer.body).collect();
    let memories: Vec<Option<&str>> = all
        .iter()
        .map(|(.., about)| about.map(MemoryId::as_str))
        .collect();
    sqlx::query!(
        "UPDATE idempotency_keys
         SET status = 'done', lease_until = NULL, answer_status = given.answer_status,
             answer_headers = given.answer_headers, answer_body = given.answer_body,
             memory_id = COALESCE(given.memory_id, idempotency_keys.memory_id)
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::jsonb[], $7::bytea[], $8::text[])
              AS given (vault_id, caller, idempotency_key, claim_id, answer_status, answer_headers, answer_body, memory_id)
         WHERE idempotency_keys.vault_id = ANY ($1) AND idempotency_keys.vault_id = given.vault_id
           AND idempotency_keys.caller = given.caller
           AND idempotency_keys.idempotency_key = given.idempotency_key
           AND idempotency_keys.claim_id = given.claim_id AND idempotency_keys.status = 'running'",
        &column(|claim| claim.key.vault.as_str()) as &[&str],
        &column(|claim| &claim.key.caller) as &[&str],
        &column(|claim| &claim.key.key) as &[&str],
        &column(|claim| &claim.token) as &[&str],
        &statuses,
        &headers,
        &bodies as &[&[u8]],
        &memories as &[Option<&str>],
    )
}
