//! The connection pools and [`Storage`]: single statements and transactions; the statement deadlines, one for each class
//! of work; and concurrency limits in front of the pools, so that no vault can use up the connections.
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

use super::connect::{BEGIN_WITHOUT_NAMES, connect_options, pool_options};
use super::connection::Connection;
use super::hosts::Hosts;
use super::liveness::{Liveness, SILENCE, silence};
use super::notification::Notifications;
use super::replica::Replica;
use super::server::{leads_to, server_of};
use crate::clock::Clock;
use crate::fair::{FairSemaphore, Party, Permit, ShareLimits};
use crate::storage::StorageError;
use crate::storage::batcher::Batchers;
use crate::storage::head_cache::{HeadCache, HeadCacheUse};
use crate::storage::search::Searched;
use crate::storage::usage::stored::{KnownUsage, Quotas};
use crate::storage::write::MemoryLocks;
use crate::telemetry::meters;
use futures::future::join_all;
use sqlx::PgPool;
use sqlx::postgres::PgConnectOptions;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::timeout;

/// The database. Cheap to clone.
#[derive(Clone)]
pub struct Storage {
    pub(in crate::storage) pool: PgPool,
    /// The connections of API keys, readiness and event streams.
    own: PgPool,
    /// The concurrency limit of the connections of `pool`.
    connections: FairSemaphore,
    /// That of searches.
    searches: FairSemaphore,
    /// That of the connections of event streams.
    events: FairSemaphore,
    /// The storage quotas of vaults.
    pub(in crate::storage) quotas: Quotas,
    /// How much of them is used.
    pub(in crate::storage) known_usage: KnownUsage,
    pub(in crate::storage) clock: Arc<dyn Clock>,
    /// Whether the database answers.
    pub(in crate::storage) liveness: Arc<Liveness>,
    /// The servers of the database URL.
    pub(in crate::storage) hosts: Arc<Hosts>,
    /// A standby for reads that may be stale.
    pub(in crate::storage) replica: Option<Arc<Replica>>,
    pub(in crate::storage) prepared_statements: bool,
    /// Whether this service has an embedding model, so that indexed text must be embedded too.
    pub(in crate::storage) embeds: bool,
    /// Vaults that are being searched.
    pub(in crate::storage) searched: Arc<Searched>,
    /// Wakes the indexer of this process.
    pub(in crate::storage) written: Arc<Notify>,
    /// Wakes the embedding task of this process.
    pub(in crate::storage) indexed: Arc<Notify>,
    /// The read-through cache of heads.
    pub(in crate::storage) head_cache: Arc<HeadCache>,
    /// The batchers of changes and of reads.
    pub(in crate::storage) batchers: Arc<Batchers>,
    /// The locks of memories for optimistic writes; `None` if versions are not committed in groups.
    pub(in crate::storage) memory_locks: Option<MemoryLocks>,
    /// Notifications of changes, of this instance and others.
    pub(in crate::storage) notifications: Arc<Notifications>,
}

