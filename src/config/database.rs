//! `[database]`: the database connection.

use super::values::section;
use etcetera::base_strategy::{BaseStrategy as _, choose_native_strategy};
use rustix::process::geteuid;
use secrecy::{ExposeSecret as _, SecretString};
use std::path::{Path, PathBuf};

section! {
    /// The database connection.
    pub struct DatabaseConfig in "database" {
        /// A PostgreSQL URL (version 15 or later). Without one the service runs its own embedded server.
        /// `DATABASE_URL` sets it too.
        pub url: Option<SecretString> = None;
        /// A URL for `LISTEN`, if `url` goes through a transaction-mode pooler, which does not support it.
        pub listen_url: Option<SecretString> = None;
        /// The URL of a standby of the same database, for reads that tolerate a slight lag. Without one all reads use the
        /// primary.
        pub replica_url: Option<SecretString> = None;
        /// Maximum lag of the standby in seconds, an hour at most; if it is more, the primary is used.
        pub replica_max_lag_seconds: u64 = 10, in 1..=3_600;
        /// Maximum number of connections.
        pub max_connections: u32 = 16, in 1..=10_000;
        /// Whether prepared statements are named and kept. If unset, they are unless the database is behind a pooler; true
        /// for one that tracks them (PgBouncer from 1.21 on, with `max_prepared_statements`).
        #[serde(deserialize_with = "super::values::flag")]
        pub prepared_statements: Option<bool> = None;
        /// Size in bytes of the cache of newest versions, which are returned without a query. The cache is used
        /// only while the process receives the notifications of other instances. 0 turns it off.
        pub head_cache_bytes: u64 = 48 << 20;
        /// Not a setting, so that tests can compare both: whether changes that arrive while another is being committed share a
        /// transaction (group commit). On a distributed database (Citus), which is detected, they do not.
        #[serde(skip)]
        pub gather_puts: bool = true;
        /// The embedded server's folder. Created if it does not exist. Unless set, one for each user.
        pub data_dir: PathBuf = default_data_dir();
    }
}

/// One folder for each user, so that a service finds its database wherever it is started: that of the platform for a program's
/// data (`$XDG_DATA_HOME` or `~/.local/share`, on macOS `~/Library/Application Support`), and the system's for root or an account
/// without a home.
fn default_data_dir() -> PathBuf {
    let is_chosen = std::env::var_os("XDG_DATA_HOME").is_some_and(|folder| Path::new(&folder).is_absolute());
    match choose_native_strategy() {
        Ok(folders) if is_chosen || !geteuid().is_root() => folders.data_dir().join("working-memory"),
        _ => PathBuf::from("/var/lib/working-memory/data"),
    }
}

impl DatabaseConfig {
    pub(super) fn validate(&self) -> Result<(), String> {
        self.ranges()?;
        for (key, url) in [
            ("database.url (DATABASE_URL)", &self.url),
            ("database.listen_url", &self.listen_url),
            ("database.replica_url", &self.replica_url),
        ] {
            let Some(url) = url else { continue };
            // The URL may contain a password: only the part before it is shown.
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
        Ok(())
    }
}
