//! Work for the database that comes while other work of its kind is under way is gathered and sent together.
//!
//! A statement waits for an answer, and a commit for the disk: one for many costs little more than one for one. So what
//! finds a turn free goes at once and alone; what comes meanwhile goes together afterwards ([`turns`]).
//!
//! **Reads** of newest versions ([`reads`]) share a statement, which begins after each of them was asked for.
//!
//! **Puts** share a transaction. What a put comes to is decided by the request that brings it, before it waits
//! ([`prepared`]), by the newest version as far as the process knows it. The transaction ([`together`]) saves what was
//! decided if that version is still the newest one. While one is under way, others prepare. (Two at once were measured
//! to be no faster: each carries half as many.)
//!
//! - Each is answered only after the commit of its own row, which is as durable as alone.
//! - What one of them does wrong is its own failure. Where a statement for all of them fails, each goes alone.
//! - A transaction for many never waits for the lock of a row, so it cannot stand in a ring of those who wait for each
//!   other. A memory whose row somebody else holds, or that has moved on, goes alone, and so does one that does not
//!   exist yet: alone means that the head is read while its row is locked, and decided by.
//! - Nothing is refused by what the process knows: a put that would be goes alone.
//! - Of one memory there is one put at a time; the next is decided by what it came to.
//!
//! What a put means is decided by one function for both ways; a law holds that they come to the same.
//!
//! What is sent together is of several vaults, which on a distributed database lie on several machines: there all goes
//! alone.

mod prepared;
mod reads;
mod together;
mod turns;
mod writes;

use super::events::Appended;
use super::put::PutJob;
use super::usage::Counts;
use super::{Put, PutError, Storage, StorageError};
use prepared::Prepared;
use reads::Wanted;
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use tokio::sync::{Mutex, OnceCell, OwnedMutexGuard};
use turns::Job;
pub(super) use turns::Turns;
pub(super) use writes::Write;

/// Places that memories share by their hash: many enough that two that are put into at once seldom do, which costs a
/// needless wait.
const PLACES: usize = 1_024;

/// What a put came to; `None` if nothing was done and it has to go alone.
pub(super) type Gathered = Option<Result<Put, PutError>>;

/// Where work waits for company.
#[derive(Debug)]
pub(super) struct Gathering {
    wants_puts: bool,
    puts: Turns<Prepared>,
    reads: Turns<Wanted>,
    pub(super) usage: Turns<Counts>,
    pub(super) events: Turns<Appended>,
    /// Held by the puts of a memory, one after another.
    places: Vec<Arc<Mutex<()>>>,
    hasher: RandomState,
    /// Whether one transaction may write to several vaults.
    crosses_vaults: OnceCell<bool>,
}

impl Gathering {
    /// Where nothing waits yet. Unless `wants_puts`, no put ever does.
    pub(super) fn new(wants_puts: bool) -> Self {
        Self {
            wants_puts,
            puts: Turns::default(),
            reads: Turns::default(),
            usage: Turns::default(),
            events: Turns::default(),
            places: (0..PLACES).map(|_| Arc::default()).collect(),
            hasher: RandomState::new(),
            crosses_vaults: OnceCell::new(),
        }
    }

    /// Waits until nobody else puts into the memory.
    async fn alone(&self, job: &PutJob) -> OwnedMutexGuard<()> {
        let hash = self.hasher.hash_one((&job.vault, &job.memory));
        let place = usize::try_from(hash % PLACES as u64).unwrap_or_default();
        self.places[place].clone().lock_owned().await
    }
}

impl Job for Prepared {
    type Answer = Gathered;

    const MOST_TURNS: usize = 1;

    const MOST_JOBS: usize = 64;

    fn turns(storage: &Storage) -> &Turns<Self> {
        &storage.gathering.puts
    }

    fn bytes(&self) -> usize {
        self.text.len()
    }

    async fn together(storage: &Storage, jobs: Vec<Self>) -> Vec<Gathered> {
        storage.put_together(jobs).await
    }
}

impl Storage {
    /// Puts a text, with others if some come meanwhile.
    pub(super) async fn put_gathered(&self, job: &PutJob) -> Result<Gathered, StorageError> {
        if !self.gathering.wants_puts || !self.crosses_vaults().await? {
            return Ok(None);
        }
        let alone = self.gathering.alone(job).await;
        let Some(put) = self.prepare(job, alone).await? else {
            return Ok(None);
        };
        let came_to = self.in_turn(put).await;
        came_to.ok_or_else(|| unanswered(&"who sent it was given up"))
    }

    /// Whether puts are being committed at the moment.
    #[must_use]
    pub fn is_putting(&self) -> bool {
        self.gathering.puts.are_taken()
    }

    /// How many puts are decided and wait until those before them are committed, for tests.
    #[must_use]
    pub fn puts_waiting(&self) -> usize {
        self.gathering.puts.waiting()
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

/// What each of those is told that were sent together.
fn unanswered(cause: &dyn Display) -> StorageError {
    StorageError::Unavailable(sqlx::Error::Protocol(format!("what was sent together: {cause}")))
}
