//! The read-through cache of heads: the newest versions of memories, read without asking the database.
//!
//! **Guarantee.** A head is never returned later than [`STALENESS_BOUND`] after the writer of its replacement was
//! answered. On the instance that wrote the replacement it is never returned after that answer.
//!
//! **How it is held.**
//! - A head enters the cache only if it was read from the database, or committed, *after* a [`FillToken`] was taken,
//!   and only if no other change of that memory was published since. So an outdated head is never put back.
//! - A committing writer publishes the change before its caller is answered ([`HeadCache::invalidate`], called by
//!   `Notifications::publish`): the head of the memory is removed, unless it is that very version.
//! - Every commit carries a notification to all instances, including its own. So a commit whose caller was never
//!   answered (the request was cancelled, the connection broke) is published too.
//! - Notifications arrive in commit order as long as the listening connection lives and leads to the server that
//!   accepts writes. Heads are served only while a word that went over the whole path proves this ([`lease`]). A new
//!   listening connection, or another server, clears the cache.
//!
//! The cache is bounded by the bytes of its heads, and chooses what to evict.

mod lease;

use crate::domain::document::{Origins, Run};
use crate::domain::ids::{ContextId, MemoryId, VaultId};
use crate::storage::database::notification::Notification;
use crate::storage::{Context, ContextMetadata};
use lease::InvalidationLease;
pub use lease::STALENESS_BOUND;
use parking_lot::{Mutex, MutexGuard};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(test)]
use std::time::Instant;

/// Number of lock stripes, which memories share by hash. Many, because two busy memories on one stripe cause needless
/// reads.
const STRIPES: usize = 1_024;

/// Bytes that a head costs besides its text: metadata, key and cache entry.
const OVERHEAD: u64 = 512;

/// Expected size of a head, for the initial capacity of the table.
const EXPECTED: u64 = 4_096 + OVERHEAD;

/// The cached heads of this process.
pub(super) struct HeadCache {
    cached: Cache<Key, CachedHead, Bytes>,
    changes: Vec<Mutex<Changes>>,
    hasher: RandomState,
    lease: InvalidationLease,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// Usage of the head cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadCacheUse {
    /// Reads served from the cache since the process started.
    pub hits: u64,
    /// Reads that went to the database.
    pub misses: u64,
    /// Number of cached heads.
    pub heads: usize,
    /// Their size in bytes.
    pub bytes: u64,
}

/// A newest version in the form that its readers and its writer use. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct CachedHead {
    /// The version, without its log.
    pub(super) context: Arc<Context>,
    /// The origins of its lines; `None` if not cached.
    pub(super) origins: Option<Arc<Origins>>,
}

impl CachedHead {
    /// A head to cache, without its log: logs are long, and readers of the newest text do not need them.
    pub(super) fn new((mut context, origins): (Context, Option<Origins>)) -> Self {
        context.metadata.log = String::new();
        Self {
            context: Arc::new(context),
            origins: origins.map(Arc::new),
        }
    }

    fn metadata(&self) -> &ContextMetadata {
        &self.context.metadata
    }

    /// Whether it is already this head, with at least the same additional data.
    fn is(&self, head: &Self) -> bool {
        self.metadata() == head.metadata() && (self.origins.is_some() || head.origins.is_none())
    }

    /// Bytes of its text and of the origins of its lines.
    fn bytes(&self) -> usize {
        let runs = self.origins.as_ref().map_or(0, |origins| origins.runs().len());
        self.context.text.len() + runs * size_of::<Run>()
    }
}

/// The published changes of a stripe's memories.
#[derive(Debug, Default)]
struct Changes {
    count: u64,
    /// The last change: the hash of the memory and the version it created.
    last: Option<(u64, ContextId)>,
}

/// A cache-fill token: the right to cache a head read or written from now on, unless a change is published meanwhile.
#[derive(Debug, Clone, Copy)]
pub(super) struct FillToken {
    hash: u64,
    seen: u64,
    epoch: u64,
}

