//! `DELETE /v1/vaults/{vault_id}/memory-tool/files`

use super::FileParams;
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::path::VaultPath;
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::memories::paths::FileTree;
use axum::extract::State;
use axum::http::StatusCode;

/// Take a file out of the memory tool's tree
///
/// Its memory stays with all versions, readable by its id, as after the tool's `delete`. `If-Match` takes out only what
/// the client has seen. A directory is no file: it is gone with the last file below it.
#[utoipa::path(
    delete,
    path = "/v1/vaults/{vault_id}/memory-tool/files",
    operation_id = "UnlinkMemoryFile",
    tag = "memories",
    params(FileParams, ConditionHeaders),
    responses(
        (status = 204, description = "It is out of the tree."),
        (status = 404, description = "There is no such file."),
    )
)]
pub(crate) async fn unlink(
    State(state): State<AppState>,
    VaultPath { vault_id }: VaultPath,
    Query(FileParams { root, path }): Query<FileParams>,
    conditions: Conditions,
) -> Result<StatusCode, Problem> {
    let tree = FileTree {
        vault: vault_id,
        root,
    };
    state
        .storage
        .unlink_file(&tree, &path, &conditions.for_write())
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
