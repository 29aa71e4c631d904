//! Records the effect of a request with an `Idempotency-Key` in the row of its key, in the transaction that saves it.
//!
//! The answer is stored later in another transaction, which may never happen: the process is killed, or the connection
//! breaks during the commit. A request that takes the key over finds here whether anything was saved, and answers from
//! that. A claim that was taken over or released cannot save anything.

use super::key::IdempotencyKey;
use crate::domain::ids::{ContextId, ItemId, UpdateId};
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;

/// The claim of a request. Its effect is recorded under the claim, or not saved at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyClaim {
    /// The claimed key.
    pub key: IdempotencyKey,
    /// The claim's id.
    pub token: String,
}

/// The effect of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saved {
    /// A version.
    Version(ContextId),
    /// A run without a new version.
    Run(UpdateId),
    /// A queued update.
    Queued(UpdateId),
    /// A prompt item.
    Item(ItemId),
}

impl Saved {
    fn kind(&self) -> &'static str {
        match self {
            Self::Version(_) => "version",
            Self::Run(_) => "run",
            Self::Queued(_) => "queued",
            Self::Item(_) => "item",
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Version(id) => id.as_str(),
            Self::Run(id) | Self::Queued(id) => id.as_str(),
            Self::Item(id) => id.as_str(),
        }
    }

    /// Parses the stored form; `None` if the kind or the id is invalid.
    pub(super) fn of(kind: &str, id: &str) -> Option<Self> {
        Some(match kind {
            "version" => Self::Version(id.parse().ok()?),
            "run" => Self::Run(id.parse().ok()?),
            "queued" => Self::Queued(id.parse().ok()?),
            "item" => Self::Item(id.parse().ok()?),
            _ => return None,
        })
    }
}

/// Records what was saved under claims, inside the transaction that saved it.
///
/// # Errors
/// [`StorageError::KeyTakenOver`] if one of the claims is no longer held: then nothing of the transaction may be
/// committed.
#[tracing::instrument(name = "db.idempotency_keys.saved", skip_all)]
pub(in crate::storage) async fn note_saved(
    connection: &mut Connection,
    all: &[(&IdempotencyClaim, Saved)],
) -> Result<(), StorageError> {
    if all.is_empty() {
        return Ok(());
    }
    let column =
        |of: fn(&IdempotencyClaim) -> &str| all.iter().map(|(claim, _)| of(claim)).collect::<Vec<_>>();
    let kinds: Vec<&str> = all.iter().map(|(_, saved)| saved.kind()).collect();
    let ids: Vec<&str> = all.iter().map(|(_, saved)| saved.id()).collect();
    let done = sqlx::query!(
        "UPDATE idempotency_keys
         SET saved_kind = noted.saved_kind, saved_id = noted.saved_id
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
              AS noted (vault_id, caller, idempotency_key, claim_id, saved_kind, saved_id)
         WHERE idempotency_keys.vault_id = ANY ($1) AND idempotency_keys.vault_id = noted.vault_id
           AND idempotency_keys.caller = noted.caller
           AND idempotency_keys.idempotency_key = noted.idempotency_key
           AND idempotency_keys.claim_id = noted.claim_id AND idempotency_keys.status = 'running'",
        &column(|claim| claim.key.vault.as_str()) as &[&str],
        &column(|claim| &claim.key.caller) as &[&str],
        &column(|claim| &claim.key.key) as &[&str],
        &column(|claim| &claim.token) as &[&str],
        &kinds as &[&str],
        &ids as &[&str],
    )
    .execute(connection)
    .await?;
    if done.rows_affected() == all.len() as u64 {
        Ok(())
    } else {
        Err(StorageError::KeyTakenOver)
    }
}

/// As [`note_saved`], for one effect, which may have no claim.
pub(in crate::storage) async fn note_one(
    connection: &mut Connection,
    claim: Option<&IdempotencyClaim>,
    saved: impl FnOnce() -> Saved,
) -> Result<(), StorageError> {
    match claim {
        Some(claim) => note_saved(connection, &[(claim, saved())]).await,
        None => Ok(()),
    }
}
