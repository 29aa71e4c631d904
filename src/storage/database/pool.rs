//! The connection pool and [`Storage`]; the statement deadlines, one for each class of work; and concurrency limits in front of
//! the pool, so that no vault can use up the connections.
//!
//! - The client enforces the deadline, so the wait also ends if the server or the network is silent. The connection of an
//!   abandoned statement is closed. The outcome of an abandoned commit is unknown. A server that answers may cancel a
//!   statement earlier, as its `statement_timeout` says.
//! - A vault holds at most half of the pool's connections, an API key three quarters. Waiting callers are served in
//!   rotation by vault.
//! - Searches, each of which keeps a CPU of the database busy, have a low limit, and a lower one for each vault.
//! - API keys, readiness and event streams have their own connections: authentication does not wait for other requests.
//!
//! Some connections are reserved for the service's own work (batches, indexing, retention).

use super::connect::{connect_options, is_usable};
use super::hosts::Hosts;
use super::liveness::Liveness;
use super::notification::Notifications;
use super::replica::Replica;
use super::server::{leads_to, server_of};
use crate::clock::Clock;
use crate::fair::{FairSemaphore, Party, Permit, ShareLimits};
use crate::storage::StorageError;
use crate::storage::batcher::Batchers;
use crate::storage::head_cache::{HeadCache, HeadCacheUse};
use crate::storage::search::{FrequentWords, Searched};
use crate::storage::usage::stored::{Quotas, Room};
use crate::storage::write::MemoryLocks;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The database. Cheap to clone.
#[derive(Clone)]
pub struct Storage {
    pub(in crate::storage) pool: PgPool,
    /// Concurrency limits of the connections.
    pub(in crate::storage) lanes: Lanes,
    /// The storage quota of vaults.
    pub(in crate::storage) room: Arc<Room>,
    pub(in crate::storage) clock: Arc<dyn Clock>,
    /// Statement deadlines.
    pub(in crate::storage) deadlines: Deadlines,
    /// Whether the database answers.
    pub(in crate::storage) liveness: Arc<Liveness>,
    /// The servers of the database URL.
    pub(in crate::storage) hosts: Arc<Hosts>,
    /// A standby for reads that may be stale.
    pub(in crate::storage) replica: Option<Arc<Replica>>,
    pub(in crate::storage) prepared_statements: bool,
    /// Whether this service has an embedding model, so that indexed text must be embedded too.
    pub(in crate::storage) embeds: bool,
    /// Words that occur in many documents, by vault.
    pub(in crate::storage) frequent_words: Arc<FrequentWords>,
    /// Vaults that are being searched.
    pub(in crate::storage) searched: Arc<Searched>,
    /// Wakes the indexer of this process.
    pub(in crate::storage) written: Arc<Notify>,
    /// Wakes the embedding task of this process.
    pub(in crate::storage) indexed: Arc<Notify>,
    /// The read-through cache of heads.
    pub(in crate::storage) head_cache: Arc<HeadCache>,
    /// The batchers of changes, reads and small writes.
    pub(in crate::storage) batchers: Arc<Batchers>,
    /// The locks of memories for optimistic writes; `None` if versions are not committed in groups.
    pub(in crate::storage) memory_locks: Option<MemoryLocks>,
    /// Notifications of changes, of this instance and others.
    pub(in crate::storage) notifications: Arc<Notifications>,
}

/// The time limit for closing the pool.
const CLOSED_WITHIN: Duration = Duration::from_secs(5);

/// Connections belong to the current generation and to one server, and idle ones are checked before reuse.
fn pool_options(
    options: &PoolOptions,
    liveness: &Arc<Liveness>,
    head_cache: &Arc<HeadCache>,
) -> PgPoolOptions {
    let (begun, asked, head_cache) = (liveness.clone(), liveness.clone(), head_cache.clone());
    let silence_after = options.deadlines.silence;
    PgPoolOptions::new()
        .max_connections(options.max_connections)
        .acquire_timeout(options.acquire_timeout)
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            let (liveness, head_cache) = (begun.clone(), head_cache.clone());
            Box::pin(async move {
                match server_of(connection).await {
                    Ok(server) => leads_to(&server, &liveness, &head_cache, silence_after),
                    // The next statement on it reports the error at once; returning it here would be retried until the
                    // timeout.
                    Err(_) => head_cache.next_epoch(),
                }
                Ok(())
            })
        })
        .before_acquire(move |connection, about| {
            let liveness = asked.clone();
            Box::pin(async move { is_usable(connection, &about, &liveness, silence_after).await })
        })
}

