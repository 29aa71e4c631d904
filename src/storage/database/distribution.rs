//! Distribution of the tables over several nodes (Citus).
//!
//! Whether the database is distributed depends on the tables, not on the extension: a database may use the extension
//! for something else. Each table with rows of vaults is distributed by `vault_id` and co-located with the others. The
//! table of API keys is replicated to every node, since every request reads it.

use crate::storage::{Class, Storage, StorageError};
use std::collections::BTreeSet;

/// The table that is replicated to every node.
const EVERYWHERE: &str = "api_keys";

/// The first table to distribute; the others are co-located with it.
const FIRST: &str = "memories";

/// The tables that others refer to, in this order before the others.
const REFERRED_TO: [&str; 3] = [EVERYWHERE, FIRST, "memory_roots"];

/// Whether the tables are distributed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distribution {
    /// All tables are local to one server.
    Local,
    /// All tables are distributed by vault.
    ByVault,
    /// Only some are, as after an interrupted distribution or a migration that added a table.
    Partial {
        /// The tables that are not distributed.
        local: Vec<String>,
    },
}

impl Distribution {
    /// The state, given all tables and the distributed ones.
    fn of(all: &[String], distributed: &BTreeSet<String>) -> Self {
        let (there, local): (Vec<String>, Vec<String>) =
            all.iter().cloned().partition(|table| distributed.contains(table));
        match (there.is_empty(), local.is_empty()) {
            (true, _) => Self::Local,
            (_, true) => Self::ByVault,
            _ => Self::Partial { local },
        }
    }
}

impl Storage {
    /// Returns whether the tables are distributed.
    ///
    /// # Errors
    /// Database errors.
    pub async fn distribution(&self) -> Result<Distribution, StorageError> {
        let distributed = self.distributed_tables().await?;
        let distribution = match distributed.is_empty() {
            true => Distribution::Local,
            false => Distribution::of(&self.tables_of_vaults().await?, &distributed),
        };
        // Told to every connection: a single server is not treated like a database that can lose nodes.
        self.liveness.set_distributed(distribution != Distribution::Local);
        Ok(distribution)
    }

    /// Whether one statement may write to several vaults: not in a distributed database, as far as it was looked at.
    pub(in crate::storage) fn crosses_vaults(&self) -> bool {
        !self.liveness.is_distributed()
    }

    /// Whether the database has the extension that distributes tables.
    ///
    /// # Errors
    /// Database errors.
    pub async fn can_distribute(&self) -> Result<bool, StorageError> {
        Ok(sqlx::query_scalar!(
            r#"SELECT EXISTS (SELECT FROM pg_proc WHERE proname = 'create_distributed_table') AS "exists!""#,
        )
        .fetch_one(&mut self.reader().await?)
        .await?)
    }

    /// Distributes every table that is not distributed yet, and returns their names. Each table has its own
    /// transaction, so the next call resumes an interrupted run. No service may write meanwhile.
    ///
    /// # Errors
    /// Database errors, including the missing extension.
    pub async fn distribute(&self) -> Result<Vec<String>, StorageError> {
        let distributed = self.distributed_tables().await?;
        let mut all = self.tables_of_vaults().await?;
        all.sort_by_key(|table| {
            let place = REFERRED_TO.iter().position(|first| first == table);
            place.unwrap_or(REFERRED_TO.len())
        });
        let mut done = Vec::new();
        for table in all {
            if distributed.contains(&table) {
                continue;
            }
            // The statements call functions of the extension, which the database used for checking queries does not
            // have.
            let statement = if table == EVERYWHERE {
                sqlx::query("SELECT create_reference_table($1::text::regclass)").bind(&table)
            } else {
                let beside = if table == FIRST { "none" } else { FIRST };
                sqlx::query("SELECT create_distributed_table($1::text::regclass, 'vault_id', colocate_with => $2::text)")
                    .bind(&table)
                    .bind(beside)
            };
            let mut transaction = self.begin(Class::Migration).await?;
            if table == "events" {
                // Each node has a sequence of its own, whose numbers cannot be compared with those of another.
                sqlx::query(
                    "ALTER TABLE events ALTER COLUMN insert_order
                     SET DEFAULT (extract(epoch FROM statement_timestamp()) * 1000000)::bigint",
                )
                .execute(&mut transaction)
                .await?;
            }
            statement.execute(&mut transaction).await?;
            transaction.commit().await?;
            done.push(table);
        }
        Ok(done)
    }

    /// The service's tables that contain rows of vaults.
    async fn tables_of_vaults(&self) -> Result<Vec<String>, StorageError> {
        Ok(sqlx::query_scalar!(
            r#"SELECT relname::text AS "name!"
               FROM pg_class
               JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'vault_id' AND NOT attisdropped
               WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace
               ORDER BY relname"#,
        )
        .fetch_all(&mut self.reader().await?)
        .await?)
    }

    /// The tables that the extension manages; empty without the extension.
    async fn distributed_tables(&self) -> Result<BTreeSet<String>, StorageError> {
        let there = sqlx::query_scalar!(r#"SELECT to_regclass('pg_dist_partition') IS NOT NULL AS "there!""#)
            .fetch_one(&mut self.reader().await?)
            .await?;
        if !there {
            return Ok(BTreeSet::new());
        }
        // This is a table of the extension, which the database used for checking queries does not have.
        let tables: Vec<String> = sqlx::query_scalar(
            "SELECT relname::text FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid
             WHERE relnamespace = current_schema()::regnamespace",
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(tables.into_iter().collect())
    }
}
