//! `GET /v1/vaults/{vault_id}/memory-tool/files`

use super::FileBody;
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::VaultPath;
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::routes::memory_tool::RootParams;
use crate::http::state::AppState;
use crate::storage::memories::paths::FileTree;
use axum::Json;
use axum::extract::State;

/// List the memory tool's files
///
/// All files of a root with the newest version of each, by path, without their texts: `GET M/context` has those. A root
/// that never had a file has none.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memory-tool/files",
    operation_id = "ListMemoryFiles",
    tag = "memories",
    params(RootParams, Page),
    responses((status = 200, description = "One page.", body = List<FileBody>))
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    VaultPath { vault_id }: VaultPath,
    Query(params): Query<(RootParams, Page)>,
) -> Result<Json<List<FileBody>>, Problem> {
    let (RootParams { root }, page) = params;
    let name = format!("files/{vault_id}/{root}");
    let after = page.after::<String>(&name)?;
    let tree = FileTree {
        vault: vault_id,
        root,
    };
    let files = state
        .storage
        .list_files(&tree, after.as_deref(), page.fetch())
        .await?;
    Ok(Json(page.of(
        &name,
        files,
        |file| file.path.clone(),
        FileBody::from,
    )))
}
