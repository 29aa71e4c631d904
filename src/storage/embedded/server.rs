//! A server process: settings, start and stop; and the task that restarts it when it ends, and stops it at the end.

use super::binaries::Binaries;
use super::cluster::{USER, command};
use super::error::{EmbeddedError, tells_full_disk};
use super::folder::{DataFolder, SocketDir};
use super::leftover::STOPS;
use super::{EmbeddedOptions, leftover, server_log};
use rustix::process::Pid;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Child;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

/// The service's database.
const DATABASE: &str = "working_memory";
/// Crash recovery may take long on a slow disk; the server rejects connections meanwhile.
const START_TIMEOUT: Duration = Duration::from_secs(300);
/// Number of attempts if the server ends at once: processes of a killed server may still use the cluster for a moment.
const START_ATTEMPTS: u32 = 5;
/// SQLSTATE `invalid_catalog_name`: no such database.
const NO_SUCH_DATABASE: &str = "3D000";

/// Settings of a small private server, besides its socket's folder and its connections. Settings that affect durability
/// keep their safe defaults.
const SETTINGS: [(&str, &str); 18] = [
    ("listen_addresses", ""),
    ("port", "5432"),
    ("unix_socket_permissions", "0700"),
    ("superuser_reserved_connections", "0"),
    ("shared_buffers", "64MB"),
    ("max_wal_size", "256MB"),
    ("max_wal_senders", "0"),
    ("wal_level", "minimal"),
    ("max_parallel_workers_per_gather", "0"),
    ("jit", "off"),
    ("timezone", "UTC"),
    ("log_timezone", "UTC"),
    // The log must not contain text of memories: errors are returned to the service, which knows what it may show; the
    // server logs only its own state.
    ("log_min_messages", "log"),
    ("log_min_error_statement", "panic"),
    ("log_error_verbosity", "terse"),
    ("log_checkpoints", "off"),
    ("log_autovacuum_min_duration", "-1"),
    ("logging_collector", "off"),
];

/// Those of a server whose data is disposable.
const THROW_AWAY: [(&str, &str); 3] = [
    ("fsync", "off"),
    ("synchronous_commit", "off"),
    ("full_page_writes", "off"),
];

/// Everything needed to start the server repeatedly.
#[derive(Debug)]
pub(super) struct Launcher {
    pub(super) folder: DataFolder,
    pub(super) binaries: Binaries,
    pub(super) socket_dir: SocketDir,
    pub(super) options: EmbeddedOptions,
}

/// A running server.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    /// Stops the server if the service dies; see [`Launcher::lifeline`].
    lifeline: Child,
}

/// The URL of the server whose socket is in a folder.
pub(super) fn url_at(socket_dir: &str) -> String {
    let options = "-csearch_path%3Dpublic";
    format!("postgres://{USER}@localhost:5432/{DATABASE}?host={socket_dir}&sslmode=disable&options={options}")
}

impl Launcher {
    /// The server's URL for sqlx and libpq. Port, TLS mode and the schema are explicit because `PGPORT`, `PGSSLMODE` and
    /// `PGOPTIONS` would set them otherwise.
    pub(super) fn url(&self) -> String {
        url_at(&self.socket_dir.path)
    }

    /// Starts the server, and waits until it answers and its database exists.
    pub(super) async fn launch(&self) -> Result<Server, EmbeddedError> {
        let mut pause = Duration::from_millis(200);
        let mut attempt = 1;
        loop {
            leftover::clear(&self.folder.home).await;
            let mut server = self.spawn()?;
            let Err(error) = self.wait_until_ready(&mut server).await else {
                return Ok(server);
            };
            let has_ended = matches!(server.child.try_wait(), Ok(Some(_)));
            server.stop().await;
            if attempt == START_ATTEMPTS || !has_ended {
                return Err(error);
            }
            sleep(pause).await;
            pause *= 2;
            attempt += 1;
        }
    }

    fn spawn(&self) -> Result<Server, EmbeddedError> {
        let log_file = self.folder.log_file();
        let log = server_log::open(&self.folder.home).map_err(EmbeddedError::folder("write", &log_file))?;
        let for_errors = log
            .try_clone()
            .map_err(EmbeddedError::folder("write", &log_file))?;
        let postgres = self.binaries.postgres();
        let mut command = command(&postgres);
        command.arg("-D").arg(self.folder.cluster());
        let max_connections = self.options.max_connections.to_string();
        let own = [
            ("unix_socket_directories", &*self.socket_dir.path),
            ("max_connections", &max_connections),
        ];
        let without_durability: &[_] = if self.options.throw_away { &THROW_AWAY } else { &[] };
        for (name, value) in SETTINGS.iter().chain(&own).chain(without_durability) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.stdin(Stdio::null()).stdout(log).stderr(for_errors);
        let mut child = command.spawn().map_err(EmbeddedError::spawn(&postgres))?;
        match self.lifeline(child.id()) {
            Ok(lifeline) => Ok(Server { child, lifeline }),
            Err(error) => {
                // The first error is returned.
                let _ = child.start_kill();
                Err(error)
            }
        }
    }