impl Storage {
    /// A pool that connects at first use, so that the service starts even if the database is briefly unavailable.
    ///
    /// # Errors
    /// An invalid URL.
    pub fn connect_lazy(options: &PoolOptions, clock: Arc<dyn Clock>) -> Result<Self, StorageError> {
        let hosts = Hosts::parse(&options.url)?;
        let connect = connect_options(hosts.first(), options.prepared_statements);
        let head_cache = Arc::new(HeadCache::new(options.head_cache_bytes));
        let liveness = Arc::new(Liveness::default());
        let set_up = || pool_options(options, &liveness, &head_cache);
        let pool = set_up().connect_lazy_with(connect.clone());
        let own = set_up()
            .max_connections(OWN_CONNECTIONS)
            .connect_lazy_with(connect);
        Ok(Self {
            lanes: Lanes::new(options, own),
            room: Arc::new(Room::new(Quotas::default())),
            pool,
            deadlines: options.deadlines,
            liveness,
            hosts: Arc::new(hosts),
            replica: None,
            prepared_statements: options.prepared_statements,
            embeds: false,
            frequent_words: Arc::default(),
            searched: Arc::default(),
            written: Arc::default(),
            indexed: Arc::default(),
            notifications: Arc::new(Notifications::new(head_cache.clone())),
            clock,
            head_cache,
            batchers: Arc::default(),
            memory_locks: options.gather_puts.then(MemoryLocks::default),
        })
    }

    /// Sets whether the service has an embedding model.
    #[must_use]
    pub fn embedding(mut self, embeds: bool) -> Self {
        self.embeds = embeds;
        self
    }

    /// A pool that connects to the server that accepts writes, if the URL names several.
    ///
    /// # Errors
    /// An invalid URL, or none of several servers accepts writes.
    pub async fn connect(options: &PoolOptions, clock: Arc<dyn Clock>) -> Result<Self, StorageError> {
        let storage = Self::connect_lazy(options, clock)?;
        storage.find_primary().await?;
        Ok(storage)
    }

