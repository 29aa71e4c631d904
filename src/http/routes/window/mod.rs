//! The window of recent tasks and decisions of a memory, and what the routes that change it share.

pub(super) mod answer;
pub(super) mod fields;
pub(crate) mod get;
pub(crate) mod import;

use crate::domain::ids::{ActorId, MemoryId, VaultId};
use crate::domain::window::Sizes;
use crate::http::extract::conditions::Conditions;
use crate::http::extract::path::MemoryPath;
use crate::http::state::AppState;
use crate::storage::Writer;

/// The writer: actor, memory, and the window configuration of its vault.
pub(super) fn writer(state: &AppState, path: MemoryPath, actor: ActorId, conditions: Conditions) -> Writer {
    let MemoryPath { vault_id, memory_id } = path;
    Writer {
        sizes: sizes(state, &vault_id),
        vault: vault_id,
        memory: memory_id,
        actor,
        preconditions: conditions.for_write(),
    }
}

fn sizes(state: &AppState, vault: &VaultId) -> Sizes {
    let (tasks, decisions) = state.settings.window.of_vault(vault.as_str());
    Sizes {
        tasks,
        decisions,
        context_bytes: state.settings.context_bytes,
    }
}

/// A path below a memory. Ids contain only characters that are allowed in a header.
pub(super) fn below(vault: &VaultId, memory: &MemoryId, what: &str) -> String {
    format!("/v1/vaults/{vault}/memories/{memory}/{what}")
}
