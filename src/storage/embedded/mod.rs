//! The embedded database server: a private PostgreSQL cluster under the service's data folder, made and run
//! with the PostgreSQL binaries of the machine.
//!
//! - It listens on a Unix socket in a folder of mode 0700 and on nothing else.
//! - It lives as long as its [`EmbeddedServer`]. Killed by somebody, it is started again; if the service
//!   itself is killed, the server shuts down, and the next start waits for that and recovers what is needed.
//! - One service at a time holds a data folder.
//! - It lets in the service's own user and the account that it runs under (`access`).
//! - As root, the server runs under the account that owns the cluster, or `working-memory`, or `postgres`. Root trusts
//!   nothing in the folders of that account (`handle`).

mod access;
mod account;
mod binaries;
mod cluster;
mod error;
pub(crate) mod folder;
mod handle;
mod leftover;
mod server;
mod server_log;
mod supervisor;

use std::path::{Path, PathBuf};

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub use error::EmbeddedError;

use binaries::Binaries;
use folder::DataFolder;
use handle::Folder;
use server::Launcher;

/// What kind of server is wanted, and where.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    /// The folder that holds, or will hold, the cluster; made if missing.
    pub data_dir: PathBuf,
    /// Trade durability for speed (no fsync), for data nobody will miss: tests and demonstrations.
    pub throw_away: bool,
    /// Most connections at a time, at least 1.
    pub max_connections: u32,
}

/// Whether a data folder holds a cluster, so far as this process may look.
#[must_use]
pub fn has_cluster(data_dir: &Path) -> bool {
    home_of(data_dir).is_some_and(|home| cluster::major_version(&home).is_some())
}

/// Where the server of a data folder is reached that a service in another process runs: at the socket that the server
/// has written down. `None` if it has not, or this process may not look.
#[must_use]
pub fn url_of_running(data_dir: &Path) -> Option<String> {
    let written = home_of(data_dir)?
        .folder("cluster")
        .ok()?
        .text("postmaster.pid")
        .ok()?;
    // Process, folder, start, port, then the folder of the socket.
    let is_one = |dir: &&str| dir.starts_with('/') && folder::fits_a_socket(dir);
    let socket_dir = written.lines().nth(4).filter(is_one)?;
    Some(server::url_at(socket_dir))
}

fn home_of(data_dir: &Path) -> Option<Folder> {
    let data_dir = Folder::open(&data_dir.canonicalize().ok()?).ok()?;
    data_dir.folder_or_own_link("postgres").ok()
}

/// A running embedded server. [`stop`](Self::stop) it to wait for its end; dropped, it is told to stop.
#[derive(Debug)]
pub struct EmbeddedServer {
    url: String,
    stop: oneshot::Sender<()>,
    supervisor: JoinHandle<()>,
}

impl EmbeddedServer {
    /// Takes the data folder, makes a cluster if there is none, starts the server, and returns when it
    /// answers and its database is there. Needs a Tokio runtime with I/O and time.
    ///
    /// # Errors
    ///
    /// Every [`EmbeddedError`] says what to do about it.
    pub async fn start(options: EmbeddedOptions) -> Result<Self, EmbeddedError> {
        let EmbeddedOptions {
            data_dir,
            throw_away,
            max_connections,
        } = options;
        let folder = DataFolder::open(&data_dir, throw_away).await?;
        let cluster = folder.cluster();
        let made_by = cluster::major_version(&folder.home);
        let binaries = Binaries::find(made_by, &cluster)?;
        if made_by.is_none() {
            cluster::initialize(&folder.home, &binaries, folder.account, throw_away).await?;
        } else {
            folder.account.own_restored(&folder.home)?;
        }
        access::write(&cluster, folder.account).await?;
        let socket_dir = folder.make_socket_dir()?;
        let launcher = Launcher {
            folder,
            binaries,
            socket_dir,
            throw_away,
            max_connections,
        };
        let server = launcher.launch().await?;
        let url = launcher.url();
        let (stop, stopped) = oneshot::channel();
        let supervisor = tokio::spawn(supervisor::supervise(launcher, server, stopped));
        Ok(Self {
            url,
            stop,
            supervisor,
        })
    }

    /// Where the server is reached: `postgres://…?host=<socket folder>&…`, for sqlx, psql and libpq alike.
    /// It stays the same when the server has to be started again.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Stops the server (fast shutdown: open transactions are rolled back, what was committed is on disk)
    /// and gives the data folder free.
    ///
    /// # Errors
    ///
    /// [`EmbeddedError::Supervisor`] if the task that watches over the server has panicked.
    pub async fn stop(self) -> Result<(), EmbeddedError> {
        // An error means that the supervisor is already gone, which its join shows.
        let _ = self.stop.send(());
        self.supervisor.await.map_err(|_| EmbeddedError::Supervisor)
    }
}
