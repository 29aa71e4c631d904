//! The embedded database server: a private PostgreSQL cluster in the service's data folder, created and run with the
//! machine's PostgreSQL binaries.
//!
//! - It listens only on a Unix socket in a folder of mode 0700.
//! - It lives as long as its [`EmbeddedServer`]. If it is killed, it is restarted. If the service itself is killed, the
//!   server shuts down, and the next start waits for that and recovers if necessary.
//! - Only one service at a time can use a data folder.
//! - Only the service's own user and root may connect (`access`).
//! - Root never uses it: commands that are run as root run this program again as another account ([`Account`]).

mod account;
mod binaries;
mod cluster;
mod error;
pub(crate) mod folder;
mod leftover;
mod server;
mod server_log;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub use account::Account;
pub use error::EmbeddedError;

use binaries::Binaries;
use folder::DataFolder;
use leftover::PidFile;
use server::Launcher;

/// Options of the server.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    /// The folder of the cluster; created if missing.
    pub data_dir: PathBuf,
    /// Trades durability for speed (no fsync), for tests and demonstrations.
    pub throw_away: bool,
    /// Maximum number of connections, at least 1.
    pub max_connections: u32,
}

/// Whether a data folder contains a cluster, as far as this process may read it.
#[must_use]
pub fn has_cluster(data_dir: &Path) -> bool {
    cluster::major_version(&data_dir.join("postgres")).is_some()
}

/// How long another process's server has time to answer. A process that is stopped accepts connections and says nothing.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

/// The URL of a data folder's server that another process runs, if it answers. `None` also if the server has recorded no
/// socket, or this process may not read that.
pub async fn url_of_answering(data_dir: &Path) -> Option<String> {
    let socket_dir = PidFile::read(&data_dir.join("postgres"))?.socket_dir?;
    if !socket_dir.starts_with('/') || !folder::fits_a_socket(&socket_dir) {
        return None;
    }
    let url = server::url_at(&socket_dir);
    let answered = timeout(ANSWERED_WITHIN, PgConnection::connect(&url)).await;
    let connection = answered.ok()?.ok()?;
    // Best effort: it is not used any more.
    let _ = connection.close().await;
    Some(url)
}

/// A running embedded server. [`stop`](Self::stop) waits for its end; dropping it only requests that it stops.
#[derive(Debug)]
pub struct EmbeddedServer {
    url: String,
    stop: oneshot::Sender<()>,
    supervisor: JoinHandle<()>,
}

impl EmbeddedServer {
    /// Locks the data folder, creates a cluster if there is none, starts the server, and returns when it answers and
    /// its database exists. Needs a Tokio runtime with I/O and time.
    ///
    /// # Errors
    ///
    /// Every [`EmbeddedError`] says what to do about it.
    pub async fn start(options: EmbeddedOptions) -> Result<Self, EmbeddedError> {
        let folder = DataFolder::open(&options.data_dir)?;
        let cluster = folder.cluster();
        let made_by = cluster::major_version(&folder.home);
        let binaries = Binaries::find(made_by, &cluster)?;
        if made_by.is_none() {
            cluster::initialize(&folder.home, &binaries, options.throw_away).await?;
        }
        cluster::write_access(&cluster).await?;
        let socket_dir = folder.make_socket_dir()?;
        server_log::turn_over(&folder.home).map_err(EmbeddedError::folder("write", &folder.log_file()))?;
        let launcher = Launcher {
            folder,
            binaries,
            socket_dir,
            options,
        };
        let server = launcher.launch().await?;
        let url = launcher.url();
        let (stop, stopped) = oneshot::channel();
        let supervisor = tokio::spawn(server::supervise(launcher, server, stopped));
        Ok(Self {
            url,
            stop,
            supervisor,
        })
    }

    /// The server's URL, `postgres://…?host=<socket folder>&…`, for sqlx, psql and libpq. It stays the same when the
    /// server is restarted.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Stops the server (fast shutdown: open transactions are rolled back, committed data is on disk) and unlocks the
    /// data folder.
    ///
    /// # Errors
    ///
    /// The supervisor task has panicked.
    pub async fn stop(self) -> Result<(), EmbeddedError> {
        // An error means that the supervisor has ended; joining it reports why.
        let _ = self.stop.send(());
        let problem = "the task that watches over the embedded PostgreSQL ended unexpectedly";
        self.supervisor
            .await
            .map_err(|_| EmbeddedError::Unusable(problem.to_owned()))
    }
}
