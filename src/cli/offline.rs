//! The database of a command that works beside the service: the configured one, or the embedded one while no
//! service holds its folder.

use crate::clock::SystemClock;
use crate::config::Config;
use crate::storage::embedded::{EmbeddedOptions, EmbeddedServer, has_cluster};
use crate::storage::{PoolOptions, Storage, keeps_prepared_statements};
use secrecy::ExposeSecret;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// One for the transaction, one for what goes beside it, and some for an operator's `psql`.
const CONNECTIONS: u32 = 2;
const SERVER_CONNECTIONS: u32 = 10;

/// What a command means to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Only to read: a database that is not there is not made, and a configured one keeps its schema.
    Read,
    /// To write: the schema is brought up to date, and an embedded database made if there is none.
    Write,
}

/// A database, open for one command.
pub(super) struct Offline {
    pub(super) storage: Storage,
    server: Option<EmbeddedServer>,
}

impl Offline {
    pub(super) async fn open(config: &Config, access: Access) -> Result<Self, Box<dyn Error>> {
        let server = match &config.database.url {
            Some(_) => None,
            None => Some(embedded(config, access).await?),
        };
        let url = match (&config.database.url, &server) {
            (Some(url), _) => url.expose_secret().to_owned(),
            (None, Some(server)) => server.url(),
            (None, None) => return Err("no database".into()),
        };
        let prepared_statements = match config.database.prepared_statements {
            Some(kept) => kept,
            None => keeps_prepared_statements(&url).await?,
        };
        let options = PoolOptions {
            url,
            max_connections: CONNECTIONS,
            prepared_statements,
            acquire_timeout: Duration::from_secs(config.database.acquire_timeout_seconds),
            head_cache_bytes: 0,
            gather_puts: false,
        };
        let storage = Storage::connect_lazy(&options, Arc::new(SystemClock))?;
        let offline = Self { storage, server };
        if (offline.server.is_some() || access == Access::Write)
            && let Err(error) = offline.storage.migrate().await
        {
            offline.close().await?;
            return Err(error.into());
        }
        Ok(offline)
    }

    pub(super) async fn close(self) -> Result<(), Box<dyn Error>> {
        self.storage.close().await;
        match self.server {
            Some(server) => Ok(server.stop().await?),
            None => Ok(()),
        }
    }
}

async fn embedded(config: &Config, access: Access) -> Result<EmbeddedServer, Box<dyn Error>> {
    let data_dir = config.database.data_dir.clone();
    if access == Access::Read && !has_cluster(&data_dir) {
        return Err(format!(
            "there is no database in the folder {}; set DATABASE_URL, or name the service's folder with \
             WORKING_MEMORY__DATABASE__DATA_DIR",
            data_dir.display()
        )
        .into());
    }
    let options = EmbeddedOptions {
        data_dir,
        throw_away: false,
        max_connections: SERVER_CONNECTIONS,
    };
    Ok(EmbeddedServer::start(options).await?)
}
