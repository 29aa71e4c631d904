//! `[database]`: where the database is.

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use std::path::PathBuf;

/// Where the database is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatabaseConfig {
    /// A PostgreSQL URL (version 15 or later). Without one the service runs its own, embedded server.
    /// `DATABASE_URL` sets it too.
    pub url: Option<SecretString>,
    /// A URL for `LISTEN`, where `url` goes through a transaction-mode pooler, which cannot carry it.
    pub listen_url: Option<SecretString>,
    /// Connections at most.
    pub max_connections: u32,
    /// Seconds a request waits for a connection before it is answered 503.
    pub acquire_timeout_seconds: u64,
    /// Whether prepared statements are named and kept. Not behind a transaction-mode pooler that does not
    /// track them (PgBouncer before 1.21). Left out, the service finds out when it starts.
    pub prepared_statements: Option<bool>,
    /// Bytes of newest versions that the process keeps, so that reading them does not ask the database. They are used
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
            max_connections: 16,
            acquire_timeout_seconds: 5,
            prepared_statements: None,
            head_cache_bytes: 48 << 20,
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
        if self.max_connections == 0 {
            return Err("database.max_connections must be at least 1".to_owned());
        }
        if self.acquire_timeout_seconds == 0 {
            return Err("database.acquire_timeout_seconds must be at least 1".to_owned());
        }
        Ok(())
    }
}
