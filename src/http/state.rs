//! What every handler can reach.

use super::budget::Budget;
use super::feed::Feeds;
use super::middleware::access::Gate;
use super::middleware::rate::Rates;
use super::settings::Settings;
use crate::clock::Clock;
use crate::fair::{self, Shares};
use crate::pipeline::Pipeline;
use crate::storage::Storage;
use crate::tokens::Tokens;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Shared by all requests. Every layer and handler takes one of its own, so a clone is one count and no more.
#[derive(Clone)]
pub struct AppState(Arc<Shared>);

/// What there is of it.
pub struct Shared {
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
    /// Who is let in.
    pub(crate) gate: Arc<Gate>,
    /// How often they may come.
    pub(crate) rates: Arc<Rates>,
    /// How many bytes they may hold.
    pub(crate) budget: Arc<Budget>,
    /// One for each request that may run at once.
    pub(crate) slots: Arc<Semaphore>,
    /// One for each stream that may be open at once.
    pub(crate) streams: fair::Gate,
    /// The streams of events, vault by vault.
    pub(crate) feeds: Arc<Feeds>,
    /// Cancelled when the service begins to stop: streams end then.
    pub stopping: CancellationToken,
}

impl AppState {
    /// The state of one service.
    #[must_use]
    pub fn new(storage: Storage, pipeline: Pipeline, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        let slots = Arc::new(Semaphore::new(settings.max_requests));
        Self(Arc::new(Shared {
            gate: Arc::new(Gate::new(storage.clone(), &settings)),
            rates: Arc::new(Rates::new(&settings)),
            budget: Arc::new(Budget::new(&settings)),
            streams: fair::Gate::new(Shares {
                total: settings.max_streams,
                of_vault: settings.max_streams_per_vault,
                of_key: settings.max_streams_per_key,
            }),
            feeds: Arc::new(Feeds::new(storage.clone())),
            stopping: CancellationToken::new(),
            storage,
            pipeline,
            clock,
            tokens: Arc::default(),
            settings: Arc::new(settings),
            slots,
        }))
    }
}

impl Deref for AppState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl fmt::Debug for AppState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppState")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
