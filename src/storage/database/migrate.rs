//! The schema migrations, compiled in.

use crate::storage::database::connect::BEGIN_WITHOUT_NAMES;
use crate::storage::{Class, Storage, StorageError};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{Connection as _, PgConnection};
use std::sync::LazyLock;

/// The lock of sqlx is a session lock: behind a transaction-mode pooler it might never be released.
static MIGRATOR: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrator = sqlx::migrate!();
    migrator.set_locking(false);
    migrator
});

/// The name of the first migration, and that in databases from before the first release.
const BASELINE: &str = "schema";
const EARLIER_BASELINE: &str = "contexts and records";

/// The key of the transaction lock that serialises migrating instances.
const LOCK: i64 = 0x776d_6d69_6772_6174;

impl Storage {
    /// Migrates the schema to this program's version, all or nothing. Any number of instances may call it at the same
    /// time: the first one migrates, the others wait for it.
    ///
    /// # Errors
    /// A database that cannot be reached or has not the encoding UTF8, a migration that fails, or a schema of a newer program,
    /// of one from before the first release, or of another program.
    pub async fn migrate(&self) -> Result<(), StorageError> {
        self.migrate_to(None).await
    }

    /// Reverts the migrations above `target`; 0 reverts all.
    ///
    /// # Errors
    /// As for [`Storage::migrate`].
    pub async fn migrate_down(&self, target: i64) -> Result<(), StorageError> {
        self.migrate_to(Some(target)).await
    }

    /// Runs inside a transaction that sqlx knows of, so that it uses a savepoint for each migration.
    async fn migrate_to(&self, target: Option<i64>) -> Result<(), StorageError> {
        let mut connection = self.acquire(self.primary(), Class::Migration, None).await?;
        let connection = connection.raw();
        let mut transaction = match self.prepared_statements {
            true => connection.begin().await?,
            false => connection.begin_with(BEGIN_WITHOUT_NAMES).await?,
        };
        sqlx::query!("SELECT pg_advisory_xact_lock($1)", LOCK)
            .execute(&mut *transaction)
            .await?;
        let newest = refuse_other_schema(&mut transaction).await?.unwrap_or(0);
        if target.is_some_and(|target| target > newest) {
            return Err(StorageError::BelowTarget(newest));
        }
        match target {
            None => MIGRATOR.run(&mut *transaction).await,
            Some(target) => MIGRATOR.undo(&mut *transaction, target).await,
        }
        .map_err(into_storage_error)?;
        Ok(transaction.commit().await?)
    }

    /// Whether the schema is at this program's version or a newer one.
    ///
    /// # Errors
    /// Database errors.
    pub async fn schema_is_current(&self) -> Result<bool, StorageError> {
        let own = MIGRATOR.iter().map(|migration| migration.version).max();
        Ok(Some(self.schema_version().await?) >= own)
    }

    /// The number of the newest applied migration; 0 for none.
    pub(in crate::storage) async fn schema_version(&self) -> Result<i64, StorageError> {
        // This is a table of sqlx, which the database used for checking queries need not have.
        let newest: Option<i64> =
            sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations WHERE success")
                .fetch_one(&mut self.reader_for(Class::Health).await?)
                .await?;
        Ok(newest.unwrap_or(0))
    }

    /// Refuses a database without a schema, or that [`Storage::migrate`] refuses, except for a newer schema, where nothing is
    /// migrated.
    ///
    /// # Errors
    /// [`StorageError::NotUtf8`], [`StorageError::NoSchema`], [`StorageError::EarlierSchema`], [`StorageError::SchemaOfAnother`],
    /// or database errors.
    pub async fn check_schema(&self) -> Result<(), StorageError> {
        let newest = refuse_other_schema(self.primary_reader(Class::Migration).await?.raw()).await?;
        newest.map(drop).ok_or(StorageError::NoSchema)
    }
}

/// The newest applied migration of this program; `None` without any.
async fn refuse_other_schema(connection: &mut PgConnection) -> Result<Option<i64>, StorageError> {
    // The tables are made in the current schema, and others of the search path are not looked at.
    let found = sqlx::query!(
        r#"SELECT current_setting('server_encoding') AS "encoding!", COALESCE(current_schema()::text, '') AS "schema!",
                  to_regclass(format('%I._sqlx_migrations', current_schema())) IS NOT NULL AS "is_migrated!""#
    )
    .fetch_one(&mut *connection)
    .await?;
    if found.encoding != "UTF8" {
        return Err(StorageError::NotUtf8(found.encoding));
    }
    if !found.is_migrated {
        return Ok(None);
    }
    // This is a table of sqlx, which the database used for checking queries need not have.
    let (newest, first): (Option<i64>, Option<String>) = sqlx::query_as(
        "SELECT max(version), max(description) FILTER (WHERE version = 1) FROM _sqlx_migrations",
    )
    .fetch_one(connection)
    .await?;
    match (newest, first.as_deref()) {
        (None, _) | (_, Some(BASELINE)) => Ok(newest),
        (Some(newest), Some(EARLIER_BASELINE)) => Err(StorageError::EarlierSchema(newest)),
        _ => Err(StorageError::SchemaOfAnother(found.schema)),
    }
}

fn into_storage_error(error: MigrateError) -> StorageError {
    match error {
        MigrateError::Execute(inner) | MigrateError::ExecuteMigration(inner, _) => inner.into(),
        MigrateError::VersionMissing(newest) => StorageError::NewerSchema(newest),
        other => StorageError::Internal(sqlx::Error::Migrate(Box::new(other))),
    }
}
