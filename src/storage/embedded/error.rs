//! Errors of the embedded server; their messages say what to do next.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

/// Why the embedded server could not be started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// No PostgreSQL binaries were found on this machine.
    #[error(
        "no PostgreSQL server binaries found; install them with: {install}\n\
         (or point WORKING_MEMORY_PG_BIN at the folder that holds `postgres` and `initdb`, \
         or set DATABASE_URL to a running server)"
    )]
    NoBinaries {
        /// The command that installs them.
        install: String,
    },
    /// `WORKING_MEMORY_PG_BIN` is a folder without working server programs.
    #[error("WORKING_MEMORY_PG_BIN is {dir}, but that folder holds no working `postgres` and `initdb`")]
    BadFolderOfBinaries {
        /// The folder.
        dir: String,
    },
    /// Only binaries older than PostgreSQL 15 were found.
    #[error("PostgreSQL {found} in {dir} is too old, 15 or later is needed; install it with: {install}")]
    TooOld {
        /// The major version of the newest binaries found.
        found: u32,
        /// Their folder.
        dir: String,
        /// The command that installs newer ones.
        install: String,
    },
    /// The cluster was created by a major version of PostgreSQL that is not installed.
    #[error(
        "the cluster in {folder} was made by PostgreSQL {cluster}, but only {found} is installed; install \
         PostgreSQL {cluster} beside it, or move the folder away to begin with an empty one"
    )]
    OtherVersion {
        /// The folder of the cluster.
        folder: String,
        /// The major version that created it.
        cluster: u32,
        /// The newest installed major version.
        found: u32,
    },
    /// Another service uses the data folder.
    #[error(
        "the data folder {folder} is in use by another working-memory service ({}); if that one is still starting, try again \
         in a moment, or else stop it, or choose another folder with WORKING_MEMORY__DATABASE__DATA_DIR", Owner(*.pid)
    )]
    InUse {
        /// The data folder.
        folder: String,
        /// The process id of that service, if it could be read.
        pid: Option<u32>,
    },
    /// The disk of the data folder is full.
    #[error(
        "the disk that holds {path} is full, so the embedded PostgreSQL cannot start; free space on it or make it larger, \
         and start again. The database in that folder is unchanged; another folder would begin an empty one"
    )]
    DiskFull {
        /// The file or folder that could not be written.
        path: String,
    },
    /// A file or folder of the server cannot be created, read or written.
    #[error(
        "cannot {action} {path}: {source}; choose a writable folder with WORKING_MEMORY__DATABASE__DATA_DIR"
    )]
    Folder {
        /// The attempted action, as a verb.
        action: &'static str,
        /// The path.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// The service runs as root, and the machine has no account to run PostgreSQL.
    #[error(
        "PostgreSQL refuses to run as root, and there is neither an account `working-memory` nor `postgres`; add one \
         (useradd --system working-memory), or start the service as an ordinary user"
    )]
    NoAccount,
    /// The data folder belongs to another user, who could exchange what is in it.
    #[error(
        "the folder {folder} belongs to the user {owner}, not to the one that runs this: give it to that one (chown -R), or \
         choose another folder with WORKING_MEMORY__DATABASE__DATA_DIR"
    )]
    OfAnother {
        /// The folder.
        folder: String,
        /// The id of its owner.
        owner: u32,
    },
    /// A program of PostgreSQL could not be started.
    #[error("cannot run {program}: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// `initdb` failed.
    #[error("making a new PostgreSQL cluster failed; initdb said:\n{log}")]
    Initialize {
        /// The end of its output.
        log: String,
    },
    /// The server did not start.
    #[error("the embedded PostgreSQL did not start ({reason}); the end of {log_file}:\n{log}")]
    Start {
        /// The cause.
        reason: String,
        /// The path of the server log.
        log_file: String,
        /// Its last lines.
        log: String,
    },
    /// The server is running, but its database could not be created.
    #[error("the embedded PostgreSQL runs, but its database cannot be made: {0}")]
    Database(#[from] sqlx::Error),
    /// The supervisor task has ended, so it is unknown how the server stopped.
    #[error("the task that watches over the embedded PostgreSQL ended unexpectedly")]
    Supervisor,
}

impl EmbeddedError {
    /// For `map_err`: adds the attempted action and the path to an I/O error.
    pub(super) fn folder(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path: PathBuf = path.to_owned();
        move |source| {
            let path = path.display().to_string();
            match source.kind() == io::ErrorKind::StorageFull || tells_full_disk(&source.to_string()) {
                true => Self::DiskFull { path },
                false => Self::Folder { action, path, source },
            }
        }
    }

    /// For `map_err`: adds the program to an I/O error.
    pub(super) fn spawn(program: &Path) -> impl FnOnce(io::Error) -> Self {
        let program = program.display().to_string();
        move |source| Self::Spawn { program, source }
    }
}

/// Whether the output of a program says that the disk is full, in the words of the system.
pub(super) fn tells_full_disk(output: &str) -> bool {
    output.contains("No space left on device") || output.contains("Disk quota exceeded")
}

struct Owner(Option<u32>);

impl Display for Owner {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(pid) => write!(f, "process {pid}"),
            None => f.write_str("process unknown"),
        }
    }
}
