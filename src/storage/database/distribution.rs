//! Whether the tables are distributed over several nodes (Citus), and how they come to be.
//!
//! What decides is the tables, not whether the extension is there: a database may have it and use it for something else.
//! Each table of vaults is distributed by `vault_id`, beside the rows of the same vault in all others. Keys are on every node,
//! since every request reads them.

use crate::storage::{Class, Storage, StorageError};
use std::collections::BTreeSet;

/// The first table: the others stand beside it.
const FIRST: &str = "memories";

/// Tables of which every node has all rows.
const EVERYWHERE: [&str; 1] = ["api_keys"];

/// How the tables stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distribution {
    /// All on one machine.
    Local,
    /// All by vault.
    ByVault,
    /// Some, as after a distribution that was broken off, or a migration that added a table.
    Partial {
        /// The tables that are not.
        local: Vec<String>,
    },
}

impl Distribution {
    /// Of all tables, some are distributed.
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

/// Tables in the order in which they can be distributed: what others refer to first. `refers` has each table that refers,
/// and to which.
fn in_order(all: &[String], refers: &[(String, String)]) -> Vec<String> {
    let mut ordered: Vec<String> = Vec::with_capacity(all.len());
    let mut rest: Vec<&String> = all.iter().collect();
    // Where the rest is made of circles only, any order is as good.
    while !rest.is_empty() {
        let waits = |table: &str| {
            let to = |(from, to): &(String, String)| from == table && to != table && !ordered.contains(to);
            refers.iter().any(to)
        };
        let next = rest.iter().position(|table| !waits(table)).unwrap_or(0);
        ordered.push(rest.remove(next).clone());
    }
    ordered
}

impl Storage {
    /// How the tables stand.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.distribution.get", skip_all)]
    pub async fn distribution(&self) -> Result<Distribution, StorageError> {
        let distributed = self.distributed_tables().await?;
        let distribution = match distributed.is_empty() {
            true => Distribution::Local,
            false => Distribution::of(&self.tables_of_vaults().await?, &distributed),
        };
        // What is said of a lost node is not to be believed of a single server.
        self.liveness.set_distributed(distribution != Distribution::Local);
        Ok(distribution)
    }

    /// Whether the database has the extension that distributes tables.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.distribution.can", skip_all)]
    pub async fn can_distribute(&self) -> Result<bool, StorageError> {
        Ok(sqlx::query_scalar!(
            r#"SELECT EXISTS (SELECT FROM pg_proc WHERE proname = 'create_distributed_table') AS "exists!""#,
        )
        .fetch_one(&mut *self.reader().await?)
        .await?)
    }

    /// Distributes every table that is not yet, and says which. One after another, each in a transaction of its own: what is
    /// broken off is gone on with by the next call. No service may write meanwhile.
    ///
    /// # Errors
    /// The database's, also if it has no such extension.
    #[tracing::instrument(name = "db.distribution.distribute", skip_all)]
    pub async fn distribute(&self) -> Result<Vec<String>, StorageError> {
        let distributed = self.distributed_tables().await?;
        let refers = sqlx::query!(
            r#"SELECT child.relname::text AS "child!", parent.relname::text AS "parent!"
               FROM pg_constraint
               JOIN pg_class AS child ON child.oid = conrelid
               JOIN pg_class AS parent ON parent.oid = confrelid
               WHERE contype = 'f' AND child.relnamespace = current_schema()::regnamespace"#,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        let refers: Vec<_> = refers.into_iter().map(|row| (row.child, row.parent)).collect();
        let mut all = self.tables_of_vaults().await?;
        // Stable: beside that the order is that of the names.
        all.sort_by_key(|table| (!EVERYWHERE.contains(&table.as_str()), table != FIRST));
        let mut done = Vec::new();
        for table in in_order(&all, &refers) {
            if distributed.contains(&table) {
                continue;
            }
            // Functions of the extension, which the database that queries are checked with has not.
            let statement = if EVERYWHERE.contains(&table.as_str()) {
                sqlx::query("SELECT create_reference_table($1::text::regclass)").bind(&table)
            } else {
                let beside = if table == FIRST { "none" } else { FIRST };
                sqlx::query("SELECT create_distributed_table($1::text::regclass, 'vault_id', colocate_with => $2::text)")
                    .bind(&table)
                    .bind(beside)
            };
            let mut transaction = self.begin_for(Class::Migration).await?;
            statement.execute(&mut *transaction).await?;
            transaction.commit().await?;
            done.push(table);
        }
        Ok(done)
    }

    /// The service's tables that have rows of vaults.
    async fn tables_of_vaults(&self) -> Result<Vec<String>, StorageError> {
        Ok(sqlx::query_scalar!(
            r#"SELECT relname::text AS "name!"
               FROM pg_class
               JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'vault_id' AND NOT attisdropped
               WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace
               ORDER BY relname"#,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?)
    }

    /// The tables that the extension looks after; none where it is not there.
    async fn distributed_tables(&self) -> Result<BTreeSet<String>, StorageError> {
        let there = sqlx::query_scalar!(r#"SELECT to_regclass('pg_dist_partition') IS NOT NULL AS "there!""#)
            .fetch_one(&mut *self.reader().await?)
            .await?;
        if !there {
            return Ok(BTreeSet::new());
        }
        // A table of the extension, which the database that queries are checked with has not.
        let tables: Vec<String> = sqlx::query_scalar(
            "SELECT relname::text FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid
             WHERE relnamespace = current_schema()::regnamespace",
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        Ok(tables.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_tables_decide() {
        let all = names(&["events", "memories"]);
        let of = |distributed: &[&str]| Distribution::of(&all, &names(distributed).into_iter().collect());
        assert_eq!(of(&[]), Distribution::Local);
        // Somebody else's table.
        assert_eq!(of(&["orders"]), Distribution::Local);
        assert_eq!(of(&["events", "memories", "orders"]), Distribution::ByVault);
        let local = names(&["events"]);
        assert_eq!(of(&["memories"]), Distribution::Partial { local });
    }

    #[test]
    fn parents_come_before_their_children() {
        let all = names(&["c", "b", "a", "d"]);
        let refers = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs
                .iter()
                .map(|(from, to)| ((*from).to_owned(), (*to).to_owned()))
                .collect()
        };
        assert_eq!(in_order(&all, &refers(&[])), all);
        let chain = refers(&[("c", "b"), ("b", "a"), ("a", "a"), ("c", "a")]);
        assert_eq!(in_order(&all, &chain), names(&["a", "b", "c", "d"]));
        assert_eq!(in_order(&all, &refers(&[("c", "b"), ("b", "c")])).len(), 4);
    }
}