/// The time limit for closing the pool.
const CLOSED_WITHIN: Duration = Duration::from_secs(5);

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
        let set_up = |connections, kept| {
            let (begun, caching) = (liveness.clone(), head_cache.clone());
            let pool = pool_options(&liveness)
                .max_connections(connections)
                .min_connections(kept)
                .acquire_timeout(options.acquire_timeout)
                .after_connect(move |connection, _| {
                    let (liveness, head_cache) = (begun.clone(), caching.clone());
                    Box::pin(async move {
                        match server_of(connection).await {
                            Ok(server) => leads_to(&server, &liveness, &head_cache),
                            // The next statement on it reports the error at once; returning it here would be retried
                            // until the timeout.
                            Err(_) => head_cache.next_epoch(),
                        }
                        Ok(())
                    })
                });
            pool.connect_lazy_with(connect.clone())
        };
        let most = options.max_connections;
        let of_vaults = match most > 2 * OF_THE_SERVICE {
            true => most - OF_THE_SERVICE,
            false => most,
        };
        Ok(Self {
            pool: set_up(most, 0),
            // Kept open, so that requests do not take the last connections of the server from them.
            own: set_up(OWN_CONNECTIONS, OWN_CONNECTIONS),
            connections: limit(of_vaults),
            searches: limit(most / CONNECTIONS_PER_SEARCH),
            events: limit(OWN_CONNECTIONS - 1),
            quotas: Quotas::default(),
            known_usage: KnownUsage::default(),
            liveness,
            hosts: Arc::new(hosts),
            replica: None,
            prepared_statements: options.prepared_statements,
            embeds: false,
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
        for pool in [&self.pool, &self.own] {
            pool.set_connect_options(primary.clone());
        }
        Ok(primary)
    }

    /// Opens the connections of keys and readiness before requests can take the last that the server has, and logs if it has
    /// fewer than this service uses.
    ///
    /// # Errors
    /// Database errors.
    pub async fn reserve_connections(&self) -> Result<(), StorageError> {
        // Fewer are enough.
        drop(join_all((0..OWN_CONNECTIONS).map(|_| self.own.acquire())).await);
        let allowed = sqlx::query_scalar!(
            r#"SELECT LEAST(
                   current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
                   (SELECT NULLIF(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user),
                   (SELECT NULLIF(datconnlimit, -1) FROM pg_database WHERE datname = current_database())
               ) AS "allowed!""#
        )
        .fetch_one(&mut self.primary_reader(Class::Health).await?)
        .await?;
        let used = i64::from(self.most_connections() + OWN_CONNECTIONS + OF_HEARTBEAT);
        if allowed < used {
            tracing::warn!(
                allowed,
                used,
                "the database allows fewer connections than database.max_connections and five more: requests will fail when \
                 it has none left; lower that setting, or raise the limit of the server, the role or the database"
            );
        }
        Ok(())
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
        (self.pool.size(), self.pool.num_idle())
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
        let (closed, own) = (self.pool.close(), self.own.close());
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

impl Class {
    /// The deadline of a statement; `None` means no deadline.
    fn deadline(self) -> Option<Duration> {
        match self {
            // A request has 30 s: a read or a write that takes 10 s is stuck.
            Self::Read | Self::Write | Self::Events => Some(Duration::from_secs(10)),
            Self::Search => Some(Duration::from_secs(30)),
            // An index of a large table, or the pruning of a large vault, takes minutes.
            Self::Maintenance | Self::Sweep => Some(Duration::from_mins(10)),
            Self::Health => Some(SILENCE),
            Self::Migration => None,
        }
    }
}

/// Connections outside the pool, for API keys, readiness and events.
pub const OWN_CONNECTIONS: u32 = 3;

/// The connections of the heartbeat and of its `LISTEN`.
const OF_HEARTBEAT: u32 = 2;

/// Connections reserved for the service, if the pool has more than twice as many: for its batches, of which three run at
/// the same time, and for its work in the background.
const OF_THE_SERVICE: u32 = 5;

/// One search may run for each so many connections: a search keeps a CPU of the database busy, while the other
/// statements mostly wait for a disk or are idle.
const CONNECTIONS_PER_SEARCH: u32 = 8;

/// So many at the same time, fairly between vaults and keys.
fn limit(connections: u32) -> FairSemaphore {
    let connections = usize::try_from(connections).unwrap_or(usize::MAX);
    FairSemaphore::new(ShareLimits::of(connections))
}

/// A pool, and whether its database answers.
pub(super) type LivePool<'d> = (&'d PgPool, &'d Arc<Liveness>);

/// Sets the lock timeout of work that loops over vaults.
const SWEEP_WAITS_FOR: &str = "SET LOCAL lock_timeout = '2s'";

impl Storage {
    /// A connection for reading; waits for the caller's concurrency permit.
    pub(in crate::storage) async fn reader(&self) -> Result<Connection, StorageError> {
        self.reader_for(Class::Read).await
    }

    /// A connection for reading, for this class of work; from the standby if the read may be stale.
    pub(in crate::storage) async fn reader_for(&self, class: Class) -> Result<Connection, StorageError> {
        match self.on_standby(class, false).await {
            Some(reader) => Ok(reader),
            None => self.primary_reader(class).await,
        }
    }

    /// A connection to the primary, for a statement that changes data or a read that must not be stale.
    pub(in crate::storage) async fn primary_reader(&self, class: Class) -> Result<Connection, StorageError> {
        self.on_primary(class, false).await
    }

    /// A transaction for this class of work; on the standby if it only reads and may be stale.
    pub(in crate::storage) async fn begin(&self, class: Class) -> Result<Connection, StorageError> {
        match self.on_standby(class, true).await {
            Some(transaction) => Ok(transaction),
            None => self.on_primary(class, true).await,
        }
    }

    /// A connection to the primary, in a transaction if that is wanted.
    pub(super) async fn on_primary(&self, class: Class, begins: bool) -> Result<Connection, StorageError> {
        let waiting = Instant::now();
        let permit = self.permit(class).await?;
        let pool = match class {
            Class::Events | Class::Health => &self.own,
            _ => &self.pool,
        };
        let mut connection = self.open((pool, &self.liveness), class, permit, begins).await?;
        metrics::histogram!(meters::POOL_WAIT_SECONDS).record(waiting.elapsed());
        if begins && class == Class::Sweep {
            sqlx::raw_sql(SWEEP_WAITS_FOR).execute(&mut connection).await?;
        }
        Ok(connection)
    }

    /// A connection of a pool, in a transaction if that is wanted or if a single statement takes several messages.
    pub(super) async fn open(
        &self,
        pool: LivePool<'_>,
        class: Class,
        permit: Option<Permit>,
        begins: bool,
    ) -> Result<Connection, StorageError> {
        let mut connection = self.acquire(pool, class, permit).await?;
        if !self.prepared_statements {
            connection.begin_with(BEGIN_WITHOUT_NAMES).await?;
        } else if begins {
            connection.begin().await?;
        }
        Ok(connection)
    }

    /// Acquires a connection; fails at once while the database is silent.
    pub(super) async fn acquire(
        &self,
        (pool, liveness): LivePool<'_>,
        class: Class,
        permit: Option<Permit>,
    ) -> Result<Connection, StorageError> {
        liveness.want_beat();
        let waiting = liveness.generation()?;
        // The pool's future takes 14 KiB. Boxed, it does not enlarge every future above it, which are moved many
        // times during a request even if they never use the pool.
        let acquired = Box::pin(pool.acquire());
        let acquired = waiting.given_up().run_until_cancelled(acquired).await;
        let acquired = acquired.ok_or_else(silence)??;
        // A new connection may have shown that another server answers, and so have begun another generation.
        let generation = liveness.generation().unwrap_or(waiting);
        Ok(Connection::new(
            acquired,
            liveness,
            generation,
            class.deadline(),
            permit,
        ))
    }

    pub(super) fn primary(&self) -> LivePool<'_> {
        (&self.pool, &self.liveness)
    }

    /// Waits for the current caller's permit for a connection; `None` for the service itself, and where there is no limit.
    pub(super) async fn permit(&self, class: Class) -> Result<Option<Permit>, StorageError> {
        match class {
            Class::Health => Ok(None),
            Class::Events => self.permit_of(&self.events).await,
            _ => self.permit_of(&self.connections).await,
        }
    }

    /// Waits for the current caller's search permit, before it acquires a connection.
    pub(in crate::storage) async fn search_permit(&self) -> Result<Option<Permit>, StorageError> {
        self.permit_of(&self.searches).await
    }

    async fn permit_of(&self, limit: &FairSemaphore) -> Result<Option<Permit>, StorageError> {
        let party = Party::current();
        if party.is_service() {
            return Ok(None);
        }
        let waits_for = self.pool.options().get_acquire_timeout();
        match timeout(waits_for, limit.acquire(&party, 1)).await {
            Ok(permit) => Ok(Some(permit)),
            Err(_) => Err(sqlx::Error::PoolTimedOut.into()),
        }
    }
}
