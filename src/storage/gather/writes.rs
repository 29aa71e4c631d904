//! Small writes of many, in one statement.

use super::super::{Storage, StorageError, error};
use super::turns::{Job, Turns};
use super::{Gathering, given_up, unanswered};
use sqlx::PgConnection;
use std::slice::from_ref;

/// Something that is written for many by one statement.
pub(in crate::storage) trait Write: Sized + Send + Sync + 'static {
    /// The turns of its kind.
    fn turns(gathering: &Gathering) -> &Turns<Self>;

    /// Writes all of them, or none, in one statement.
    fn write(
        connection: &mut PgConnection,
        all: &[Self],
    ) -> impl Future<Output = Result<(), StorageError>> + Send;

    /// What is done when they are written, before who sent them is answered.
    fn written(_storage: &Storage, _all: &[Self]) {}
}

impl<W: Write> Job for W {
    type Answer = Result<(), StorageError>;

    const MOST_TURNS: usize = 1;

    const MOST_JOBS: usize = 64;

    fn turns(storage: &Storage) -> &Turns<Self> {
        W::turns(&storage.gathering)
    }

    fn bytes(&self) -> usize {
        0
    }

    async fn together(storage: &Storage, jobs: Vec<Self>) -> Vec<Self::Answer> {
        let all = storage.write_together(&jobs).await;
        if let [_] = &*jobs {
            return vec![all];
        }
        match all {
            Ok(()) => jobs.iter().map(|_| Ok(())).collect(),
            // What one of them does wrong is its own failure.
            Err(error) if error::is_of_a_statement(&error) => {
                let mut written = Vec::with_capacity(jobs.len());
                for job in &jobs {
                    written.push(storage.write_together(from_ref(job)).await);
                }
                written
            }
            Err(error) => jobs.iter().map(|_| Err(unanswered(&error))).collect(),
        }
    }
}

impl Storage {
    /// Writes something, with others of its kind if some come meanwhile.
    pub(in crate::storage) async fn write_gathered<W: Write>(&self, write: W) -> Result<(), StorageError> {
        if !self.crosses_vaults().await? {
            return self.write_together(&[write]).await;
        }
        self.in_turn(write).await.ok_or_else(given_up)?
    }

    async fn write_together<W: Write>(&self, all: &[W]) -> Result<(), StorageError> {
        let place = &W::turns(&self.gathering).connection;
        if let Some(mut connection) = place.lend(self).await? {
            W::write(&mut connection, all).await?;
            connection.keep(self, place);
        } else {
            let mut transaction = self.begin().await?;
            W::write(&mut transaction, all).await?;
            transaction.commit().await?;
        }
        W::written(self, all);
        Ok(())
    }
}
