//! The commands that work on the database beside the service, such as `migrate`, `rebuild-records` and `embeddings`, and
//! their database: the configured one, or the embedded one, also while a service runs it. None of these commands creates a
//! database: it might be created in the wrong folder.

use crate::cli::client::{Cell, Column, Output, write_table};
use crate::cli::run::{Stop, load_config};
use crate::cli::serve::shown;
use crate::cli::with_postgres::Embedded;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::embedded::{Account, EmbeddedError, EmbeddedOptions, has_cluster, url_of_answering};
use crate::storage::{ACQUIRE_TIMEOUT, PoolOptions, Storage, StorageError, is_direct};
use clap::{Args, Subcommand};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One for the transaction, one for statements beside it.
const CONNECTIONS: u32 = 2;
const SERVER_CONNECTIONS: u32 = 10;

/// The access that a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Read, or change rows that every schema has: a configured database keeps its schema.
    Read,
    /// Write: the schema is migrated to the current version.
    Write,
    /// Migrate: the schema is left to the command.
    Migrate,
}

/// Opens the database, does the work of a command on it, and closes it. With `stopped` a signal ends the work, which is what
/// is said then; without it signals wait for the end.
pub(super) async fn on_database<T>(
    config_file: Option<&Path>,
    access: Access,
    stopped: Option<&str>,
    work: impl AsyncFnOnce(&Storage) -> Result<T, Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    let mut stop = Stop::listen()?;
    let config = load_config(config_file)?;
    let (storage, server) = tokio::select! {
        opened = open(&config) => opened?,
        _ = stop.wait() => return Err("stopped".into()),
    };
    let is_own = server.is_some();
    let all = async {
        check(&storage, &config, access, is_own).await?;
        work(&storage).await
    };
    let done = match stopped {
        None => all.await,
        Some(stopped) => tokio::select! {
            done = all => done,
            _ = stop.wait() => Err(stopped.into()),
        },
    };
    storage.close().await;
    if let Some(server) = server {
        server.stop().await?;
    }
    done
}

/// A pool for the few statements of a command.
pub(super) async fn pool(
    config: &Config,
    url: &str,
    max_connections: u32,
) -> Result<PoolOptions, StorageError> {
    Ok(PoolOptions {
        url: url.to_owned(),
        max_connections,
        prepared_statements: match config.database.prepared_statements {
            Some(kept) => kept,
            None => is_direct(url).await?,
        },
        acquire_timeout: ACQUIRE_TIMEOUT,
        head_cache_bytes: 0,
        gather_puts: false,
    })
}

async fn open(config: &Config) -> Result<(Storage, Option<Embedded>), Box<dyn Error>> {
    let (server, url) = match &config.database.url {
        Some(url) => (None, url.expose_secret().to_owned()),
        None => embedded(config).await?,
    };
    let options = pool(config, &url, CONNECTIONS).await?;
    let storage = Storage::connect(&options, Arc::new(SystemClock)).await?;
    Ok((storage, server))
}

/// Sees that the schema is the current one; `is_own`: the database was started for this command.
async fn check(
    storage: &Storage,
    config: &Config,
    access: Access,
    is_own: bool,
) -> Result<(), Box<dyn Error>> {
    if access == Access::Migrate {
        return Ok(());
    }
    // The service that runs it has migrated its schema.
    let is_anothers = !is_own && config.database.url.is_none();
    if is_anothers && !matches!(storage.schema_is_current().await, Ok(true)) {
        return Err(still_starting(&config.database.data_dir).into());
    }
    match (is_own || access == Access::Write) && !is_anothers {
        true => storage.migrate().await?,
        false => storage.check_schema().await?,
    }
    // Writing has another form where the tables are distributed.
    storage.distribution().await?;
    Ok(())
}

