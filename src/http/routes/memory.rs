//! What the routes below a memory share.

use crate::domain::ids::{MemoryId, VaultId};
use crate::http::problem::Problem;
use crate::http::state::AppState;

/// 404 for a memory that is not there: it is never shown as an empty one.
pub(super) fn missing() -> Problem {
    Problem::not_found("the memory does not exist")
}

/// Checks a memory that has shown nothing else of itself.
///
/// # Errors
/// 404 if it does not exist.
pub(super) async fn require(state: &AppState, vault: &VaultId, memory: &MemoryId) -> Result<(), Problem> {
    if state.storage.memory_exists(vault, memory).await? {
        Ok(())
    } else {
        Err(missing())
    }
}
