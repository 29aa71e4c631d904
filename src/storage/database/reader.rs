//! A connection for one statement at a time.

use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use crate::storage::database::transaction::Transaction;
use std::ops::{Deref, DerefMut};

/// A connection on which each statement is its own transaction, or a transaction if that takes several messages.
/// Changes are rolled back unless committed.
pub(in crate::storage) enum Reader {
    Connection(Connection),
    Transaction(Transaction),
}

impl Reader {
    /// Commits changes that were not committed with their statement.
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
