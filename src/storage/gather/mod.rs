//! Work for the database that comes while other work of its kind is under way is gathered and sent together.
//!
//! A statement waits for an answer, and a commit for the disk: one for many costs little more than one for one. So what
//! finds a turn free goes at once and alone; what comes meanwhile goes together afterwards ([`turns`]).
//!
//! **Reads** of newest versions ([`reads`]) share a statement, which begins after each of them was asked for.
//!
//! **Changes** of memories, puts and what updates come to, share a transaction, which is one statement. What a change
//! comes to is decided by the request that brings it, before it waits ([`prepared`]): a put by the newest version as
//! far as the process knows it, an update by the one it captured. The statement ([`together`], [`save_versions`]) saves
//! what was decided if that version is still the newest one. While one is under way, others prepare. (Two at once were
//! measured to be no faster: each carries half as many.)
//!
//! - Each is answered only after the commit of its own row, which is as durable as alone.
//! - What one of them does wrong is its own failure. Where a statement for all of them fails, each goes alone.
//! - A transaction for many never waits for the lock of a row, so it cannot stand in a ring of those who wait for each
//!   other. A memory whose row somebody else holds, or that has moved on, goes alone, and so does one that does not
//!   exist yet: alone means that the head is read while its row is locked, and decided by.
//! - Nothing is refused by what the process knows: a change that would be goes alone.
//! - Of one memory there is one change at a time; the next put is decided by what it came to.
//!
//! What a change means is decided by one function for both ways; a law holds that they come to the same.
//!
//! **Small writes** ([`writes`]), the steps of updates and what their models cost, share a statement, too: transactions
//! that notify commit one after another.
//!
//! Each kind keeps the connections of its turns ([`kept`]).
//!
//! What is sent together is of several vaults, which on a distributed database lie on several machines: there all goes
//! alone.

mod kept;
mod prepared;
mod reads;
mod save_versions;
mod together;
mod turns;
mod writes;

use super::events::Appended;
use super::put::PutJob;
use super::usage::Counts;
use super::{ContextMetadata, Decision, Head, Outcome, Put, Storage, StorageError};
use crate::domain::ids::{MemoryId, VaultId};
use prepared::Prepared;
use reads::Wanted;
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use tokio::sync::{Mutex, OnceCell, OwnedMutexGuard};
use turns::Job;
pub(super) use turns::Turns;
pub(super) use writes::Write;

/// Places that memories share by their hash: many enough that two that change at once seldom do, which costs a needless
/// wait.
const PLACES: usize = 1_024;

/// What saving a version came to; `None` if nothing was done and it has to go alone.
type Gathered = Option<Result<ContextMetadata, StorageError>>;

/// Where work waits for company.
#[derive(Debug)]
pub(super) struct Gathering {
    wants_changes: bool,
    changes: Turns<Prepared>,
    reads: Turns<Wanted>,
    pub(super) usage: Turns<Counts>,
    pub(super) events: Turns<Appended>,
    /// Held by the changes of a memory, one after another.
    places: Vec<Arc<Mutex<()>>>,
    hasher: RandomState,
    /// Whether one transaction may write to several vaults.
    crosses_vaults: OnceCell<bool>,
}

impl Gathering {
    /// Where nothing waits yet. Unless `wants_changes`, no change ever does.
    pub(super) fn new(wants_changes: bool) -> Self {
        Self {
            wants_changes,
            changes: Turns::default(),
            reads: Turns::default(),
            usage: Turns::default(),
            events: Turns::default(),
            places: (0..PLACES).map(|_| Arc::default()).collect(),
            hasher: RandomState::new(),
            crosses_vaults: OnceCell::new(),
        }
    }

    /// How many connections wait for the next turn.
    pub(super) fn kept_connections(&self) -> usize {
        self.kept().into_iter().map(kept::Place::len).sum()
    }

    /// Gives the connections that are kept back to a pool that is closed.
    pub(super) fn clear(&self) {
        for place in self.kept() {
            place.clear();
        }
    }

