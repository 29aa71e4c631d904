//! The schema's migrations, compiled in.

use super::{Storage, StorageError};
use sqlx::migrate::{MigrateError, Migrator};

static MIGRATOR: Migrator = sqlx::migrate!();

impl Storage {
    /// Brings the schema up to this program's version. Any number of instances may do so at once: the
    /// first does the work, the others wait for it.
    ///
    /// # Errors
    /// A database that cannot be reached, a migration that fails, or a schema of a newer program.
    pub async fn migrate(&self) -> Result<(), StorageError> {
        MIGRATOR.run(&self.pool).await.map_err(into_storage_error)
    }

    /// Takes back migrations down to and without `target`; 0 takes back all.
    ///
    /// # Errors
    /// As for [`Storage::migrate`].
    pub async fn migrate_down(&self, target: i64) -> Result<(), StorageError> {
        MIGRATOR
            .undo(&self.pool, target)
            .await
            .map_err(into_storage_error)
    }
}

fn into_storage_error(error: MigrateError) -> StorageError {
    match error {
        MigrateError::Execute(inner) | MigrateError::ExecuteMigration(inner, _) => inner.into(),
        other => StorageError::Internal(sqlx::Error::Migrate(Box::new(other))),
    }
}
