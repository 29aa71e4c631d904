//! What the HTTP room needs to know of the configuration.

use std::time::Duration;

/// Bounds of what a request may cost. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `limits.context_bytes`: the largest document.
    pub context_bytes: usize,
    /// `limits.body_bytes`: the largest request body other than a document.
    pub body_bytes: usize,
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

impl Default for Settings {
    fn default() -> Self {
        Self {
            context_bytes: 102_400,
            body_bytes: 1 << 20,
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(60),
            update_timeout: Duration::from_secs(600),
            max_requests: 256,
            max_connections: 1_024,
            shutdown_grace: Duration::from_secs(30),
        }
    }
}
