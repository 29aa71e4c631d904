//! Connections that stay with the turns of a kind, one for each.
//!
//! A connection that goes back to the pool is asked whether it lives, a message more for every statement, and comes
//! back after all the others: at little load each of them would still be planning what it is sent for the first time.

use super::super::pool::BELIEVED_FOR;
use super::super::{Storage, StorageError};
use sqlx::pool::PoolConnection;
use sqlx::{Connection, PgConnection, Postgres};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// For how long a connection stays: the database frees what it has gathered for it.
const STAYS_FOR: Duration = Duration::from_mins(10);

/// The smallest pool of which connections are kept: of all kinds together there are five turns.
const SMALLEST_POOL: u32 = 8;

/// Where the connections of a kind of turns are while nobody uses them.
pub(super) struct Place {
    most: usize,
    kept: Mutex<Vec<Kept>>,
}

struct Kept {
    connection: PoolConnection<Postgres>,
    since: Instant,
    used: Instant,
}

/// A connection on which a statement is a transaction of its own. It goes back to the pool, unless [`Lent::keep`] says
/// that it may be used again at once.
pub(super) struct Lent {
    connection: PoolConnection<Postgres>,
    since: Instant,
}

impl Place {
    /// A place for so many.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            kept: Mutex::default(),
        }
    }

    /// The connection of the last turn, or another; `None` where a statement takes a transaction of several messages.
    pub(super) async fn lend(&self, storage: &Storage) -> Result<Option<Lent>, StorageError> {
        let kept = self.kept().pop();
        if let Some(mut kept) = kept
            && kept.since.elapsed() < STAYS_FOR
            && (kept.used.elapsed() < BELIEVED_FOR || kept.connection.ping().await.is_ok())
        {
            let Kept {
                connection, since, ..
            } = kept;
            return Ok(Some(Lent { connection, since }));
        }
        let connection = storage.autocommit().await?;
        Ok(connection.map(|connection| Lent {
            connection,
            since: Instant::now(),
        }))
    }

    /// Gives the connections back to the pool. Afterwards none is kept of a pool that is closed.
    pub(super) fn clear(&self) {
        self.kept().clear();
    }

    /// How many wait here for the next turn.
    pub(super) fn len(&self) -> usize {
        self.kept().len()
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent {
    /// To be called when all that was sent was answered.
    pub(super) fn keep(self, storage: &Storage, place: &Place) {
        let mut kept = place.kept();
        let is_wanted = kept.len() < place.most && storage.most_connections() >= SMALLEST_POOL;
        if is_wanted && !storage.pool.is_closed() {
            kept.push(Kept {
                connection: self.connection,
                since: self.since,
                used: Instant::now(),
            });
        }
    }
}

impl Deref for Lent {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.len()).finish()
    }
}
