//! What a request with an `Idempotency-Key` saved, written into the row of its key by the transaction that saves it.
//!
//! The answer is kept later, in a transaction of its own, which may never come: a process is killed, a connection is
//! cut while it commits. Whoever takes the key over then finds here whether anything was saved, and answers from that.
//! A claim that another request took over meanwhile, or gave up, saves nothing any more.

use super::key::IdempotencyKey;
use crate::domain::ids::{ContextId, ItemId, UpdateId};
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;

/// The claim under which a request runs. What it saves is written down under it, or is not saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyClaim {
    /// The key that is claimed.
    pub key: IdempotencyKey,
    /// Names the claim.
    pub token: String,
}

/// What a request saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saved {
    /// A version.
    Version(ContextId),
    /// A run that made no version.
    Run(UpdateId),
    /// An update that is run later.
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

    /// As it is stored; `None` if a kind or an id is not one.
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

/// Writes down what was saved under claims, inside the transaction that saved it.
///
/// # Errors
/// [`StorageError::KeyTakenOver`] if one of the claims does not stand any more: then nothing of the transaction may be
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

/// As [`note_saved`], of one that may have no claim.
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
