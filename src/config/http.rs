//! `[http]`: address, limits and access of the HTTP server.

use super::hosts::{self, Authority};
use super::values::section;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

section! {
    /// Address, limits and access of the HTTP server.
    pub struct HttpConfig in "http" {
        /// Address and port to listen on. Port 0 selects a free one, which is logged.
        #[serde(deserialize_with = "bind")]
        pub bind: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8080));
        /// Listen on an address other than loopback although no key is required. Only for a network in
        /// which everybody may read and write every memory, such as a container's own.
        #[serde(deserialize_with = "super::values::flag")]
        pub allow_open: bool = false;
        /// Whether a key is required. Unset: from the first key on, permanently. True: also before there is one. False:
        /// never, whatever keys exist.
        #[serde(deserialize_with = "super::values::flag")]
        pub require_keys: Option<bool> = None;
        /// Host names of the service besides those of loopback, each with or without a port. If no key is
        /// required, only these are answered: a web page could reach the service by a name of its own.
        #[serde(deserialize_with = "hosts::list")]
        pub allowed_hosts: Vec<Authority> = Vec::new();
        /// Requests per minute with one key; 0 means no limit.
        pub rate_per_key: u32 = 0;
        /// Requests per minute from one address without a key; 0 means no limit.
        pub rate_per_address: u32 = 0;
        /// Concurrent requests; more wait for a second and are then answered 503. Each may hold a body several times over. A
        /// vault and a key may have a quarter of them; more wait too, and are then answered 429.
        pub max_requests: usize = 256, in 1..=100_000;
        /// Bytes of requests and responses that are held at once, including the memory for processing them; more are answered
        /// 503. Never less than eight of the largest accepted bodies. A vault may use a quarter of them for bodies that arrive
        /// and are sent, and a quarter for processing.
        pub max_bytes_in_flight: usize = 64 << 20, in 1 << 20..=1 << 40;
        /// Connections that are open at once; more wait in the listener's queue.
        pub max_connections: usize = 1_024, in 1..=1_000_000;
        /// Connections that one address may have open before a request on them was let in; more are answered 503. An eighth of
        /// all, so that an address without a key cannot take them. 0 means no limit.
        pub max_connections_per_address: usize = 128;
        /// TLS certificate and key; without them the service speaks HTTP.
        pub tls: TlsConfig = TlsConfig::default();
        /// Deadline in seconds of a request, which is then answered 503; `/update` has its models' time in addition.
        pub request_timeout_seconds: u64 = 30, in 1..=86_400;
        /// Seconds that running requests have to finish at shutdown.
        pub shutdown_timeout_seconds: u64 = 30;
    }
}

/// The files of the TLS certificate.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TlsConfig {
    /// A PEM file: the service's certificate, then the chain to the root.
    pub certificate: Option<PathBuf>,
    /// A PEM file: the certificate's private key.
    pub key: Option<PathBuf>,
}

impl TlsConfig {
    /// Certificate and key, if TLS is configured.
    #[must_use]
    pub fn files(&self) -> Option<(&PathBuf, &PathBuf)> {
        self.certificate.as_ref().zip(self.key.as_ref())
    }
}

impl HttpConfig {
    /// Whether the service may run without keys on its address.
    #[must_use]
    pub fn may_be_open(&self) -> bool {
        is_loopback(self.bind.ip()) || self.allow_open
    }

    /// Why the service must not start without any key.
    #[must_use]
    pub fn refusal_without_keys(&self) -> String {
        format!(
            "http.bind is {}, which others can reach, and the service has no API keys: make one with \
             `working-memory keys create` (the embedded database is made by a first start on a loopback address), or bind a loopback address such as 127.0.0.1:8080 (http.bind), or set \
             http.allow_open = true if everybody who can reach it may read and write every memory",
            self.bind
        )
    }

    /// The host names and addresses of the service, besides those of loopback.
    #[must_use]
    pub fn own_hosts(&self) -> Vec<Authority> {
        let bind = Some(self.bind.ip()).filter(|ip| !ip.is_unspecified());
        let allowed = self.allowed_hosts.iter().cloned();
        allowed.chain(bind.map(Authority::of_address)).collect()
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        self.ranges()?;
        if self.require_keys == Some(false) && !self.may_be_open() {
            return Err(format!(
                "http.bind is {}, which others can reach, and http.require_keys = false asks nobody for a key: leave \
                 http.require_keys out, or set http.allow_open = true too",
                self.bind
            ));
        }
        if self.tls.certificate.is_some() != self.tls.key.is_some() {
            return Err("http.tls.certificate and http.tls.key go together: set both or none".to_owned());
        }
        Ok(())
    }
}

fn bind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.trim().parse().map_err(|_| {
        D::Error::custom(format!(
            "must be an IP address and a port, such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080, not {text:?}; names \
             such as localhost are not looked up"
        ))
    })
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}
