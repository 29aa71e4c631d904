//! The database of a command that works beside the service: the configured one, or the embedded one, also while a
//! service runs it. None of these commands creates a database: it might be created in the wrong folder.

use super::embedded::Embedded;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::storage::embedded::{
    Account, EmbeddedError, EmbeddedOptions, has_cluster, url_of_answering, url_of_running,
};
use crate::storage::{ACQUIRE_TIMEOUT, Deadlines, PoolOptions, Storage, is_direct};
use secrecy::ExposeSecret;
use std::error::Error;
use std::sync::Arc;

/// One for the transaction, one for statements beside it.
const CONNECTIONS: u32 = 2;
const SERVER_CONNECTIONS: u32 = 10;

/// The access that a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Read only: a configured database keeps its schema.
    Read,
    /// Write: the schema is migrated to the current version.
    Write,
}

/// A database, open for one command.
pub(super) struct Offline {
    pub(super) storage: Storage,
    server: Option<Embedded>,
}

impl Offline {
    pub(super) async fn open(config: &Config, access: Access) -> Result<Self, Box<dyn Error>> {
        let (server, url) = match &config.database.url {
            Some(url) => (None, url.expose_secret().to_owned()),
            None => embedded(config).await?,
        };
        // The service that runs it has migrated its schema.
        let is_anothers = server.is_none() && config.database.url.is_none();
        let prepared_statements = match config.database.prepared_statements {
            Some(kept) => kept,
            None => is_direct(&url).await?,
        };
        let options = PoolOptions {
            url,
            max_connections: CONNECTIONS,
            prepared_statements,
            acquire_timeout: ACQUIRE_TIMEOUT,
            deadlines: Deadlines::default(),
            head_cache_bytes: 0,
            gather_puts: false,
        };
        let storage = Storage::connect(&options, Arc::new(SystemClock)).await?;
        let offline = Self { storage, server };
        let checked = match (offline.server.is_some() || access == Access::Write) && !is_anothers {
            true => offline.storage.migrate().await,
            false => offline.storage.check_schema().await,
        };
        if let Err(error) = checked {
            offline.close().await?;
            return Err(error.into());
        }
        Ok(offline)
    }

    pub(super) async fn close(self) -> Result<(), Box<dyn Error>> {
        self.storage.close().await;
        match self.server {
            Some(server) => server.stop().await,
            None => Ok(()),
        }
    }
}

/// The address of the embedded server: one started for this command, or that of a running service.
async fn embedded(config: &Config) -> Result<(Option<Embedded>, String), Box<dyn Error>> {
    let data_dir = config.database.data_dir.clone();
    if !has_cluster(&data_dir) {
        let shown = std::path::absolute(&data_dir).unwrap_or_else(|_| data_dir.clone());
        return Err(format!(
            "there is no database in the folder {}; run this where the service runs, name its folder with \
             WORKING_MEMORY__DATABASE__DATA_DIR, or set DATABASE_URL (a new database is made by `working-memory serve`)",
            shown.display()
        )
        .into());
    }
    let options = EmbeddedOptions {
        data_dir: data_dir.clone(),
        throw_away: false,
        max_connections: SERVER_CONNECTIONS,
    };
    // The other account's process would only say that the folder is in use.
    if Account::instead_of_root(Some(&data_dir))?.is_some()
        && let Some(url) = url_of_answering(&data_dir).await
    {
        return Ok((None, url));
    }
    match Embedded::start(options).await {
        Ok(server) => {
            let url = server.url();
            Ok((Some(server), url))
        }
        Err(error) => {
            let is_in_use = matches!(error.downcast_ref(), Some(EmbeddedError::InUse { .. }));
            let running = is_in_use.then(|| url_of_running(&data_dir)).flatten();
            running.map_or(Err(error), |url| Ok((None, url)))
        }
    }
}
