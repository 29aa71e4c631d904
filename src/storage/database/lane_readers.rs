//! Connections with limits of their own: for searches, API keys, readiness and events.

use crate::fair::Permit;
use crate::storage::database::reader::Reader;
use crate::storage::database::transaction::Transaction;
use crate::storage::{Class, Storage, StorageError};

impl Storage {
    /// Waits for the current caller's search permit, before it acquires a connection.
    pub(in crate::storage) async fn search_permit(&self) -> Result<Option<Permit>, StorageError> {
        self.lanes.acquire(&self.lanes.searches).await
    }

    /// A connection for reading API keys or for checking whether the database answers.
    pub(in crate::storage) async fn own_reader(&self) -> Result<Reader, StorageError> {
        self.reader_of(self.lanes.own(), Class::Health, None).await
    }

    /// A connection for reading events.
    pub(in crate::storage) async fn event_reader(&self) -> Result<Reader, StorageError> {
        let permit = self.lanes.acquire(&self.lanes.events).await?;
        self.reader_of(self.lanes.own(), Class::Read, permit).await
    }

    /// A transaction for numbering events.
    pub(in crate::storage) async fn event_writer(&self) -> Result<Transaction, StorageError> {
        let permit = self.lanes.acquire(&self.lanes.events).await?;
        self.begin_on(self.lanes.own(), Class::Write, permit).await
    }
}
