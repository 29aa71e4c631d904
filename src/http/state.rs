//! What every handler can reach.

use super::settings::Settings;
use crate::clock::Clock;
use crate::pipeline::Pipeline;
use crate::storage::Storage;
use crate::tokens::Tokens;
use std::fmt;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Shared by all requests; cheap to clone.
#[derive(Clone)]
pub struct AppState {
    /// The database.
    pub storage: Storage,
    /// Updates by models and by operations.
    pub pipeline: Pipeline,
    /// Time and ids.
    pub clock: Arc<dyn Clock>,
    /// How many tokens texts have.
    pub tokens: Arc<Tokens>,
    /// Bounds of what a request may cost.
    pub settings: Arc<Settings>,
    /// One for each request that may run at once.
    pub(crate) slots: Arc<Semaphore>,
}

impl AppState {
    /// The state of one service.
    #[must_use]
    pub fn new(storage: Storage, pipeline: Pipeline, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        let slots = Arc::new(Semaphore::new(settings.max_requests));
        Self {
            storage,
            pipeline,
            clock,
            tokens: Arc::default(),
            settings: Arc::new(settings),
            slots,
        }
    }
}

impl fmt::Debug for AppState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppState")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
