//! `working-memory serve`: runs the service until it is stopped.

use super::client::Failure;
use crate::background::{Background, Workers};
use crate::cli::offline::pool;
use crate::cli::run::{Stop, load_config_with};
use crate::clock::{Clock, SystemClock};
use crate::config::{Config, ConfigError};
use crate::http::{self, AppState, Server, Settings, Tls};
use crate::llm::embeddings::Embedder;
use crate::llm::{Client, Delivery, Models};
use crate::pipeline::{Pipeline, prompts::Prompts};
use crate::storage::embedded::{Account, EmbeddedOptions, EmbeddedServer, has_cluster};
use crate::storage::{Distribution, OWN_CONNECTIONS, PoolOptions, Quotas, Storage, StorageError};
use crate::telemetry;
use crate::telemetry::traces::{self, Traces};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use rustix::process::{Resource, getrlimit, setrlimit};
use secrecy::ExposeSecret;
use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// How often the first connection to the database is tried, and the pause between tries.
const FIRST_CONNECTION_TRIES: u32 = 60;
const BETWEEN_TRIES: Duration = Duration::from_secs(1);

/// Connections of the embedded server beyond the pool's, for an operator's `psql`.
const SPARE_CONNECTIONS: u32 = 8;

const SETTINGS: &str = "\
Settings that most services need, in working-memory.toml or in the environment (.env.example has all):
  http.bind            WORKING_MEMORY__HTTP__BIND           127.0.0.1:8080; others can reach it only with API keys
  database.url         DATABASE_URL                         a PostgreSQL server, instead of the service's own
  llm.provider         WORKING_MEMORY__LLM__PROVIDER        openai or anthropic; without one the built-in rules are used
  llm.model            WORKING_MEMORY__LLM__MODEL           with llm.base_url for a server of your own
  llm.api_key          OPENAI_API_KEY, ANTHROPIC_API_KEY
  log.filter           WORKING_MEMORY__LOG__FILTER          info shows a line for each request";

/// Arguments of `serve`. An option counts more than a variable, a variable more than the file.
#[derive(Debug, Args)]
#[command(after_help = SETTINGS)]
pub struct Serve {
    /// Listen on this address, such as 0.0.0.0:8080 (http.bind).
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = NonEmptyStringValueParser::new())]
    bind: Option<String>,
    /// Listen on another port of the address.
    #[arg(long)]
    port: Option<u16>,
    /// Keep the service's own database in this folder (database.data_dir); without it in one folder for each user.
    #[arg(long, value_name = "FOLDER", value_parser = NonEmptyStringValueParser::new())]
    data_dir: Option<String>,
    /// Read this file instead of `working-memory.toml` [env: WORKING_MEMORY_CONFIG].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Serve {
    pub(super) async fn run(self) -> Result<(), Box<dyn Error>> {
        let stop = Stop::listen()?;
        let config = self.settings()?;
        if config.database.url.is_none() {
            become_account(&config)?;
        }
        let (log, traces) = start_telemetry(&config)?;
        let served = serve(&config, stop).await;
        if let Some(traces) = traces {
            traces.stop().await;
        }
        drop(log);
        match served? {
            true => Ok(()),
            false => Err("requests were still running at the end of the shutdown timeout".into()),
        }
    }

    fn settings(&self) -> Result<Config, ConfigError> {
        // They are checked with the other settings: an open address must be allowed, however it is set.
        let options = [("HTTP__BIND", &self.bind), ("DATABASE__DATA_DIR", &self.data_dir)];
        let options = options
            .into_iter()
            .filter_map(|(name, value)| Some((format!("WORKING_MEMORY__{name}"), value.clone()?)));
        let mut config = load_config_with(self.config.as_deref(), options)?;
        if let Some(port) = self.port {
            config.http.bind.set_port(port);
        }
        Ok(config)
    }
}

/// With an embedded database, a service that is started as root becomes another account before it does anything: this
/// process runs the program again as that account, and returns only if that fails. Wrong settings are reported before, as
/// the data folder is made for that account.
fn become_account(config: &Config) -> Result<(), Box<dyn Error>> {
    let data_dir = &config.database.data_dir;
    let Some(account) = Account::instead_of_root(Some(data_dir))? else {
        return Ok(());
    };
    prepared(config).map_err(|error| Failure::usage(error.to_string()))?;
    let data_dir = std::path::absolute(data_dir)?;
    account.make_data_dir(&data_dir)?;
    let mut program = account.this_program();
    program.args(std::env::args_os().skip(1));
    // The default folder of the account is another one than root's.
    program.env("WORKING_MEMORY__DATABASE__DATA_DIR", data_dir);
    let error = program.exec();
    Err(format!("cannot run this program as {}: {error}", account.name()).into())
}

