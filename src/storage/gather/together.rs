//! Many versions in one statement, and what comes with them.

use super::super::heads::Ticket;
use super::super::record_changes::{self, VersionChanges};
use super::super::{Storage, StorageError, error};
use super::prepared::Prepared;
use super::save_versions::save_versions;
use super::{Gathered, unanswered};
use sqlx::PgConnection;

/// Why versions were not saved.
#[derive(Debug)]
enum NotSaved {
    /// The database refused.
    Refused(StorageError),
    /// It does not say whether they were.
    Unknown(StorageError),
}

impl Storage {
    /// Saves versions of different memories in one transaction that waits for no lock. In their order it tells what
    /// each came to; `None` of one that has to go alone, of which nothing was done.
    #[tracing::instrument(name = "db.memory_contexts.save_together", skip_all, fields(versions = prepared.len()))]
    pub(super) async fn save_together(&self, prepared: Vec<Prepared>) -> Vec<Gathered> {
        let tickets: Vec<Ticket> = prepared
            .iter()
            .map(|version| {
                self.heads
                    .ticket(&version.metadata.vault_id, &version.metadata.memory_id)
            })
            .collect();
        let saved = self.try_save_together(&prepared).await;
        if let Err(NotSaved::Refused(error)) = &saved {
            tracing::debug!(%error, versions = prepared.len(), "versions are saved alone");
        }
        let answer = |(place, (version, ticket)): (usize, (Prepared, Ticket))| match &saved {
            Ok(saved) => saved
                .contains(&place)
                .then(|| Ok(self.was_saved(version, ticket))),
            Err(NotSaved::Refused(_)) => None,
            Err(NotSaved::Unknown(error)) => Some(Err(unanswered(error))),
        };
        let answers = prepared
            .into_iter()
            .zip(tickets)
            .enumerate()
            .map(answer)
            .collect();
        self.written.notify_one();
        answers
    }

    /// The places of those that were saved.
    async fn try_save_together(&self, prepared: &[Prepared]) -> Result<Vec<usize>, NotSaved> {
        let place = &self.gathering.changes.connection;
        let connection = match prepared.iter().all(Prepared::is_whole) {
            true => place.lend(self).await.map_err(NotSaved::Refused)?,
            false => None,
        };
        match connection {
            Some(mut connection) => {
                let saved = save_versions(&mut connection, prepared).await;
                let saved = saved.map_err(NotSaved::of_autocommit)?;
                connection.keep(self, place);
                Ok(saved)
            }
            None => {
                let mut transaction = self.begin().await.map_err(NotSaved::Refused)?;
                let saved = save_all(&mut transaction, prepared).await;
                let saved = saved.map_err(NotSaved::Refused)?;
                let committed = transaction.commit().await;
                committed.map_err(|error| NotSaved::Unknown(error.into()))?;
                Ok(saved)
            }
        }
    }
}

/// Saves versions with what they do to records.
async fn save_all(connection: &mut PgConnection, prepared: &[Prepared]) -> Result<Vec<usize>, StorageError> {
    let saved = save_versions(connection, prepared).await?;
    let versions = saved.iter().map(|&place| &prepared[place]);
    let changes: Vec<VersionChanges<'_>> = versions
        .filter(|version| !version.is_whole())
        .map(|version| version.new.record_changes(&version.metadata))
        .collect();
    record_changes::save(connection, &changes).await?;
    Ok(saved)
}

impl NotSaved {
    /// An error of the statement rolls it back. Any other may have come after the commit.
    fn of_autocommit(error: StorageError) -> Self {
        if error::is_of_a_statement(&error) {
            Self::Refused(error)
        } else {
            Self::Unknown(error)
        }
    }
}