/// The address of the embedded server: one started for this command, or that of a running service.
async fn embedded(config: &Config) -> Result<(Option<Embedded>, String), Box<dyn Error>> {
    let data_dir = config.database.data_dir.clone();
    if !has_cluster(&data_dir) {
        return Err(format!(
            "there is no database in the folder {}; run this as the user that runs the service, name its folder with \
             WORKING_MEMORY__DATABASE__DATA_DIR, or set DATABASE_URL (a new database is made by `working-memory serve`)",
            shown(&data_dir)
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
        Err(error) if matches!(error.downcast_ref(), Some(EmbeddedError::InUse { .. })) => {
            let url = url_of_answering(&data_dir).await;
            url.map(|url| (None, url)).ok_or(error)
        }
        Err(error) => Err(error),
    }
}

/// The folder's database answers, but does not have this program's tables yet.
fn still_starting(data_dir: &Path) -> String {
    format!(
        "the service that uses the data folder {} is still starting (or it stops, or is of an earlier version than this \
         program): try again once `working-memory health` says that it is ready",
        data_dir.display()
    )
}

const NO_EXTENSION: &str = "the schema is up to date; its tables cannot be distributed, since the database does not have the \
                            extension citus: install it on every node, run CREATE EXTENSION citus, and try again";

/// Arguments of `migrate`. The database is `DATABASE_URL` or `database.url`, or else the embedded one of the folder.
#[derive(Debug, Args)]
pub struct Migrate {
    /// Read this file instead of `working-memory.toml` [env: WORKING_MEMORY_CONFIG].
    #[arg(long, value_name = "FILE")]
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
    pub(super) async fn run(self) -> Result<(), Box<dyn Error>> {
        let work = async |storage: &Storage| {
            match self.down_to {
                Some(version) => storage.migrate_down(version).await,
                None => storage.migrate().await,
            }?;
            if self.distribute {
                if !storage.can_distribute().await? {
                    return Err(NO_EXTENSION.into());
                }
                let mut out = Output::new();
                for table in storage.distribute().await? {
                    out.text(&format!("distributed: {table}")).end();
                }
                out.write()?;
            }
            Ok(())
        };
        on_database(self.config.as_deref(), Access::Migrate, Some("stopped"), work).await
    }
}

/// Arguments of `rebuild-records`. The database is `DATABASE_URL` or `database.url`, or else the embedded one of the folder;
/// a service may be using either meanwhile.
///
/// Records and their history are a projection of the versions. What the remaining versions do not contain, because
/// texts were redacted or pruned, is kept as it is.
#[derive(Debug, Args)]
pub struct RebuildRecords {
    /// Only this vault.
    #[arg(long, value_name = "VAULT")]
    vault: Option<VaultId>,
    /// Only this memory of the vault.
    #[arg(long, value_name = "MEMORY", requires = "vault")]
    memory: Option<MemoryId>,
    /// Read this file instead of `working-memory.toml` [env: WORKING_MEMORY_CONFIG].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl RebuildRecords {
    pub(super) async fn run(self) -> Result<(), Box<dyn Error>> {
        let stopped = Some("stopped; memories rebuilt so far are saved");
        let (vault, memory) = (self.vault.as_ref(), self.memory.as_ref());
        let rebuild = async |storage: &Storage| Ok(storage.rebuild_records(vault, memory).await?);
        let rebuilt = on_database(self.config.as_deref(), Access::Write, stopped, rebuild).await?;
        if memory.is_some() && rebuilt.memories == 0 {
            return Err("there is no such memory".into());
        }
        let done = format!(
            "{} memories checked, {} corrected",
            rebuilt.memories, rebuilt.mended
        );
        Ok(Output::new().text(&done).end().write()?)
    }
}

/// Arguments of `embeddings`. The database is `DATABASE_URL` or `database.url`, or else the embedded one of the folder,
/// also while a service runs it.
#[derive(Debug, Args)]
pub struct Embeddings {
    #[command(subcommand)]
    command: EmbeddingsCommand,
    /// Read this file instead of `working-memory.toml` [env: WORKING_MEMORY_CONFIG].
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum EmbeddingsCommand {
    /// Show for which models there are vectors, and how many memories have none yet.
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Let a running service embed every memory again: texts that the model rejected are sent again, existing vectors
    /// are kept.
    Rebuild,
}

impl Embeddings {
    pub(super) async fn run(self) -> Result<(), Box<dyn Error>> {
        let access = match self.command {
            EmbeddingsCommand::Status { .. } => Access::Read,
            EmbeddingsCommand::Rebuild => Access::Write,
        };
        let work = async |storage: &Storage| match self.command {
            EmbeddingsCommand::Status { json } => status(storage, json).await,
            EmbeddingsCommand::Rebuild => rebuild(storage).await,
        };
        on_database(self.config.as_deref(), access, Some("stopped"), work).await
    }
}

const SPACES: [Column; 7] = [
    ("MODEL", Cell::Text("model")),
    ("DIMENSIONS", Cell::Number("dimensions")),
    ("STATE", Cell::Made(state)),
    ("PASSAGES", Cell::Number("passages")),
    ("REJECTED", Cell::Number("refused")),
    ("MEMORIES", Cell::Number("memories")),
    ("WAITING", Cell::Number("pending")),
];

fn state(space: &Value) -> String {
    let state = match (space["current"] == true, space["answering"] == true) {
        (true, true) => "embeds and answers",
        (true, false) => "is being built",
        (false, true) => "answers until the new one is complete",
        (false, false) => "left over",
    };
    state.to_owned()
}

async fn status(storage: &Storage, as_json: bool) -> Result<(), Box<dyn Error>> {
    let spaces = storage.embedding_spaces().await?;
    let answering = spaces.answering().map(|space| space.id.clone());
    let mut all = Vec::new();
    for (index, space) in spaces.0.iter().enumerate() {
        let progress = storage.embedding_progress(&space.id).await?;
        let settings = &space.settings;
        all.push(json!({
            "model": settings.model,
            "dimensions": settings.dimensions,
            "document_prefix": settings.document_prefix,
            "query_prefix": settings.query_prefix,
            "activated_at": space.activated_at,
            "ready_at": space.ready_at,
            "current": index == 0,
            "answering": answering.as_ref() == Some(&space.id),
            "passages": progress.passages,
            "refused": progress.refused,
            "memories": progress.memories,
            "pending": if index == 0 { Some(progress.pending) } else { None },
        }));
    }
    let mut out = Output::new();
    if as_json {
        out.text(&json!({ "spaces": all }).to_string()).end();
    } else if all.is_empty() {
        out.text(NO_EMBEDDINGS).end();
    } else {
        write_table(&mut out, &SPACES, &all);
    }
    Ok(out.write()?)
}

const NO_EMBEDDINGS: &str =
    "there are no embeddings: set embeddings.base_url and embeddings.model, and start the service";

async fn rebuild(storage: &Storage) -> Result<(), Box<dyn Error>> {
    if !storage.rebuild_embeddings().await? {
        return Err(NO_EMBEDDINGS.into());
    }
    let done =
        "all memories are marked; a running service embeds them again (working-memory embeddings status)";
    Ok(Output::new().text(done).end().write()?)
}