/// Starts the log, which ends with its guard, and traces if a collector is configured.
fn start_telemetry(config: &Config) -> Result<(telemetry::Guard, Option<Traces>), Box<dyn Error>> {
    let (log, telemetry) = (&config.log, &config.telemetry);
    let Some(endpoint) = &telemetry.otlp_endpoint else {
        return Ok((telemetry::start_logs(log.format, log.filter())?, None));
    };
    let client = Delivery::new(Client::new(endpoint.scheme() == "https")?);
    let (guard, traces) = traces::start(log.format, log.filter(), telemetry, endpoint, client)?;
    Ok((guard, Some(traces)))
}

/// Runs the service. `Ok(false)`: it stopped with requests unfinished.
async fn serve(config: &Config, mut stop: Stop) -> Result<bool, Box<dyn Error>> {
    // Wrong settings are reported before a database is created.
    let prepared = prepared(config).map_err(|error| Failure::usage(error.to_string()))?;
    let settings = &prepared.settings;
    raise_file_limit();
    // At a terminal it ends a service without a certificate, as when the window is closed.
    if settings.tls.is_some() || !io::stdin().is_terminal() {
        tokio::spawn(reload_on_sighup(settings.tls.clone()));
    }
    let listener = TcpListener::bind(config.http.bind)
        .await
        .map_err(|error| cannot_listen(config.http.bind, &error))?;
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}", listener.local_addr()?);
    tracing::info!(url, "starting");
    if config.log.is_screen() {
        first_screen(config, &url, &prepared.models);
    }
    let server = Server::start(listener, settings.clone(), Arc::new(SystemClock));
    let (embedded, database_url) = tokio::select! {
        database = database(config) => database?,
        _ = stop.wait() => return Ok(true),
    };
    let served = with_database(config, &database_url, prepared, (server, &url), &mut stop).await;
    if let Some(server) = embedded {
        server.stop().await?;
    }
    served
}

fn cannot_listen(bind: SocketAddr, error: &io::Error) -> String {
    format!(
        "http.bind {bind}: {error}: choose another port with `working-memory serve --port 8081`, or another address with \
         --bind, or stop what listens there, perhaps this service already (`working-memory health` tells)"
    )
}

/// What is made of the settings alone.
struct Prepared {
    models: Models,
    embedder: Option<Embedder>,
    prompts: Prompts,
    settings: Settings,
}

fn prepared(config: &Config) -> Result<Prepared, Box<dyn Error>> {
    let models = Models::from_config(&config.llm)?;
    let embedder = Embedder::from_config(&config.embeddings)?;
    let prompts = Prompts::load(config.pipeline.prompts_dir.as_deref())?;
    let mut settings = Settings::of(config);
    if let Some((certificate, key)) = config.http.tls.files() {
        settings.tls = Some(Arc::new(Tls::load(certificate, key)?));
    }
    let needs_a_key = !config.http.may_be_open() && config.http.require_keys.is_none();
    if needs_a_key && config.database.url.is_none() && !has_cluster(&config.database.data_dir) {
        return Err(config.http.refusal_without_keys().into());
    }
    Ok(Prepared {
        models,
        embedder,
        prompts,
        settings,
    })
}

/// What a person at a terminal wants to know; from then on a line is a problem.
fn first_screen(config: &Config, url: &str, models: &Models) {
    let data = match &config.database.url {
        Some(_) => "the PostgreSQL server of DATABASE_URL or database.url".to_owned(),
        None => shown(&config.database.data_dir),
    };
    eprintln!("working-memory {}", env!("CARGO_PKG_VERSION"));
    eprintln!("  address  {url}  (in a browser: the dashboard)");
    eprintln!("  data     {data}");
    eprintln!("  models   {}", models.describe());
}

/// A folder, wherever it is read.
pub(super) fn shown(folder: &Path) -> String {
    let absolute = std::path::absolute(folder);
    absolute.as_deref().unwrap_or(folder).display().to_string()
}

/// Raises the limit of open files: every stream holds a socket, and many systems start with 1,024 and allow far more.
fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // On failure the existing limit suffices for most.
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the limit of open files is unchanged");
    }
}

/// The configured database, or an embedded server.
async fn database(config: &Config) -> Result<(Option<EmbeddedServer>, String), Box<dyn Error>> {
    if let Some(url) = &config.database.url {
        return Ok((None, url.expose_secret().to_owned()));
    }
    let data_dir = config.database.data_dir.clone();
    tracing::info!(folder = %data_dir.display(), "starting the embedded database");
    let server = EmbeddedServer::start(EmbeddedOptions {
        data_dir,
        throw_away: false,
        max_connections: config.database.max_connections + OWN_CONNECTIONS + SPARE_CONNECTIONS,
    })
    .await?;
    let url = server.url();
    Ok((Some(server), url))
}