impl HeadCache {
    /// A cache of `bytes`; 0 disables it.
    pub(super) fn new(bytes: u64) -> Self {
        let about = usize::try_from(bytes / EXPECTED).unwrap_or(usize::MAX);
        Self {
            cached: Cache::with_weighter(about, bytes, Bytes),
            changes: (0..STRIPES).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            lease: InvalidationLease::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// The head of a memory, if it is cached and the lease is valid.
    pub(super) fn get(&self, vault: &VaultId, memory: &MemoryId) -> Option<CachedHead> {
        let found = match self.lease.holds() {
            true => self.cached.get(&Borrowed(vault, memory)),
            false => None,
        };
        let counter = if found.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// Takes a token. Must be called before the head is read from the database, or before the row of a changed memory
    /// is locked.
    pub(super) fn fill_token(&self, vault: &VaultId, memory: &MemoryId) -> FillToken {
        let epoch = self.lease.epoch();
        let hash = self.hasher.hash_one(Borrowed(vault, memory));
        FillToken {
            hash,
            seen: self.stripe(hash).count,
            epoch,
        }
    }

    /// Caches a head that was read after `token` was taken, unless a change was published meanwhile.
    pub(super) fn fill(&self, token: FillToken, head: CachedHead) {
        let metadata = head.metadata();
        let cached = self
            .cached
            .peek(&Borrowed(&metadata.vault_id, &metadata.memory_id));
        if cached.is_some_and(|cached| cached.is(&head)) {
            return;
        }
        let changes = self.stripe(token.hash);
        // A cached head that the database has just shown to be replaced must go in any case.
        let metadata = head.metadata();
        let is_older = |cached: &CachedHead| cached.metadata().version < metadata.version;
        let key = Borrowed(&metadata.vault_id, &metadata.memory_id);
        self.cached.remove_if(&key, is_older);
        if changes.count == token.seen {
            self.insert(token, head);
        }
    }

    /// Caches a head that was written and committed after `token` was taken and the row was locked, unless another
    /// change was published meanwhile. Must be called before the caller of the write is answered.
    pub(super) fn fill_written(&self, token: FillToken, head: CachedHead) {
        let mut changes = self.stripe(token.hash);
        let this = Some((token.hash, head.metadata().context_id.clone()));
        // The notification of this commit may have arrived already.
        let heard_only_this = changes.count == token.seen + 1 && changes.last == this;
        if changes.count == token.seen || heard_only_this {
            // A concurrent reader of an older head must not put it back.
            *changes = Changes {
                count: token.seen + 1,
                last: this,
            };
            if !heard_only_this {
                self.remove(&head);
            }
            self.insert(token, head);
        } else {
            self.remove(&head);
        }
    }

    /// Handles a change of a memory, local or remote.
    pub(super) fn invalidate(&self, change: &Notification) {
        let Notification {
            vault,
            memory,
            version,
            context,
            forget,
            ..
        } = change;
        if version.is_none() && !forget {
            return;
        }
        let key = Borrowed(vault, memory);
        let hash = self.hasher.hash_one(key);
        let mut changes = self.stripe(hash);
        let context = context.as_ref().filter(|_| !forget);
        changes.count += 1;
        changes.last = context.map(|context| (hash, context.clone()));
        let is_other = |head: &CachedHead| Some(&head.metadata().context_id) != context;
        self.cached.remove_if(&key, is_other);
    }

    /// The listening connection is lost or new, or leads to another server: clears the cache, and serves nothing before
    /// the lease is renewed.
    pub(super) fn next_epoch(&self) {
        self.lease.next_epoch();
        for stripe in 0..STRIPES as u64 {
            // A fill holds its stripe's lock. After this loop nothing of an earlier epoch can be filled in.
            drop(self.stripe(stripe));
        }
        self.cached.clear();
    }

    /// The invalidation lease.
    pub(super) fn lease(&self) -> &InvalidationLease {
        &self.lease
    }

    /// Renews the lease: everything answered before `sent` has been received.
    #[cfg(test)]
    fn renew(&self, sent: Instant) {
        self.lease.renew(sent);
    }

    pub(super) fn usage(&self) -> HeadCacheUse {
        HeadCacheUse {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            heads: self.cached.len(),
            bytes: self.cached.weight(),
        }
    }

    fn insert(&self, token: FillToken, head: CachedHead) {
        if self.lease.holds() && self.lease.epoch() == token.epoch {
            let metadata = head.metadata();
            let key = Key(metadata.vault_id.clone(), metadata.memory_id.clone());
            self.cached.insert(key, head);
        }
    }

    fn remove(&self, head: &CachedHead) {
        let metadata = head.metadata();
        self.cached
            .remove(&Borrowed(&metadata.vault_id, &metadata.memory_id));
    }

    fn stripe(&self, hash: u64) -> MutexGuard<'_, Changes> {
        let stripe = usize::try_from(hash % STRIPES as u64).unwrap_or_default();
        self.changes[stripe].lock()
    }
}

/// The key of a cached head.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key(VaultId, MemoryId);

/// The borrowed form of the key, for lookups.
#[derive(Debug, Clone, Copy, Hash)]
struct Borrowed<'a>(&'a VaultId, &'a MemoryId);

impl Equivalent<Key> for Borrowed<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self.0 == key.0 && *self.1 == key.1
    }
}

/// Weighs a head by its bytes.
#[derive(Debug, Clone)]
struct Bytes;

impl std::fmt::Debug for HeadCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HeadCache")
            .field("use", &self.usage())
            .finish_non_exhaustive()
    }
}

impl Weighter<Key, CachedHead> for Bytes {
    fn weight(&self, _: &Key, head: &CachedHead) -> u64 {
        OVERHEAD + head.bytes() as u64
    }
}

#[cfg(test)]
mod tests;
