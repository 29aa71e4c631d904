//! The read-through cache of heads: the newest versions of memories, which are read without asking the database.
//!
//! **What holds.** Nobody is given a head that another version had replaced, and whose writer had been answered, more
//! than [`STALENESS_BOUND`] before; on the instance that made the other version, not even a moment before.
//!
//! **Why it holds.**
//! - A head is put in only by somebody who read it from the database, or made and committed it, *after* taking a
//!   [`FillToken`], and only if no other change of that memory was told since. So what was overtaken by a write never
//!   comes back.
//! - Who commits a change tells of it before its writer is answered ([`HeadCache::invalidate`], by way of
//!   `Notifications::publish`): the memory's head is forgotten, unless it is that very version.
//! - Every commit is told to all instances, this one included, by the notification that it carries. So a commit
//!   whose writer was never answered (the request was given up, the connection broke) is told too.
//! - Notifications reach an instance in the order of the commits for as long as its listening connection lives, and
//!   leads to the server that is written to. Heads are served only while that is proven by a word that took the whole
//!   way ([`lease`]); with a new listening connection, or another server, all of them are forgotten.
//!
//! Heads are bounded by their bytes, as they are held ([`packed`]); which of them stay is the cache's choice.

mod cached_head;
mod known_records;
mod lease;
mod packed;

use crate::domain::ids::{ContextId, MemoryId, VaultId};
use crate::storage::database::notification::Notification;
pub(super) use cached_head::CachedHead;
use lease::InvalidationLease;
pub use lease::STALENESS_BOUND;
use packed::PackedHead;
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(test)]
use std::time::Instant;

/// Lock stripes that memories share by their hash: so many that two busy ones seldom do, which costs a needless read.
const STRIPES: usize = 1_024;

/// What a head costs besides its text: its metadata, its key and its entry in the cache, in bytes.
const OVERHEAD: u64 = 512;

/// The size that is expected of a head, for the first size of the table.
const EXPECTED: u64 = 2_048 + OVERHEAD;

/// The heads that one process keeps.
pub(super) struct HeadCache {
    cached: Cache<Key, PackedHead, Bytes>,
    changes: Vec<Mutex<Changes>>,
    hasher: RandomState,
    lease: InvalidationLease,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// How the heads of a process are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadCacheUse {
    /// Readings that did not ask the database, since the process started.
    pub hits: u64,
    /// Readings that did.
    pub misses: u64,
    /// Heads that are kept.
    pub heads: usize,
    /// What they weigh.
    pub bytes: u64,
}

/// The changes published of the memories of a stripe.
#[derive(Debug, Default)]
struct Changes {
    count: u64,
    /// The memory, by its hash, and the version that the last change made.
    last: Option<(u64, ContextId)>,
}

/// The right to put in what is read, or made, from now on.
#[derive(Debug, Clone, Copy)]
pub(super) struct FillToken {
    hash: u64,
    seen: u64,
    epoch: u64,
}

impl HeadCache {
    /// Keeps heads of `bytes` in all; of 0, none.
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

    /// The head of a memory, if it is kept and the instance hears of changes.
    pub(super) fn get(&self, vault: &VaultId, memory: &MemoryId) -> Option<CachedHead> {
        let found = match self.lease.holds() {
            true => self.cached.get(&Borrowed(vault, memory)),
            false => None,
        };
        let found = found.and_then(PackedHead::unpack);
        let counter = if found.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// The head of a memory if it is this version; not counted as a reading.
    pub(super) fn peek(&self, vault: &VaultId, memory: &MemoryId, version: i64) -> Option<CachedHead> {
        let found = self.cached.peek(&Borrowed(vault, memory))?;
        let is_it = self.lease.holds() && found.metadata().version == version;
        is_it.then(|| found.unpack()).flatten()
    }

    /// To be taken before the head is read from the database, or before the row of a memory that is changed is locked.
    pub(super) fn fill_token(&self, vault: &VaultId, memory: &MemoryId) -> FillToken {
        let epoch = self.lease.epoch();
        let hash = self.hasher.hash_one(Borrowed(vault, memory));
        FillToken {
            hash,
            seen: self.stripe(hash).count,
            epoch,
        }
    }

    /// Puts in a head that was read after `token` was taken, unless a change was told meanwhile.
    pub(super) fn fill(&self, token: FillToken, head: CachedHead) {
        let metadata = &head.context.metadata;
        let cached = self
            .cached
            .peek(&Borrowed(&metadata.vault_id, &metadata.memory_id));
        if cached.is_some_and(|cached| cached.is(&head)) {
            return;
        }
        let head = PackedHead::pack(head);
        let changes = self.stripe(token.hash);
        // Whatever is cached, what the database has just shown to be replaced is not the newest.
        let metadata = head.metadata();
        let is_older = |cached: &PackedHead| cached.metadata().version < metadata.version;
        let key = Borrowed(&metadata.vault_id, &metadata.memory_id);
        self.cached.remove_if(&key, is_older);
        if changes.count == token.seen {
            self.insert(token, head);
        }
    }

    /// Puts in a head that was made and committed by who took `token` before the memory's row was locked, unless
    /// another change was told meanwhile. To be called before its writer is answered.
    pub(super) fn fill_written(&self, token: FillToken, head: CachedHead) {
        let head = PackedHead::pack(head);
        let mut changes = self.stripe(token.hash);
        let this = Some((token.hash, head.metadata().context_id.clone()));
        // The commit may have been heard of already.
        let heard_only_this = changes.count == token.seen + 1 && changes.last == this;
        if changes.count == token.seen || heard_only_this {
            // Who read an older one must not put it back.
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

    /// A change of a memory, here or elsewhere.
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
        let is_other = |head: &PackedHead| Some(&head.metadata().context_id) != context;
        self.cached.remove_if(&key, is_other);
    }

    /// A listening connection begins, or another server is written to: what was cached before counts no more, and
    /// nothing is served before the lease is renewed.
    pub(super) fn next_epoch(&self) {
        self.lease.next_epoch();
        for stripe in 0..STRIPES as u64 {
            // Who puts in a head holds its place meanwhile: afterwards nobody puts in one of an earlier epoch.
            drop(self.stripe(stripe));
        }
        self.cached.clear();
    }

    /// No listening connection lives.
    pub(super) fn revoke(&self) {
        self.lease.next_epoch();
    }

    /// What says until when heads are served.
    pub(super) fn lease(&self) -> &InvalidationLease {
        &self.lease
    }

    /// Everything whose writer was answered before `sent` was heard of.
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

    fn insert(&self, token: FillToken, head: PackedHead) {
        if self.lease.holds() && self.lease.epoch() == token.epoch {
            let metadata = head.metadata();
            let key = Key(metadata.vault_id.clone(), metadata.memory_id.clone());
            self.cached.insert(key, head);
        }
    }

    fn remove(&self, head: &PackedHead) {
        let metadata = head.metadata();
        self.cached
            .remove(&Borrowed(&metadata.vault_id, &metadata.memory_id));
    }

    fn stripe(&self, hash: u64) -> MutexGuard<'_, Changes> {
        let stripe = usize::try_from(hash % STRIPES as u64).unwrap_or_default();
        self.changes[stripe]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A memory, as its head is kept under.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key(VaultId, MemoryId);

/// The same, as it is asked for.
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

impl Weighter<Key, PackedHead> for Bytes {
    fn weight(&self, _: &Key, head: &PackedHead) -> u64 {
        OVERHEAD + head.bytes() as u64
    }
}

#[cfg(test)]
mod tests;
