//! The state that all handlers share, and the settings of the HTTP module.

use crate::clock::Clock;
use crate::config::Config;
use crate::config::hosts::Authority;
use crate::config::llm::LlmConfig;
use crate::domain::operation::Role;
use crate::fair::{self, ShareLimits};
use crate::http::feed::Feeds;
use crate::http::middleware::access::{Gate, Rates};
use crate::http::middleware::bounds::Budget;
use crate::http::serve::Tls;
use crate::pipeline::Pipeline;
use crate::storage::Storage;
use crate::storage::usage::UsageOfDay;
use crate::tokens::Tokens;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
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
        let slots = fair::FairSemaphore::new(ShareLimits::of_requests(settings.config.http.max_requests));
        Self(Arc::new(Shared {
            gate: Arc::new(Gate::new(storage.clone(), &settings)),
            rates: Arc::new(Rates::new(&settings)),
            budget: Arc::new(Budget::new(&settings)),
            streams: fair::FairSemaphore::new(ShareLimits {
                total: settings.config.events.max_streams,
                // So that neither a vault nor a key takes all of them.
                of_vault: settings.config.events.max_streams.div_ceil(2),
                of_key: settings.config.events.max_streams.div_ceil(2),
                ..ShareLimits::of(settings.config.events.max_streams)
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

/// Of a request's head.
const MAX_HEADER_BYTES: usize = 64 << 10;

/// Of a request's head: browsers and proxies send fewer than fifty lines.
const MAX_HEADERS: usize = 100;

/// For the head of a request, a TLS handshake, an idle connection: what a slow mobile network needs, and little more.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// For a body; less than the deadline of a request, so that the client gets the right error.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// A client that reads nothing of its response for so long has gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Between two comments on a stream without events: less than the idle time-outs of common proxies, which are a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The currency of `llm.prices`: what the providers publish their prices in.
pub(crate) const CURRENCY: &str = "USD";

/// The configuration, what follows from it, and constants that tests shorten. Sizes are in bytes.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The configuration.
    pub config: Config,
    /// The time limit for receiving a request's header, and for an idle connection.
    pub header_timeout: Duration,
    /// The time limit for receiving a body.
    pub body_timeout: Duration,
    /// The time limit of a request that calls no model.
    pub request_timeout: Duration,
    /// The time limit of a request that calls models.
    pub update_timeout: Duration,
    /// The maximum number of open connections; others wait in the listener's queue.
    pub max_connections: usize,
    /// The maximum size of a request's head.
    pub max_header_bytes: usize,
    /// The maximum number of headers of a request.
    pub max_headers: usize,
    /// How long a client may read nothing of a response.
    pub write_timeout: Duration,
    /// `http.allowed_hosts` and the bound address: the names of the service besides loopback.
    pub own_hosts: Vec<Authority>,
    /// TLS, if configured; set by the code that reads the files.
    pub tls: Option<Arc<Tls>>,
    /// The interval of comments on a stream without events.
    pub heartbeat: Duration,
    /// How long a shutdown waits for running requests.
    pub shutdown_grace: Duration,
}

impl Settings {
    /// The cost of a model on a day, if it has a price.
    pub(crate) fn cost(&self, day: &UsageOfDay) -> Option<f64> {
        let spent = &day.spent;
        let price = self.config.llm.prices.get(&day.model)?;
        Some(price.of(
            spent.input_tokens,
            spent.cached_tokens,
            spent.cache_write_tokens,
            spent.output_tokens,
        ))
    }

    /// The settings from the configuration.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let request_timeout = Duration::from_secs(config.http.request_timeout_seconds);
        let askings = (1 + config.pipeline.max_reprompts).saturating_mul(1 + config.pipeline.max_rebases);
        Self {
            config: config.clone(),
            header_timeout: HEADER_TIMEOUT,
            body_timeout: BODY_TIMEOUT.min(request_timeout.mul_f64(2.0 / 3.0)),
            request_timeout,
            update_timeout: longest_asking(&config.llm)
                .saturating_mul(askings)
                .saturating_add(request_timeout),
            // Every stream holds a connection while it is open.
            max_connections: config.http.max_connections + config.events.max_streams,
            heartbeat: HEARTBEAT,
            max_header_bytes: MAX_HEADER_BYTES,
            max_headers: MAX_HEADERS,
            write_timeout: WRITE_TIMEOUT,
            tls: None,
            own_hosts: config.http.own_hosts(),
            shutdown_grace: Duration::from_secs(config.http.shutdown_timeout_seconds),
        }
    }
}

/// The maximum duration of one call to the slowest model, with its retries and backoff.
fn longest_asking(llm: &LlmConfig) -> Duration {
    let of_roles = Role::ALL.map(|role| llm.role(role)).into_iter();
    let settings = of_roles.chain([llm.handoff()]).flatten();
    let askings = settings.map(|one| one.timeout.saturating_mul(one.max_retries.saturating_add(2)));
    askings.max().unwrap_or_default()
}

impl Default for Settings {
    /// The settings of a default configuration.
    fn default() -> Self {
        Self::of(&Config::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_has_the_time_of_the_slowest_role() {
        let mut config = Config::default();
        let usual = Settings::of(&config).update_timeout;
        config.llm.roles.verbatim.timeout_seconds = Some(1.0);
        assert_eq!(Settings::of(&config).update_timeout, usual);
        config.llm.roles.handoff.timeout_seconds = Some(600.0);
        assert!(Settings::of(&config).update_timeout > usual.saturating_mul(9));
    }
}
