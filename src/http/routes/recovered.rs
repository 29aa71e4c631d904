//! Rebuilds the response of a request whose process died after saving and before responding, for a retry with the same
//! `Idempotency-Key`. It equals the first response, except for what was known only at that time (the text of a
//! warning, the order of a list). A proposal that was approved meanwhile is returned with the operations that were
//! applied.
//!
//! Routes whose response cannot be rebuilt store it together with their changes
//! ([`crate::storage::idempotency::Answering`]) and never use this module.

use super::contexts::put;
use super::items::add;
use super::status;
use super::update;
use super::window::answer;
use crate::domain::document::records;
use crate::domain::ids::{ContextId, MemoryId, RecordId, RecordKind, UpdateId, VaultId};
use crate::domain::memory::{collapse, project};
use crate::domain::window::Status;
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::storage::idempotency::{Gone, IdempotencyKey, Saved};
use crate::storage::prompt_items::ItemOwner;
use crate::storage::records::StoredRecord;
use crate::storage::updates::RunStatus;
use crate::storage::{Context, ContextRef, Guard, Put, Source, WindowChange};
use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// The response to the request that saved this.
///
/// # Errors
/// 410 if it was deleted or redacted since, and database errors.
pub(crate) async fn answer(
    state: &AppState,
    key: &IdempotencyKey,
    saved: Saved,
) -> Result<Response, Problem> {
    let vault = &key.vault;
    if let Saved::Item(id) = &saved {
        let owner = ItemOwner {
            vault: vault.clone(),
            memory: key.memory.clone(),
        };
        let item = state.storage.item(&owner, id).await?;
        return Ok(add::answer(&owner, item.ok_or_else(|| gone(Gone::Deleted))?));
    }
    let memory = key.memory.as_ref().ok_or_else(|| gone(Gone::Deleted))?;
    match saved {
        Saved::Version(id) => of_version(state, vault, memory, ContextRef::Id(id)).await,
        Saved::Run(id) => of_run(state, vault, memory, &id).await,
        Saved::Queued(id) => {
            let run = state.storage.run(vault, memory, &id).await?;
            Ok(update::queued(run.ok_or_else(|| gone(Gone::Deleted))?))
        }
        Saved::Item(_) => Err(Problem::internal("an item that was answered")),
    }
}

/// 410: what the first request with the key saved, or what its response quoted, was removed.
pub(crate) fn gone(why: Gone) -> Problem {
    let what = match why {
        Gone::Redacted => "what the first request with this Idempotency-Key saved was redacted since",
        Gone::Deleted => "what the first request with this Idempotency-Key saved was deleted since",
    };
    Problem::new(
        Kind::Gone,
        format!("{what}: it is not run again, and its answer is gone. Take a new key for a new request"),
    )
    .with("field", "Idempotency-Key")
}

async fn of_version(
    state: &AppState,
    vault: &VaultId,
    memory: &MemoryId,
    reference: ContextRef,
) -> Result<Response, Problem> {
    let made = state.storage.context(vault, memory, &reference).await?;
    let Context { metadata, text } = made.ok_or_else(|| gone(Gone::Deleted))?;
    if metadata.redaction.is_some() {
        return Err(gone(Gone::Redacted));
    }
    if let Some(run) = &metadata.update_id {
        return of_run(state, vault, memory, run).await;
    }
    let before = ContextRef::Version(metadata.version - 1);
    let before = state.storage.context(vault, memory, &before).await?;
    let before = before.map(|before| before.text).unwrap_or_default();
    match metadata.source {
        Source::Task | Source::Decision => {
            let kind = match metadata.source {
                Source::Task => RecordKind::Task,
                _ => RecordKind::Decision,
            };
            // The newest record is first.
            let ids = |text: &str| {
                records(text)
                    .into_iter()
                    .map(|record| record.id)
                    .collect::<Vec<RecordId>>()
            };
            let now = ids(&text);
            let id = now.iter().copied().find(|id| id.kind == kind);
            let record = match id {
                Some(id) => state.storage.record(vault, memory, id).await?,
                None => None,
            };
            // As it was in that version: it may have been archived since.
            let record = record.map(|record| StoredRecord { end: None, ..record });
            answer::record(WindowChange {
                unchanged: false,
                record,
                archived: ids(&before).into_iter().filter(|id| !now.contains(id)).collect(),
                status: Status::of(&text),
                metadata,
            })
        }
        Source::Status => Ok(status::answer(WindowChange {
            unchanged: false,
            record: None,
            archived: Vec::new(),
            status: Status::of(&text),
            metadata,
        })),
        _ => {
            let lost = match state.settings.guard {
                Guard::Off => Vec::new(),
                Guard::Warn | Guard::Reject => collapse(&before, &text, &project(&before, &text)),
            };
            put::answer(state, Put::Created(metadata, lost))
        }
    }
}

async fn of_run(
    state: &AppState,
    vault: &VaultId,
    memory: &MemoryId,
    id: &UpdateId,
) -> Result<Response, Problem> {
    let run = state.storage.run(vault, memory, id).await?;
    let run = run.ok_or_else(|| gone(Gone::Deleted))?;
    // A proposal may have been decided since. The first response showed it as pending, with the version it was
    // computed on as its base.
    let is_proposal = matches!(
        run.status,
        RunStatus::Proposed | RunStatus::Approved | RunStatus::Rejected | RunStatus::Expired
    );
    let (status, stood) = if is_proposal {
        let base = ContextRef::Version(run.base_version);
        let base = state.storage.context(vault, memory, &base).await?;
        (RunStatus::Proposed, base.map(|base| base.metadata.context_id))
    } else {
        (run.status, run.version.as_ref().map(|(_, id)| id.clone()))
    };
    let version = run.version.filter(|_| !is_proposal).map(|(version, _)| version);
    let head = json!({
        "update_id": run.update_id.as_str(),
        "vault_id": run.vault_id.as_str(),
        "memory_id": run.memory_id.as_str(),
        "status": status.name(),
        "base_version": run.base_version,
        "version": version.unwrap_or(run.base_version),
        "context_id": stood.as_ref().map(ContextId::as_str),
    });
    match (head, run.outcome) {
        (Value::Object(mut answer), Value::Object(mut outcome)) if outcome.contains_key("document") => {
            // Stored for the decision, and the decision itself: not part of the response.
            for member in ["proposal", "review"] {
                outcome.remove(member);
            }
            answer.extend(outcome);
            Ok(Json(answer).into_response())
        }
        _ => Err(gone(Gone::Redacted)),
    }
}
