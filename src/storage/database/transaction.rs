//! A transaction whose statements, beginning and end have deadlines.

use crate::storage::database::connection::Connection;
use sqlx::{Error, SqlSafeStr as _, SqlStr};
use std::ops::{Deref, DerefMut};

/// Rolled back when it is dropped without having ended.
#[derive(Debug)]
pub(in crate::storage) struct Transaction {
    connection: Connection,
}

impl Transaction {
    /// Begins one with `statement`, or with a plain `BEGIN`. To be awaited to its end: nobody would end what was begun.
    pub(in crate::storage) async fn begin(
        mut connection: Connection,
        statement: Option<SqlStr>,
    ) -> Result<Self, Error> {
        let statement = statement.unwrap_or_else(|| "BEGIN".into_sql_str());
        connection.begins_transaction();
        sqlx::raw_sql(statement).execute(&mut connection).await?;
        Ok(Self { connection })
    }

    /// Commits it. Where that fails without the database having said so, it is unknown whether it was committed.
    pub(in crate::storage) async fn commit(self) -> Result<(), Error> {
        self.commit_and_keep().await.map(drop)
    }

    /// As [`commit`](Self::commit); its connection is for what comes next.
    pub(in crate::storage) async fn commit_and_keep(mut self) -> Result<Connection, Error> {
        sqlx::raw_sql("COMMIT").execute(&mut self.connection).await?;
        self.connection.ended_transaction();
        Ok(self.connection)
    }

    /// Undoes what was done in it.
    pub(in crate::storage) async fn rollback(mut self) -> Result<(), Error> {
        sqlx::raw_sql("ROLLBACK").execute(&mut self.connection).await?;
        self.connection.ended_transaction();
        Ok(())
    }
}

impl Deref for Transaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
