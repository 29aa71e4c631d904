//! What is kept between queries.

use crate::storage::search::vectors::Spaces;
use quick_cache::sync::Cache;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Queries whose vectors are kept: pages of one search, and what many ask.
const KEPT: usize = 1_000;

/// For how long a server that failed is not asked again by searches.
const REST: Duration = Duration::from_secs(5);

/// What is kept between queries.
pub(super) struct Queries {
    pub(super) vectors: Cache<(String, String), Arc<[f32]>>,
    pub(super) spaces: Mutex<Option<(Instant, Spaces)>>,
    /// Since when the server fails, and why.
    failing: Mutex<Option<(Instant, String)>>,
}

impl Default for Queries {
    fn default() -> Self {
        Self {
            vectors: Cache::new(KEPT),
            spaces: Mutex::default(),
            failing: Mutex::default(),
        }
    }
}

impl Queries {
    pub(super) fn is_failing(&self) -> Option<String> {
        let failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, why) = failing.as_ref()?;
        (since.elapsed() < REST).then(|| why.clone())
    }

    pub(super) fn fails(&self, why: String) {
        *self.failing.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), why));
    }
}
