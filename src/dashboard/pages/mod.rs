//! The pages, of which small ones share a file: the requests to the routes, the data of its template, and its forms.

mod document;
pub(super) mod edit;
pub(super) mod events;
pub(super) mod handoff;
pub(super) mod keys;
pub(super) mod memory;
pub(super) mod record;
pub(super) mod run;
pub(super) mod search;
pub(super) mod sign_in;
pub(super) mod updates;
pub(super) mod vaults;
pub(super) mod version;
pub(super) mod views;

use super::failure::Failure;
use super::visit::Visit;
use crate::storage::memories::MemorySummary;
use axum::http::StatusCode;

/// The memory of a page that shows its document. Without a document it is 404, like a route of documents.
async fn with_document(visit: &Visit) -> Result<MemorySummary, Failure> {
    let entry: MemorySummary = visit.of_memory(&[]).read().await?;
    match entry.context_id {
        Some(_) => Ok(entry),
        None => Err(Failure::with_status(
            StatusCode::NOT_FOUND,
            "The memory has no document yet.",
        )),
    }
}
