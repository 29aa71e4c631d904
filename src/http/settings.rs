//! What the HTTP room needs to know of the configuration.

use super::tls::Tls;
use crate::config::Config;
use crate::config::guard::Collapse;
use crate::config::hosts::Authority;
use crate::config::limits::LimitsConfig;
use crate::config::llm::LlmConfig;
use crate::config::prices::Price;
use crate::config::window::WindowConfig;
use crate::domain::prompt::ItemLimits;
use crate::storage::Guard;
use crate::storage::usage::DayOfModel;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Bounds of what a request may cost and do. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `limits.context_bytes`: the largest document.
    pub context_bytes: usize,
    /// `limits.body_bytes`: the largest request body other than a document.
    pub body_bytes: usize,
    /// `guard.collapse`: what is done about a put that loses much of the document.
    pub guard: Guard,
    /// `prompt`: how much the items of a memory, and those of a vault, may hold.
    pub items: ItemLimits,
    /// `window`: how many recent tasks and decisions stand in a document.
    pub window: WindowConfig,
    /// How long a client may take to send the header of a request, and how long a connection may idle.
    pub header_timeout: Duration,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How long a request may take that asks no model.
    pub request_timeout: Duration,
    /// How long a request may take that asks models.
    pub update_timeout: Duration,
    /// How many requests run at once; more are answered 503.
    pub max_requests: usize,
    /// How many bytes of requests and answers are held at once; more are answered 503.
    pub max_bytes_in_flight: usize,
    /// How many connections are open at once; more wait in the listener's queue.
    pub max_connections: usize,
    /// How many connections one address may have open on which no key was shown; 0 for any number.
    pub max_connections_per_address: usize,
    /// Bytes that the head of a request may have.
    pub max_header_bytes: usize,
    /// Lines that the head of a request may have.
    pub max_headers: usize,
    /// How long a client may take to read any of an answer.
    pub write_timeout: Duration,
    /// `http.require_keys`: whether a key has to be shown; unset: from the first one on.
    pub require_keys: Option<bool>,
    /// `http.allowed_hosts` and the address that is bound: where the service is reached besides loopback.
    pub own_hosts: Vec<Authority>,
    /// Whether everybody may be answered at all where the service listens.
    pub may_be_open: bool,
    /// Requests a minute with one key; 0 for any number.
    pub rate_per_key: u32,
    /// Requests a minute from one address without a key; 0 for any number.
    pub rate_per_address: u32,
    /// TLS, if the service speaks it; put in by who reads the files.
    pub tls: Option<Arc<Tls>>,
    /// `events.max_streams`: streams that are open at once; more are answered 503.
    pub max_streams: usize,
    /// `events.max_streams_per_vault`: those of one vault; more are answered 429.
    pub max_streams_per_vault: usize,
    /// `events.max_streams_per_key`: those of one key; more are answered 429.
    pub max_streams_per_key: usize,
    /// `events.heartbeat_seconds`: how often something is sent on a stream where nothing happens.
    pub heartbeat: Duration,
    /// How long a shutdown waits for what is running.
    pub shutdown_grace: Duration,
    /// What models cost and how much they may be used.
    pub tariff: Tariff,
}

/// `llm.prices`, `llm.currency` and the limits of tokens.
#[derive(Debug, Clone)]
pub struct Tariff {
    /// By the names of models.
    pub prices: BTreeMap<String, Price>,
    /// What prices are in.
    pub currency: String,
    /// Where the limits of tokens are.
    pub limits: LimitsConfig,
}

impl Tariff {
    /// What a model cost on a day, if it has a price.
    pub(crate) fn cost(&self, day: &DayOfModel) -> Option<f64> {
        let spent = &day.spent;
        let price = self.prices.get(&day.model)?;
        Some(price.of(
            spent.input_tokens,
            spent.cached_tokens,
            spent.cache_write_tokens,
            spent.output_tokens,
        ))
    }
}

impl Settings {
    /// What the configuration says.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let request_timeout = Duration::from_secs(config.http.request_timeout_seconds);
        let askings = (1 + config.pipeline.max_reprompts).saturating_mul(1 + config.pipeline.max_rebases);
        Self {
            context_bytes: config.limits.context_bytes,
            body_bytes: config.limits.body_bytes,
            guard: match config.guard.collapse {
                Collapse::Off => Guard::Off,
                Collapse::Warn => Guard::Warn,
                Collapse::Reject => Guard::Reject,
            },
            items: config.prompt.limits(),
            window: config.window.clone(),
            header_timeout: Duration::from_secs(config.http.header_timeout_seconds),
            body_timeout: Duration::from_secs(config.http.body_timeout_seconds),
            request_timeout,
            update_timeout: longest_asking(&config.llm)
                .saturating_mul(askings)
                .saturating_add(request_timeout),
            max_requests: config.http.max_requests,
            max_bytes_in_flight: config.http.max_bytes_in_flight,
            // Every stream holds a connection for as long as it is open.
            max_connections: config.http.max_connections + config.events.max_streams,
            max_connections_per_address: config.http.max_connections_per_address,
            max_streams: config.events.max_streams,
            max_streams_per_vault: config.events.max_streams_per_vault,
            max_streams_per_key: config.events.max_streams_per_key,
            heartbeat: Duration::from_secs(config.events.heartbeat_seconds.into()),
            max_header_bytes: config.http.max_header_bytes,
            max_headers: config.http.max_headers,
            write_timeout: Duration::from_secs(config.http.write_timeout_seconds),
            tls: None,
            require_keys: config.http.require_keys,
            own_hosts: config.http.own_hosts(),
            may_be_open: config.http.may_be_open(),
            rate_per_key: config.http.rate_per_key,
            rate_per_address: config.http.rate_per_address,
            shutdown_grace: Duration::from_secs(config.http.shutdown_timeout_seconds),
            tariff: Tariff {
                prices: config.llm.prices.clone(),
                currency: config.llm.currency.clone(),
                limits: config.limits.clone(),
            },
        }
    }
}

/// The longest that one asking of a role may take with its retries and the waits between them.
fn longest_asking(llm: &LlmConfig) -> Duration {
    let roles = [
        &llm.roles.progress,
        &llm.roles.learnings,
        &llm.roles.verbatim,
        &llm.roles.handoff,
    ];
    let seconds = roles
        .iter()
        .filter_map(|role| role.timeout_seconds)
        .fold(llm.timeout_seconds, f64::max);
    let retries = roles
        .iter()
        .filter_map(|role| role.max_retries)
        .fold(llm.max_retries, u32::max);
    let attempt = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    attempt.saturating_mul(retries.saturating_add(2))
}

impl Default for Settings {
    /// What a configuration says that says nothing.
    fn default() -> Self {
        Self::of(&Config::default())
    }
}
