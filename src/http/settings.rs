//! What the HTTP room needs to know of the configuration.

use crate::config::Config;
use crate::config::guard::Collapse;
use crate::config::llm::LlmConfig;
use crate::storage::Guard;
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
    /// How many connections are open at once; more wait in the listener's queue.
    pub max_connections: usize,
    /// How long a shutdown waits for what is running.
    pub shutdown_grace: Duration,
}

/// How long a client may take to send a body: enough for the largest one on a slow line, and less than the time of a
/// whole request, so that a client that is slow is told so.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// Requests at once. Each may hold a body of `limits.body_bytes` several times over.
const MAX_REQUESTS: usize = 256;

/// Connections at once; an idle one costs a socket and little memory.
const MAX_CONNECTIONS: usize = 1_024;

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
            header_timeout: Duration::from_secs(config.http.header_timeout_seconds),
            body_timeout: BODY_TIMEOUT,
            request_timeout,
            update_timeout: longest_asking(&config.llm)
                .saturating_mul(askings)
                .saturating_add(request_timeout),
            max_requests: MAX_REQUESTS,
            max_connections: MAX_CONNECTIONS,
            shutdown_grace: Duration::from_secs(config.http.shutdown_timeout_seconds),
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
