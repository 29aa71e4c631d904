//! A transaction whose statements, beginning and end have deadlines.

use super::connection::Connection;
use sqlx::{Error, SqlSafeStr as _, SqlStr};
use std::ops::{Deref, DerefMut};
use tokio::runtime::Handle;

/// Rolled back when it is dropped without having ended.
#[derive(Debug)]
pub(super) struct Transaction {
    /// Taken where it ends.
    connection: Option<Connection>,
}

impl Transaction {
    /// Begins one with `statement`, or with a plain `BEGIN`. To be awaited to its end: nobody would end what was begun.
    pub(super) async fn begin(mut connection: Connection, statement: Option<SqlStr>) -> Result<Self, Error> {
        let statement = statement.unwrap_or_else(|| "BEGIN".into_sql_str());
        sqlx::raw_sql(statement).execute(&mut connection).await?;
        Ok(Self {
            connection: Some(connection),
        })
    }

    /// Commits it. Where that fails without the database having said so, it is unknown whether it was committed.
    pub(super) async fn commit(mut self) -> Result<(), Error> {
        sqlx::raw_sql("COMMIT").execute(&mut *self).await?;
        self.connection = None;
        Ok(())
    }

    /// Undoes what was done in it.
    pub(super) async fn rollback(mut self) -> Result<(), Error> {
        sqlx::raw_sql("ROLLBACK").execute(&mut *self).await?;
        self.connection = None;
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(mut connection) = self.connection.take()
            && connection.is_current()
            && let Ok(runtime) = Handle::try_current()
        {
            // One that cannot be undone is not used again.
            runtime.spawn(async move { sqlx::raw_sql("ROLLBACK").execute(&mut connection).await });
        }
    }
}

const TAKEN: &str = "taken where the transaction ends";

impl Deref for Transaction {
    type Target = Connection;

    #[expect(clippy::expect_used, reason = "it is there until the transaction ends")]
    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect(TAKEN)
    }
}

impl DerefMut for Transaction {
    #[expect(clippy::expect_used, reason = "it is there until the transaction ends")]
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect(TAKEN)
    }
}