    /// Finds the server that accepts writes, and makes the pools connect to it from now on.
    pub(in crate::storage) async fn find_primary(&self) -> Result<PgConnectOptions, StorageError> {
        let primary = connect_options(self.hosts.primary().await?, self.prepared_statements);
        for pool in [&self.pool, self.lanes.own()] {
            pool.set_connect_options(primary.clone());
        }
        Ok(primary)
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`] if it does not.
    pub async fn ping(&self) -> Result<(), StorageError> {
        sqlx::query_scalar!(r#"SELECT 1 AS "one!""#)
            .fetch_one(&mut self.reader_for(Class::Health).await?)
            .await?;
        Ok(())
    }

    /// The current time, by the clock used for all rows.
    #[must_use]
    pub fn now(&self) -> chrono::DateTime<chrono::Utc> {
        self.clock.now()
    }

    /// The numbers of connections in use and open, for the metrics.
    #[must_use]
    pub fn pool_size(&self) -> (u32, usize) {
        let idle = self.pool.num_idle() + self.batchers.idle_connections();
        (self.pool.size(), idle)
    }

    /// The maximum number of connections, for the metrics.
    #[must_use]
    pub fn most_connections(&self) -> u32 {
        self.pool.options().get_max_connections()
    }

    /// Usage of the head cache, for the metrics.
    #[must_use]
    pub fn head_cache(&self) -> HeadCacheUse {
        self.head_cache.usage()
    }

    /// The pool itself, for tests that inspect rows.
    #[must_use]
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Closes all connections. After a time limit, connections that are still busy are abandoned.
    pub async fn close(&self) {
        let (closed, own) = (self.pool.close(), self.lanes.own().close());
        self.batchers.clear();
        let closed = async { tokio::join!(closed, own, self.close_replica()) };
        if timeout(CLOSED_WITHIN, closed).await.is_err() {
            tracing::warn!("connections to the database did not end and are left behind");
        }
    }
}

/// How long a request waits for a connection before it fails: a queue that is longer than this does not get shorter.
pub const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// The configuration of the pool.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// A PostgreSQL URL.
    pub url: String,
    /// Maximum number of connections.
    pub max_connections: u32,
    /// Whether prepared statements are named and cached; see `database.prepared_statements`.
    pub prepared_statements: bool,
    /// How long a request waits for a connection before it fails with 503.
    pub acquire_timeout: Duration,
    /// Statement deadlines.
    pub deadlines: Deadlines,
    /// The size of the head cache in bytes; 0 disables it.
    pub head_cache_bytes: u64,
    /// Whether changes that arrive while another is being committed are committed together.
    pub gather_puts: bool,
}

/// The class of work that a statement belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// A request that reads a memory or a list.
    Read,
    /// A request that changes data; also commits.
    Write,
    /// Full-text search, blame and other reads that may scan many rows.
    Search,
    /// Work that no request waits for: export and import, rebuilding.
    Maintenance,
    /// Maintenance that loops over vaults. Its transactions fail if another session holds a row lock for long, and the
    /// work goes on with other vaults.
    Sweep,
    /// Events, which have connections of their own.
    Events,
    /// API keys and health checks, which must fail soon and have connections of their own.
    Health,
    /// Schema changes, which have no deadline.
    Migration,
}

/// The deadline of a statement of each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Of [`Class::Read`] and [`Class::Events`].
    pub read: Duration,
    /// Of [`Class::Write`].
    pub write: Duration,
    /// Of [`Class::Search`].
    pub search: Duration,
    /// Of [`Class::Maintenance`] and [`Class::Sweep`].
    pub maintenance: Duration,
    /// Of [`Class::Health`]; also how long the database may be silent before everything that waits for it fails.
    pub silence: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            // A request has 30 s: a read or a write that takes 10 s is stuck.
            read: Duration::from_secs(10),
            write: Duration::from_secs(10),
            search: Duration::from_secs(30),
            // An index of a large table, or the pruning of a large vault, takes minutes.
            maintenance: Duration::from_mins(10),
            // Eight heartbeats: shorter would take a pause of the network for an outage.
            silence: Duration::from_secs(2),
        }
    }
}

impl Deadlines {
    /// The deadline of a statement of this class; `None` means no deadline.
    #[must_use]
    pub fn of(&self, class: Class) -> Option<Duration> {
        match class {
            Class::Read | Class::Events => Some(self.read),
            Class::Write => Some(self.write),
            Class::Search => Some(self.search),
            Class::Maintenance | Class::Sweep => Some(self.maintenance),
            Class::Health => Some(self.silence),
            Class::Migration => None,
        }
    }
}

/// Connections outside the pool, for API keys, readiness and events.
pub const OWN_CONNECTIONS: u32 = 3;

/// Connections reserved for the service, if the pool has more than twice as many: the batchers run at most this many
/// batches at the same time.
const OF_THE_SERVICE: u32 = 5;

/// One search may run for each so many connections: a search keeps a CPU of the database busy, while the other
/// statements mostly wait for a disk or are idle.
const CONNECTIONS_PER_SEARCH: u32 = 8;

/// The concurrency limits of the connections.
#[derive(Debug, Clone)]
pub(in crate::storage) struct Lanes {
    connections: FairSemaphore,
    searches: FairSemaphore,
    events: FairSemaphore,
    own: PgPool,
    acquire_timeout: Duration,
}

impl Lanes {
    pub(in crate::storage) fn new(options: &PoolOptions, own: PgPool) -> Self {
        let most = options.max_connections;
        let of_vaults = if most > 2 * OF_THE_SERVICE {
            most - OF_THE_SERVICE
        } else {
            most
        };
        let gate = |connections: u32| {
            FairSemaphore::new(ShareLimits::of(
                usize::try_from(connections).unwrap_or(usize::MAX),
            ))
        };
        Self {
            connections: gate(of_vaults),
            searches: gate(most / CONNECTIONS_PER_SEARCH),
            events: gate(OWN_CONNECTIONS - 1),
            own,
            acquire_timeout: options.acquire_timeout,
        }
    }

    /// The pool for a class of work, and the limit of its connections.
    pub(super) fn of<'p>(
        &'p self,
        class: Class,
        requests: &'p PgPool,
    ) -> (&'p PgPool, Option<&'p FairSemaphore>) {
        match class {
            Class::Events => (&self.own, Some(&self.events)),
            Class::Health => (&self.own, None),
            _ => (requests, Some(&self.connections)),
        }
    }

    /// Waits for the current caller's permit; `None` for the service itself.
    pub(super) async fn acquire(&self, gate: &FairSemaphore) -> Result<Option<Permit>, StorageError> {
        let party = Party::current();
        if party.is_service() {
            return Ok(None);
        }
        match tokio::time::timeout(self.acquire_timeout, gate.acquire(&party, 1)).await {
            Ok(permit) => Ok(Some(permit)),
            Err(_) => Err(sqlx::Error::PoolTimedOut.into()),
        }
    }

    pub(in crate::storage) fn own(&self) -> &PgPool {
        &self.own
    }
}

impl Storage {
    /// Waits for the current caller's search permit, before it acquires a connection.
    pub(in crate::storage) async fn search_permit(&self) -> Result<Option<Permit>, StorageError> {
        self.lanes.acquire(&self.lanes.searches).await
    }
}
