//! Connections that do not wait behind all others: for searches, keys, readiness and events.

use crate::fair::Permit;
use crate::storage::database::reader::Reader;
use crate::storage::database::transaction::Transaction;
use crate::storage::{Class, Storage, StorageError};

impl Storage {
    /// Waits for the current party's turn to search, before it is given a connection for it.
    pub(in crate::storage) async fn search_turn(&self) -> Result<Option<Permit>, StorageError> {
        self.lanes.turn(&self.lanes.searches).await
    }

    /// A connection for reading keys, or whether the database answers.
    pub(in crate::storage) async fn own_reader(&self) -> Result<Reader, StorageError> {
        self.reader_of(self.lanes.own(), Class::Health, None).await
    }

    /// A connection for reading events.
    pub(in crate::storage) async fn event_reader(&self) -> Result<Reader, StorageError> {
        let turn = self.lanes.turn(&self.lanes.events).await?;
        self.reader_of(self.lanes.own(), Class::Read, turn).await
    }

    /// A transaction for numbering events.
    pub(in crate::storage) async fn event_writer(&self) -> Result<Transaction, StorageError> {
        let turn = self.lanes.turn(&self.lanes.events).await?;
        self.begin_on(self.lanes.own(), Class::Write, turn).await
    }
}
