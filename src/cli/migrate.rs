//! `working-memory migrate`: migrates the schema without serving, and distributes its tables over several nodes.

use super::process::{fail, load_config};
use crate::clock::SystemClock;
use crate::storage::{ACQUIRE_TIMEOUT, Deadlines, PoolOptions, Storage};
use clap::Args;
use secrecy::ExposeSecret;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const NO_EXTENSION: &str = "the schema is up to date; its tables cannot be distributed, since the database does not have the \
                            extension citus: install it on every node, run CREATE EXTENSION citus, and try again";

/// Arguments of `migrate`. The database is `DATABASE_URL` or `database.url`.
#[derive(Debug, Args)]
pub struct Migrate {
    /// Read this file instead of `working-memory.toml`.
    #[arg(long, value_name = "FILE", env = "WORKING_MEMORY_CONFIG")]
    config: Option<PathBuf>,
    /// Revert migrations, down to this one, which stays; 0 reverts all, and deletes all data.
    #[arg(long, value_name = "VERSION")]
    down_to: Option<i64>,
    /// Afterwards distribute the tables by vault, if the database has the extension citus, and print which; those that are
    /// distributed already are unchanged. No service may run meanwhile.
    #[arg(long, conflicts_with = "down_to")]
    distribute: bool,
}

impl Migrate {
    pub(super) async fn run(self) -> ExitCode {
        let config = match load_config(self.config.as_deref()) {
            Ok(config) => config,
            Err(error) => return fail(error),
        };
        let Some(url) = &config.database.url else {
            return fail("set DATABASE_URL: the embedded database is migrated whenever the service starts");
        };
        match self.migrate(url.expose_secret()).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(error),
        }
    }

    #[expect(clippy::print_stdout, reason = "a command says what it did")]
    async fn migrate(&self, url: &str) -> Result<(), Box<dyn Error>> {
        let options = PoolOptions {
            url: url.to_owned(),
            max_connections: 1,
            // One connection, one transaction: keeping prepared statements would gain nothing.
            prepared_statements: false,
            acquire_timeout: ACQUIRE_TIMEOUT,
            deadlines: Deadlines::default(),
            head_cache_bytes: 0,
            gather_puts: false,
        };
        let storage = Storage::connect(&options, Arc::new(SystemClock)).await?;
        match self.down_to {
            Some(version) => storage.migrate_down(version).await,
            None => storage.migrate().await,
        }?;
        if self.distribute {
            if !storage.can_distribute().await? {
                return Err(NO_EXTENSION.into());
            }
            for table in storage.distribute().await? {
                println!("distributed: {table}");
            }
        }
        Ok(())
    }
}