    /// A shell that waits for the end of its input, which this process holds open, and then requests a fast shutdown.
    /// So the server does not outlive the service by much, even if the service is killed.
    fn lifeline(&self, server: Option<u32>) -> Result<Child, EmbeddedError> {
        let shell = Path::new("/bin/sh");
        let mut command = command(shell);
        command
            .args(["-c", "read -r _; kill -INT \"$0\""])
            .arg(server.unwrap_or_default().to_string());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().map_err(EmbeddedError::spawn(shell))
    }

    async fn wait_until_ready(&self, server: &mut Server) -> Result<(), EmbeddedError> {
        let options: PgConnectOptions = self.url().parse()?;
        let options = options.disable_statement_logging();
        let ready = async {
            loop {
                if let Ok(Some(status)) = server.child.try_wait() {
                    return Err(self.not_started(status.to_string()));
                }
                match PgConnection::connect_with(&options).await {
                    Ok(connection) => return Ok(connection.close().await?),
                    Err(error) if sqlstate(&error).as_deref() == Some(NO_SUCH_DATABASE) => {
                        make_database(&options).await?;
                    }
                    Err(_) => sleep(Duration::from_millis(20)).await,
                }
            }
        };
        // Also where it takes a connection and says nothing.
        let silent = |_| {
            let seconds = START_TIMEOUT.as_secs();
            Err(self.not_started(format!("no answer within {seconds} seconds")))
        };
        timeout(START_TIMEOUT, ready).await.unwrap_or_else(silent)
    }

    fn not_started(&self, reason: String) -> EmbeddedError {
        let log = server_log::tail(&self.folder.home);
        if tells_full_disk(&log) {
            return EmbeddedError::disk_full(&self.folder.cluster());
        }
        let log_file = self.folder.log_file().display().to_string();
        EmbeddedError::Start {
            reason,
            log_file,
            log,
        }
    }
}

impl Server {
    /// Waits for the server to end by itself. Cancel safe.
    pub(super) async fn ended(&mut self) -> String {
        let status = self.child.wait().await;
        // It is no longer needed, and the process id may be reused soon.
        let _ = self.lifeline.kill().await;
        status.map_or_else(|error| error.to_string(), |status| status.to_string())
    }

    /// Stops the server with increasingly hard signals.
    pub(super) async fn stop(&mut self) {
        for (signal, limit) in STOPS {
            if let Some(pid) = self.child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?)) {
                // It may have ended already.
                let _ = rustix::process::kill_process(pid, signal);
            }
            if timeout(limit, self.child.wait()).await.is_ok() {
                break;
            }
        }
        let _ = self.lifeline.kill().await;
    }
}

async fn make_database(options: &PgConnectOptions) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect_with(&options.clone().database("postgres")).await?;
    sqlx::raw_sql("CREATE DATABASE working_memory")
        .execute(&mut connection)
        .await?;
    connection.close().await
}

fn sqlstate(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Runs until `stop` gets a message, or its sender is dropped. The launcher, which holds the lock of the data folder,
/// is dropped only after the server has ended.
pub(super) async fn supervise(launcher: Launcher, mut server: Server, mut stop: oneshot::Receiver<()>) {
    loop {
        tokio::select! {
            _ = &mut stop => return server.stop().await,
            status = server.ended() => {
                tracing::error!(%status, "the database server ended unexpectedly, starting it again");
                tokio::select! {
                    _ = &mut stop => return,
                    restarted = relaunch(&launcher) => server = restarted,
                }
            }
        }
    }
}

/// Retries with backoff until the server runs: without its database the service can only wait.
async fn relaunch(launcher: &Launcher) -> Server {
    let mut pause = FIRST_PAUSE;
    loop {
        match launcher.launch().await {
            Ok(server) => {
                tracing::info!("the database server runs again");
                return server;
            }
            Err(error) => tracing::error!(%error, "the database server cannot be started"),
        }
        sleep(pause).await;
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}
