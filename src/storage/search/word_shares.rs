//! In which share of a vault's documents words stand.

use crate::domain::ids::VaultId;
use crate::domain::search::Query;
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::time::Instant;

/// Vaults whose words are kept.
const VAULTS: usize = 1_000;

/// What is kept of vaults.
#[derive(Debug)]
pub(in crate::storage) struct FrequentWords(pub(super) Cache<VaultId, Arc<OfVault>>);

/// What is known of a vault.
#[derive(Debug)]
pub(super) struct OfVault {
    pub(super) since: Instant,
    pub(super) is_small: bool,
    /// The shares of documents that have the frequent words; none of few documents.
    pub(super) shares: HashMap<String, f32>,
}

impl OfVault {
    /// Whether its documents are looked through faster than the index, which serves all vaults: what the index takes for
    /// a word, or what begins with it, grows with all documents that have it.
    pub(super) fn is_small(&self) -> bool {
        self.is_small
    }

    /// In which share of the documents the words of a query stand; `None` if they are few, or next to each other.
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

/// From which share on a query is answered out of the newest documents.
const UNSELECTIVE: f32 = 0.25;

/// How many documents have to be looked at for so many matches, if this share of them match.
pub(super) fn looked_at(share: f32, matches: u8) -> i64 {
    // Some more: the share is an estimate.
    let many = f32::from(matches) * 1.3 / share.max(UNSELECTIVE);
    #[expect(clippy::cast_possible_truncation, reason = "at most a thousand or so")]
    let many = many.ceil() as i64;
    many
}
