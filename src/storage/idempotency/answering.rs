//! Stores the answer to a request with an `Idempotency-Key` in the transaction that saves its effect.
//!
//! Often the answer can be built again from what is stored, so storing an id is enough ([`super::Saved`]). Where it
//! cannot (moved files, replaced items, how much of an import was new, what a model replied), the answer itself is
//! stored in the same transaction. A repeated request gets it even if the process died between the commit and the
//! answer.

use super::kept_answer::KeptAnswer;
use super::key::IdempotencyKey;
use super::saved::IdempotencyClaim;
use crate::domain::ids::MemoryId;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use serde_json::Value;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;

/// A claim, and the function that builds the answer to what is saved under it.
pub struct Answering<'a, T> {
    claim: IdempotencyClaim,
    answer: Box<dyn Fn(&T) -> KeptAnswer + Send + Sync + 'a>,
}

impl<'a, T> Answering<'a, T> {
    /// Creates it. `answer` may be called again when a transaction is repeated.
    pub fn new(claim: IdempotencyClaim, answer: impl Fn(&T) -> KeptAnswer + Send + Sync + 'a) -> Self {
        Self {
            claim,
            answer: Box::new(answer),
        }
    }

    /// The claim.
    pub(in crate::storage) fn claim(&self) -> &IdempotencyClaim {
        &self.claim
    }

    /// Builds the answer.
    pub(in crate::storage) fn to(&self, done: &T) -> KeptAnswer {
        (self.answer)(done)
    }
}

/// Stores the answer under the claim, if there is one, inside the transaction that saved the effect.
///
/// # Errors
/// As [`keep_answer`].
pub(in crate::storage) async fn keep_one<T>(
    connection: &mut Connection,
    under: Option<&Answering<'_, T>>,
    about: Option<&MemoryId>,
    done: &T,
) -> Result<(), StorageError> {
    match under {
        Some(under) => keep_answer(connection, under.claim(), about, &under.to(done)).await,
        None => Ok(()),
    }
}

/// Stores an answer under a claim, inside the transaction that saves the effect. With `about` the answer belongs to
/// this memory and is deleted with it.
///
/// # Errors
/// [`StorageError::KeyTakenOver`] if the claim is no longer held: then nothing of the transaction may be committed.
#[tracing::instrument(name = "db.idempotency_keys.answered", skip_all)]
pub(in crate::storage) async fn keep_answer(
    connection: &mut Connection,
    claim: &IdempotencyClaim,
    about: Option<&MemoryId>,
    answer: &KeptAnswer,
) -> Result<(), StorageError> {
    let done = end((&claim.key, &claim.token), answer, about)
        .execute(connection)
        .await?;
    match done.rows_affected() {
        1 => Ok(()),
        _ => Err(StorageError::KeyTakenOver),
    }
}

/// Ends a claim with an answer; changes no row if the claim is no longer held.
pub(super) fn end(
    (key, claim): (&IdempotencyKey, &str),
    answer: &KeptAnswer,
    about: Option<&MemoryId>,
) -> Query<'static, Postgres, PgArguments> {
    let headers = answer.headers.iter();
    let headers: Value = headers
        .map(|(name, value)| Value::from(vec![&**name, &**value]))
        .collect();
    sqlx::query!(
            "UPDATE idempotency_keys
             SET status = 'done', lease_until = NULL, answer_status = $5, answer_headers = $6, answer_body = $7,
                 memory_id = COALESCE($8, memory_id)
             WHERE vault_id = $1 AND caller = $2 AND idempotency_key = $3 AND claim_id = $4 AND status = 'running'",
            key.vault.as_str(),
            key.caller,
            key.key,
            claim,
            i32::from(answer.status),
            headers,
            answer.body,
            about.map(MemoryId::as_str),
        )
}
