//! `[http]`: how the service is reached.

use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};

/// How the service is reached.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpConfig {
    /// Address and port to listen on. Port 0 takes a free one, which the log tells.
    pub bind: SocketAddr,
    /// Listen on an address other than loopback although nobody has to show a key. Only for a network in
    /// which everybody may read and write every memory, such as a container's own.
    pub allow_open: bool,
    /// Seconds a request may take before it is answered 503; `/update` has its models' time besides.
    pub request_timeout_seconds: u64,
    /// Seconds a client may take to send the head of a request.
    pub header_timeout_seconds: u64,
    /// Seconds that running requests are given to finish at shutdown.
    pub shutdown_timeout_seconds: u64,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 8080)),
            allow_open: false,
            request_timeout_seconds: 30,
            header_timeout_seconds: 10,
            shutdown_timeout_seconds: 30,
        }
    }
}

impl HttpConfig {
    pub(super) fn validate(&self) -> Result<(), String> {
        if !is_loopback(self.bind.ip()) && !self.allow_open {
            return Err(format!(
                "http.bind is {}, which others can reach, and the service has no API keys: bind a loopback \
                 address such as 127.0.0.1:8080, or set http.allow_open = true if everybody who can reach it \
                 may read and write every memory",
                self.bind
            ));
        }
        for (key, value) in [
            ("http.request_timeout_seconds", self.request_timeout_seconds),
            ("http.header_timeout_seconds", self.header_timeout_seconds),
        ] {
            if value == 0 {
                return Err(format!("{key} must be at least 1"));
            }
        }
        Ok(())
    }
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}
