//! `[database]`: where the database is.

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use std::path::PathBuf;

/// A day, in seconds: longer is the same as for ever.
const LONGEST_TIMEOUT: u64 = 86_400;

/// How far a standby may be behind: an hour, in seconds.
const LONGEST_LAG: u64 = 3_600;

/// Where the database is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatabaseConfig {
    /// A PostgreSQL URL (version 15 or later). Without one the service runs its own, embedded server.
    /// `DATABASE_URL` sets it too.
    pub url: Option<SecretString>,
    /// A URL for `LISTEN`, where `url` goes through a transaction-mode pooler, which cannot carry it.
    pub listen_url: Option<SecretString>,
    /// The URL of a standby of the same database, for reads that may be a little behind. Without one all go to the
    /// primary.
    pub replica_url: Option<SecretString>,
    /// Seconds that the standby may be behind; while it is more, the primary is asked.
    pub replica_max_lag_seconds: u64,
    /// Connections at most.
    pub max_connections: u32,
    /// Seconds a request waits for a connection before it is answered 503.
    pub acquire_timeout_seconds: u64,
    /// Seconds a statement of a request that reads may be without an answer.
    pub read_timeout_seconds: u64,
    /// Seconds a statement of a request that changes something, and a commit, may be without an answer.
    pub write_timeout_seconds: u64,
    /// Seconds a statement of a search may be without an answer.
    pub search_timeout_seconds: u64,
    /// Seconds a statement that no request waits for may be without an answer.
    pub maintenance_timeout_seconds: u64,
    /// Seconds without any answer after which the database counts as silent: what waits for it is given up, and its
    /// connections are closed.
    pub silence_timeout_seconds: u64,
    /// Whether prepared statements are named and kept. Not behind a transaction-mode pooler that does not
    /// track them (PgBouncer before 1.21). Left out, the service finds out when it starts.
    pub prepared_statements: Option<bool>,
    /// Bytes of newest versions that the process keeps, compressed, so that reading them does not ask the database. They are used
    /// only while the process hears at once what other instances write. 0 keeps none.
    pub head_cache_bytes: u64,
    /// Whether changes that come while another is being committed are sent together, in one transaction. A distributed
    /// database (Citus) is recognised, and they are not.
    pub gather_puts: bool,
    /// The embedded server's folder. Made if it is not there.
    pub data_dir: PathBuf,
}

impl Default for DatabaseConfig {
    fn default() -> Self {
        Self {
            url: None,
            listen_url: None,
            replica_url: None,
            replica_max_lag_seconds: 10,
            max_connections: 16,
            acquire_timeout_seconds: 5,
            read_timeout_seconds: 10,
            write_timeout_seconds: 10,
            search_timeout_seconds: 30,
            maintenance_timeout_seconds: 600,
            silence_timeout_seconds: 2,
            prepared_statements: None,
            head_cache_bytes: 32 << 20,
            gather_puts: true,
            data_dir: PathBuf::from("data"),
        }
    }
}

impl DatabaseConfig {
    pub(super) fn validate(&self) -> Result<(), String> {
        for (key, url) in [
            ("database.url (DATABASE_URL)", &self.url),
            ("database.listen_url", &self.listen_url),
            ("database.replica_url", &self.replica_url),
        ] {
            let Some(url) = url else { continue };
            // The address may hold a password: only what stands before it is shown.
            let scheme = url
                .expose_secret()
                .split_once("://")
                .map(|(scheme, _)| scheme.trim());
            if !matches!(scheme, Some("postgres" | "postgresql")) {
                let found = match scheme {
                    Some(scheme) if scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+') => {
                        format!("{scheme}://")
                    }
                    _ => "something else".to_owned(),
                };
                return Err(format!(
                    "{key} must begin with postgres:// or postgresql://, not {found}: the service needs PostgreSQL 15 \
                     or later"
                ));
            }
        }
        if !(1..=LONGEST_LAG).contains(&self.replica_max_lag_seconds) {
            return Err(format!(
                "database.replica_max_lag_seconds must be from 1 to {LONGEST_LAG}"
            ));
        }
        if self.max_connections == 0 {
            return Err("database.max_connections must be at least 1".to_owned());
        }
        for (key, seconds) in [
            ("acquire", self.acquire_timeout_seconds),
            ("read", self.read_timeout_seconds),
            ("write", self.write_timeout_seconds),
            ("search", self.search_timeout_seconds),
            ("maintenance", self.maintenance_timeout_seconds),
            ("silence", self.silence_timeout_seconds),
        ] {
            if seconds == 0 {
                return Err(format!("database.{key}_timeout_seconds must be at least 1"));
            }
            if seconds > LONGEST_TIMEOUT {
                return Err(format!(
                    "database.{key}_timeout_seconds must be at most {LONGEST_TIMEOUT}"
                ));
            }
        }
        Ok(())
    }
}
