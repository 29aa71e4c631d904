//! The share of a vault's documents that contain a word.

use crate::domain::ids::VaultId;
use crate::domain::search::Query;
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::time::Instant;

/// Maximum number of vaults in the cache.
const VAULTS: usize = 1_000;

/// The cached word statistics of vaults.
#[derive(Debug)]
pub(in crate::storage) struct FrequentWords(pub(super) Cache<VaultId, Arc<OfVault>>);

/// The word statistics of a vault.
#[derive(Debug)]
pub(super) struct OfVault {
    pub(super) since: Instant,
    pub(super) is_small: bool,
    /// The shares of documents that contain the frequent words; empty for few documents.
    pub(super) shares: HashMap<String, f32>,
}

impl OfVault {
    /// Whether scanning its documents is faster than the index. The index serves all vaults: the cost of a lookup grows
    /// with all documents that contain the word or prefix.
    pub(super) fn is_small(&self) -> bool {
        self.is_small
    }

    /// The estimated share of documents that contain the words of a query; `None` if it is small, or the words must be
    /// adjacent.
    pub(super) fn share(&self, query: &Query) -> Option<f32> {
        if query.has_neighbours() {
            return None;
        }
        let share = query.share(|word| self.shares.get(word).copied());
        share.filter(|share| *share >= UNSELECTIVE)
    }
}

impl Default for FrequentWords {
    fn default() -> Self {
        Self(Cache::new(VAULTS))
    }
}

/// From this share on a query is answered from the newest documents.
const UNSELECTIVE: f32 = 0.25;

/// How many documents must be read to find so many matches, if this share of them matches.
pub(super) fn looked_at(share: f32, matches: u8) -> i64 {
    // With a margin, because the share is an estimate.
    let many = f32::from(matches) * 1.3 / share.max(UNSELECTIVE);
    #[expect(clippy::cast_possible_truncation, reason = "at most a thousand or so")]
    let many = many.ceil() as i64;
    many
}
