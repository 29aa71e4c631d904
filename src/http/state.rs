//! The state that all handlers share.

use super::feed::Feeds;
use super::middleware::access::Gate;
use super::middleware::bounds::Budget;
use super::middleware::rate::Rates;
use super::settings::Settings;
use crate::clock::Clock;
use crate::fair::{self, ShareLimits};
use crate::pipeline::Pipeline;
use crate::storage::Storage;
use crate::tokens::Tokens;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Shared by all requests. Every layer and handler clones it, so a clone only increments a reference count.
#[derive(Clone)]
pub struct AppState(Arc<Shared>);

/// The contents of [`AppState`].
pub struct Shared {
    /// The database.
    pub storage: Storage,
    /// Updates by models and by operations.
    pub pipeline: Pipeline,
    /// Current time and new ids.
    pub clock: Arc<dyn Clock>,
    /// Counts the tokens of texts.
    pub tokens: Arc<Tokens>,
    /// Limits of requests.
    pub settings: Arc<Settings>,
    /// The API key cache.
    pub(crate) gate: Arc<Gate>,
    /// The rate limits.
    pub(crate) rates: Arc<Rates>,
    /// The byte limits.
    pub(crate) budget: Arc<Budget>,
    /// One permit for each concurrent request.
    pub(crate) slots: fair::FairSemaphore,
    /// One permit for each open stream.
    pub(crate) streams: fair::FairSemaphore,
    /// The event feeds of the vaults.
    pub(crate) feeds: Arc<Feeds>,
    /// Canceled when the shutdown begins: streams end then.
    pub stopping: CancellationToken,
}

impl AppState {
    /// The state of one instance.
    #[must_use]
    pub fn new(storage: Storage, pipeline: Pipeline, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        let slots = fair::FairSemaphore::new(ShareLimits::of_requests(settings.max_requests));
        Self(Arc::new(Shared {
            gate: Arc::new(Gate::new(storage.clone(), &settings)),
            rates: Arc::new(Rates::new(&settings)),
            budget: Arc::new(Budget::new(&settings)),
            streams: fair::FairSemaphore::new(ShareLimits {
                total: settings.max_streams,
                // So that neither a vault nor a key takes all of them.
                of_vault: settings.max_streams.div_ceil(2),
                of_key: settings.max_streams.div_ceil(2),
                ..ShareLimits::of(settings.max_streams)
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