async fn with_database(
    config: &Config,
    url: &str,
    prepared: Prepared,
    (server, own_url): (Server, &str),
    stop: &mut Stop,
) -> Result<bool, Box<dyn Error>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let storage = tokio::select! {
        storage = open(config, url, clock.clone()) => storage?,
        _ = stop.wait() => return Ok(true),
    };
    let storage = storage.with_quotas(Quotas {
        memories: config.limits.vault_memories,
        bytes: config.limits.vault_bytes,
    });
    let storage = storage.embedding(prepared.embedder.is_some());
    if !config.http.may_be_open() && config.http.require_keys.is_none() && !storage.active_keys().await?.ever
    {
        storage.close().await;
        return Err(Failure::usage(config.http.refusal_without_keys()).into());
    }
    tracing::info!(models = prepared.models.describe(), "models");
    let pipeline = Pipeline::new(
        storage.clone(),
        (prepared.models, prepared.embedder),
        prepared.prompts,
        clock.clone(),
        config,
    );
    let grace = prepared.settings.shutdown_grace;
    let state = AppState::new(
        storage.clone(),
        pipeline.clone(),
        clock.clone(),
        prepared.settings,
    );
    let stopping = state.stopping.clone();
    let metrics = tokio::spawn(telemetry::keep_metrics());
    let background = Background::start(&storage, &clock, &config.retention);
    let listen_url = config.database.listen_url.as_ref();
    let listen_url = listen_url.map_or_else(|| url.to_owned(), |url| url.expose_secret().to_owned());
    background.serve(&storage, &clock, &pipeline, config, listen_url);
    let workers = Workers::start(
        &storage,
        &pipeline,
        &clock,
        &config.pipeline,
        stopping.clone(),
        grace,
    );
    server.ready(http::router(state));
    tracing::info!(url = own_url, "ready");
    if config.log.is_screen() {
        eprintln!("ready; Ctrl+C stops it");
    }
    stop.wait().await;
    // Streams end, workers start nothing more.
    stopping.cancel();
    let finished = server.stop().await?;
    workers.stopped().await;
    metrics.abort();
    tracing::info!(finished, "stopping");
    background.stop().await;
    storage.close().await;
    Ok(finished)
}

/// Opens the database and migrates its schema, waiting for a server that is still starting.
async fn open(config: &Config, url: &str, clock: Arc<dyn Clock>) -> Result<Storage, StorageError> {
    let mut tries = 1;
    loop {
        match try_open(config, url, clock.clone()).await {
            Err(error @ StorageError::Unavailable(_)) if tries < FIRST_CONNECTION_TRIES => {
                tracing::warn!(%error, tries, "waiting for the database");
                tries += 1;
                tokio::time::sleep(BETWEEN_TRIES).await;
            }
            other => return other,
        }
    }
}

async fn try_open(config: &Config, url: &str, clock: Arc<dyn Clock>) -> Result<Storage, StorageError> {
    let options = PoolOptions {
        head_cache_bytes: config.database.head_cache_bytes,
        gather_puts: config.database.gather_puts,
        ..pool(config, url, config.database.max_connections).await?
    };
    if !options.prepared_statements {
        tracing::info!(
            "prepared statements are not kept: the database is behind a pooler; set database.prepared_statements to true if it \
             tracks them"
        );
    }
    let mut storage = Storage::connect(&options, clock).await?;
    if let Some(url) = &config.database.replica_url {
        let max_lag = Duration::from_secs(config.database.replica_max_lag_seconds);
        storage = storage.with_replica(url.expose_secret(), max_lag)?;
    }
    storage.migrate().await?;
    storage.reserve_connections().await?;
    if let Distribution::Partial { local } = storage.distribution().await? {
        tracing::warn!(
            tables = local.join(", "),
            "some tables are distributed by vault and these are not: stop all instances, then run working-memory migrate \
             --distribute"
        );
    }
    Ok(storage)
}

/// Reloads certificate and key at every SIGHUP. Without them there is nothing to do, but the service must not end by it: for
/// systemd that would be a clean end, after which it starts nothing again.
async fn reload_on_sighup(tls: Option<Arc<Tls>>) {
    let Ok(mut hangup) = signal(SignalKind::hangup()) else {
        return;
    };
    while hangup.recv().await.is_some() {
        match tls.as_deref().map(Tls::reload) {
            None => tracing::info!("nothing is reloaded: http.tls is not set"),
            Some(Ok(())) => tracing::info!("certificate and key were reloaded"),
            Some(Err(error)) => tracing::error!(%error, "the certificate in use stays"),
        }
    }
}
