//! Errors of the embedded server; their messages say what to do next.

use std::io;
use std::path::{Path, PathBuf};

/// Why the embedded server could not be started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// Another service uses the data folder.
    #[error(
        "the data folder {folder} is in use by another working-memory service ({owner}); if that one is still starting, try again \
         in a moment, or else stop it, or choose another folder with WORKING_MEMORY__DATABASE__DATA_DIR"
    )]
    InUse {
        /// The data folder.
        folder: String,
        /// The process of that service, as far as it could be read.
        owner: String,
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
    /// Something else of the machine is not as the server needs it.
    #[error("{0}")]
    Unusable(String),
}

impl EmbeddedError {
    /// The disk of the file or folder at this path is full.
    pub(super) fn disk_full(path: &Path) -> Self {
        let path = path.display();
        Self::Unusable(format!(
            "the disk that holds {path} is full, so the embedded PostgreSQL cannot start; free space on it or make it larger, \
             and start again. The database in that folder is unchanged; another folder would begin an empty one"
        ))
    }

    /// For `map_err`: adds the attempted action and the path to an I/O error.
    pub(super) fn folder(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path: PathBuf = path.to_owned();
        move |source| {
            if source.kind() == io::ErrorKind::StorageFull || tells_full_disk(&source.to_string()) {
                return Self::disk_full(&path);
            }
            let path = path.display();
            Self::Unusable(format!(
                "cannot {action} {path}: {source}; choose a writable folder with WORKING_MEMORY__DATABASE__DATA_DIR, of \
                 with-postgres with --data-dir or TMPDIR"
            ))
        }
    }

    /// For `map_err`: adds the program to an I/O error.
    pub(super) fn spawn(program: &Path) -> impl FnOnce(io::Error) -> Self {
        let program = program.display().to_string();
        move |source| Self::Unusable(format!("cannot run {program}: {source}"))
    }
}

/// Whether the output of a program says that the disk is full, in the words of the system.
pub(super) fn tells_full_disk(output: &str) -> bool {
    output.contains("No space left on device") || output.contains("Disk quota exceeded")
}
