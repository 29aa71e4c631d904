//! `working-memory migrate`: the schema, without the service.

use super::{fail, load_config};
use crate::clock::SystemClock;
use crate::storage::{PoolOptions, Storage};
use clap::Args;
use secrecy::ExposeSecret;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Arguments of `migrate`. The database is `DATABASE_URL` or `database.url`.
#[derive(Debug, Args)]
pub struct Migrate {
    /// Read this file instead of `working-memory.toml`.
    #[arg(long, value_name = "FILE", env = "WORKING_MEMORY_CONFIG")]
    config: Option<PathBuf>,
    /// Take migrations back, down to and without this one; 0 takes back all, and with them all data.
    #[arg(long, value_name = "VERSION")]
    down_to: Option<i64>,
}

impl Migrate {
    pub(super) async fn run(self) -> ExitCode {
        let config = match load_config(self.config.as_deref()) {
            Ok(config) => config,
            Err(error) => return fail(&error),
        };
        let Some(url) = &config.database.url else {
            return fail(&"set DATABASE_URL: the embedded database is migrated whenever the service starts");
        };
        let options = PoolOptions {
            url: url.expose_secret().to_owned(),
            max_connections: 1,
            prepared_statements: config.database.prepared_statements,
            acquire_timeout: Duration::from_secs(config.database.acquire_timeout_seconds),
        };
        let storage = match Storage::connect_lazy(&options, Arc::new(SystemClock)) {
            Ok(storage) => storage,
            Err(error) => return fail(&error),
        };
        let done = match self.down_to {
            Some(version) => storage.migrate_down(version).await,
            None => storage.migrate().await,
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error),
        }
    }
}
