//! A connection for one statement at a time.

use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use crate::storage::database::transaction::Transaction;
use std::ops::{Deref, DerefMut};

/// A connection on which each statement is a transaction of its own, or, where that takes several messages, a
/// transaction. What is changed there is rolled back unless it is committed.
pub(in crate::storage) enum Reader {
    Connection(Connection),
    Transaction(Transaction),
}

impl Reader {
    /// Commits what a statement changed, where that did not happen with the statement.
    pub(in crate::storage) async fn commit(self) -> Result<(), StorageError> {
        match self {
            Self::Connection(_) => Ok(()),
            Self::Transaction(transaction) => Ok(transaction.commit().await?),
        }
    }
}

impl Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match self {
            Self::Connection(connection) => connection,
            Self::Transaction(transaction) => transaction,
        }
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut Connection {
        match self {
            Self::Connection(connection) => connection,
            Self::Transaction(transaction) => transaction,
        }
    }
}
