//! Appends the versions of a file to an existing memory.

use super::contexts::{self, ContextLine};
use super::line::LineError;
use super::memory::MemoryLine;
use crate::domain::ids::{ActorId, ContextId, MemoryId, VaultId};
use crate::domain::memory::Counters;
use crate::domain::{changelog, document};
use crate::storage::database::connection::Connection;
use crate::storage::write::{Prepared, save_locked};
use crate::storage::{Head, NewVersion, Source, Storage};
use chrono::SecondsFormat;

/// Appends versions to a memory whose row is locked.
///
/// If the memory already has a version, by its `context_id`, that version and all earlier ones of the file belong to
/// the memory's past: what was appended of the earlier ones is rolled back. So importing a file repeatedly appends it
/// once, and a newer export of the same memory adds only what is newer.
#[derive(Debug)]
pub(super) struct Append {
    /// The head at the savepoint.
    known: Head,
    /// The head now.
    head: Head,
    /// The highest record numbers used in the file.
    counters: Counters,
    appended: u64,
}

impl Append {
    /// Starts at the memory's head.
    pub(super) async fn begin(
        connection: &mut Connection,
        storage: &Storage,
        vault: &VaultId,
        memory: &MemoryId,
        line: &MemoryLine,
    ) -> Result<Self, LineError> {
        let head = storage.lock_head(connection, vault, memory, &[]).await?;
        sqlx::raw_sql("SAVEPOINT known").execute(connection).await?;
        Ok(Self {
            known: head.clone(),
            head,
            counters: line.counters(),
            appended: 0,
        })
    }

    /// How many versions were appended.
    pub(super) fn appended(&self) -> u64 {
        self.appended
    }

    /// Handles the next version of the file.
    pub(super) async fn context(
        &mut self,
        connection: &mut Connection,
        (vault, memory): (&VaultId, &MemoryId),
        line: ContextLine,
        (context_id, actor): (ContextId, ActorId),
    ) -> Result<(), LineError> {
        match contexts::present(connection, vault, memory, &context_id, &line.context).await? {
            Some(present) if !present.same_text => {
                return Err(LineError::Problem(format!(
                    "context_id: {context_id} is version {} of the memory already, with another text",
                    present.version
                )));
            }
            Some(present) if present.version > self.known.version => {
                return Err(LineError::Problem(format!(
                    "context_id: {context_id} stands twice in the file"
                )));
            }
            Some(_) => return self.go_back(connection).await,
            // Nothing to append: it has no text, or the same text as the head.
            None if line.is_redacted() || line.context == self.head.text => return Ok(()),
            None => {}
        }
        self.head.next_context_id = context_id;
        // Only a file may be blank, and stays a file.
        let source = if document::is_blank(&line.context) {
            Source::Tool
        } else {
            Source::Import
        };
        let mut version = NewVersion::of_text(&self.head, line.context, source, actor);
        version.counters = version.counters.raised_by(&self.counters);
        let made = line.creation_time.to_rfc3339_opts(SecondsFormat::AutoSi, true);
        let changes = changelog::of_text(&self.head.text, &version.text, &version.changes);
        version.log = format!(
            "imported: version {}, made {made} by {}\n{changes}",
            line.version, line.source
        );
        let (text, counters) = (version.text.clone(), version.counters);
        let counted = self.head.counters;
        let prepared = Prepared::new(self.head.clone(), Some(counted), (vault, memory), version);
        save_locked(connection, &prepared).await?;
        self.head.version += 1;
        self.head.context_id = Some(self.head.next_context_id.clone());
        self.head.text = text;
        self.head.counters = counters;
        self.appended += 1;
        Ok(())
    }

    /// Rolls back what was appended: an existing version has shown that it belongs to the past.
    async fn go_back(&mut self, connection: &mut Connection) -> Result<(), LineError> {
        if self.appended > 0 {
            sqlx::raw_sql("ROLLBACK TO SAVEPOINT known")
                .execute(connection)
                .await?;
            self.head = self.known.clone();
            self.appended = 0;
        }
        Ok(())
    }
}
