//! State that is cached between queries.

use crate::storage::search::vectors::Spaces;
use quick_cache::sync::Cache;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of cached query vectors: they serve further pages of a search, and frequent queries.
const KEPT: usize = 1_000;

/// How long searches do not call the embedding server after it failed.
const REST: Duration = Duration::from_secs(5);

/// State that is cached between queries.
pub(super) struct Queries {
    pub(super) vectors: Cache<(String, String), Arc<[f32]>>,
    pub(super) spaces: Mutex<Option<(Instant, Spaces)>>,
    /// Since when the server has been failing, and why.
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