    fn kept(&self) -> [&kept::Place; 4] {
        [
            &self.changes.connection,
            &self.reads.connection,
            &self.usage.connection,
            &self.events.connection,
        ]
    }

    /// Waits until nobody else changes the memory so.
    async fn alone(&self, vault: &VaultId, memory: &MemoryId) -> OwnedMutexGuard<()> {
        let hash = self.hasher.hash_one((vault, memory));
        let place = usize::try_from(hash % PLACES as u64).unwrap_or_default();
        self.places[place].clone().lock_owned().await
    }
}

impl Job for Prepared {
    type Answer = Gathered;

    const MOST_TURNS: usize = 1;

    const MOST_JOBS: usize = 64;

    fn turns(storage: &Storage) -> &Turns<Self> {
        &storage.gathering.changes
    }

    fn bytes(&self) -> usize {
        Prepared::bytes(self)
    }

    async fn together(storage: &Storage, jobs: Vec<Self>) -> Vec<Gathered> {
        storage.save_together(jobs).await
    }
}

impl Storage {
    /// Puts a text, with others if some come meanwhile; `None` if nothing was done and it has to go alone.
    pub(super) async fn put_gathered(&self, job: &PutJob) -> Result<Option<Put>, StorageError> {
        if !self.gathers().await? {
            return Ok(None);
        }
        let alone = self.gathering.alone(&job.vault, &job.memory).await;
        let Some((put, lost)) = self.prepare(job, alone).await? else {
            return Ok(None);
        };
        let saved = self.save_in_turn(put).await?;
        Ok(saved.map(|saved| Put::Created(saved, lost)))
    }

    /// Saves what was decided by a head that may not be the newest one any more, with others if some come meanwhile;
    /// `None` if nothing was done and it has to be decided anew.
    pub(super) async fn save_gathered<T, E>(
        &self,
        (vault, memory): (&VaultId, &MemoryId),
        head: Head,
        decided: Result<Decision<T>, E>,
    ) -> Result<Option<Outcome<T>>, StorageError> {
        let Ok(Decision::Save(new, result)) = decided else {
            return Ok(None);
        };
        let alone = self.gathering.alone(vault, memory).await;
        let counted = Some(head.counters);
        let Some(prepared) = Prepared::over(head, counted, (vault, memory), *new, alone) else {
            return Ok(None);
        };
        let saved = self.save_in_turn(prepared).await?;
        Ok(saved.map(|saved| Outcome {
            saved: Some(saved),
            result,
        }))
    }

    async fn save_in_turn(&self, prepared: Prepared) -> Result<Option<ContextMetadata>, StorageError> {
        self.in_turn(prepared).await.ok_or_else(given_up)?.transpose()
    }

    /// Whether changes are sent together here.
    pub(super) async fn gathers(&self) -> Result<bool, StorageError> {
        Ok(self.gathering.wants_changes && self.crosses_vaults().await?)
    }

    /// Whether changes are being committed at the moment.
    #[must_use]
    pub fn is_saving(&self) -> bool {
        self.gathering.changes.are_taken()
    }

    /// How many changes are decided and wait until those before them are committed, for tests.
    #[must_use]
    pub fn changes_waiting(&self) -> usize {
        self.gathering.changes.waiting()
    }

    /// Whether one transaction may write to several vaults: not where the database distributes them.
    pub(super) async fn crosses_vaults(&self) -> Result<bool, StorageError> {
        let crosses = self.gathering.crosses_vaults.get_or_try_init(|| async {
            let found =
                sqlx::query_scalar!(r#"SELECT 1 AS "found!" FROM pg_extension WHERE extname = 'citus'"#)
                    .fetch_optional(&mut *self.reader().await?)
                    .await?;
            Ok::<_, StorageError>(found.is_none())
        });
        crosses.await.copied()
    }
}

/// What is told of a job whose turn was given up.
fn given_up() -> StorageError {
    unanswered(&"who sent it was given up")
}

/// What each of those is told that were sent together.
fn unanswered(cause: &dyn Display) -> StorageError {
    StorageError::Unavailable(sqlx::Error::Protocol(format!("what was sent together: {cause}")))
}
