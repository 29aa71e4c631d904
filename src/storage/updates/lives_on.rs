//! Whether the memory of a run still exists.

use super::run::Run;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;

/// Whether the memory that a run started from still exists. Until the transaction ends it cannot be deleted, and none
/// of its versions redacted. Always true for a run on a memory that did not exist.
#[tracing::instrument(name = "db.memories.lives_on", skip_all)]
pub(in crate::storage) async fn lives_on(
    connection: &mut Connection,
    run: &Run,
) -> Result<bool, StorageError> {
    if run.base_version == 0 {
        return Ok(true);
    }
    let head = sqlx::query_scalar!(
        "SELECT head_version FROM memories WHERE vault_id = $1 AND memory_id = $2 FOR KEY SHARE",
        run.vault_id.as_str(),
        run.memory_id.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    Ok(head.is_some_and(|head| head >= run.base_version))
}
