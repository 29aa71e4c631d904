//! The data folder: its lock and its layout.
//!
//! ```text
//! <data folder>/
//!   service.lock      locked while a service uses the folder
//!   postgres/         the server's files
//!     cluster/        the PostgreSQL cluster
//!     run/            its socket, unless the path would be too long
//!     server.log      its log; server.log.1 is the previous one
//! ```

use super::error::EmbeddedError;
use super::server_log;
use rustix::fs::{FlockOperation, flock};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Where sockets are whose path would be too long.
const TEMPORARY: &str = "/tmp";
/// The longest socket path that every system accepts (104 bytes on macOS and the BSDs, 108 on Linux, including the
/// NUL).
const SOCKET_PATH_BYTES: usize = 103;
const SOCKET_FILE: &str = ".s.PGSQL.5432";

/// The locked data folder.
#[derive(Debug)]
pub(super) struct DataFolder {
    /// The `postgres` folder, with links resolved.
    pub(super) home: PathBuf,
    _lock: File,
}

impl DataFolder {
    /// Locks the folder, and creates what is missing.
    pub(super) fn open(data_dir: &Path) -> Result<Self, EmbeddedError> {
        fs::create_dir_all(data_dir).map_err(EmbeddedError::folder("make", data_dir))?;
        let root = data_dir
            .canonicalize()
            .map_err(EmbeddedError::folder("read", data_dir))?;
        refuse_folder_of_others(&root)?;
        let lock = lock(&root)?;
        let home = root.join("postgres");
        make_private(&home)?;
        let home = home
            .canonicalize()
            .map_err(EmbeddedError::folder("read", &home))?;
        refuse_folder_of_others(&home)?;
        Ok(Self { home, _lock: lock })
    }

    pub(super) fn cluster(&self) -> PathBuf {
        self.home.join("cluster")
    }

    pub(super) fn log_file(&self) -> PathBuf {
        self.home.join(server_log::NAME)
    }

    /// Creates the private folder of the socket: in the data folder, or a new one under `/tmp` if the path is too long
    /// for a socket or contains characters that would need quoting in settings and URLs.
    pub(super) fn make_socket_dir(&self) -> Result<SocketDir, EmbeddedError> {
        let near = self.home.join("run");
        let is_near = near.to_str().is_some_and(fits_a_socket);
        let path = if is_near {
            near
        } else {
            new_name(Path::new(TEMPORARY))
        };
        make_private(&path)?;
        Ok(SocketDir {
            path: path.display().to_string(),
            temporary: !is_near,
        })
    }
}

/// Others could exchange anything in their folder at any time, for example the log by a link to a file of ours.
fn refuse_folder_of_others(path: &Path) -> Result<(), EmbeddedError> {
    let owner = fs::metadata(path)
        .map_err(EmbeddedError::folder("read", path))?
        .uid();
    if owner == 0 || owner == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(EmbeddedError::Unusable(format!(
        "the folder {} belongs to the user {owner}, not to the one that runs this: give it to that one (chown -R), or \
         choose another folder with WORKING_MEMORY__DATABASE__DATA_DIR",
        path.display()
    )))
}

/// Makes a folder that only this user may enter, unless it exists.
fn make_private(path: &Path) -> Result<(), EmbeddedError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(EmbeddedError::folder("make", path)(error))
        }
        _ => Ok(()),
    }
}

/// The folder of the server's socket.
#[derive(Debug)]
pub(super) struct SocketDir {
    pub(super) path: String,
    temporary: bool,
}

impl Drop for SocketDir {
    fn drop(&mut self) {
        if self.temporary {
            remove_socket_dir(Path::new(&self.path), rustix::process::geteuid().as_raw());
        }
    }
}

/// Removes a socket folder of this user under `/tmp`, including one left by a killed service; refuses any other path.
pub(super) fn remove_socket_dir(path: &Path, owner: u32) {
    let is_owners = || fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == owner);
    if path.file_name().is_some_and(is_new_name) && path.parent() == Some(Path::new(TEMPORARY)) && is_owners()
    {
        // Best effort: an empty folder may remain.
        let _ = fs::remove_dir_all(path);
    }
}

/// Whether the path of a socket folder needs no quoting in settings and URLs.
pub(super) fn fits_a_socket(dir: &str) -> bool {
    dir.len() + 1 + SOCKET_FILE.len() <= SOCKET_PATH_BYTES
        && dir
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
}

/// Locks the folder while the returned file is open; the lock is released however the process ends.
fn lock(root: &Path) -> Result<File, EmbeddedError> {
    let path = root.join("service.lock");
    let mut open = OpenOptions::new();
    open.read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600);
    let mut file = open.open(&path).map_err(EmbeddedError::folder("write", &path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let mut owner = String::new();
            // If the file is unreadable, the message cannot contain the owner.
            let _ = file.read_to_string(&mut owner);
            return Err(EmbeddedError::InUse {
                folder: root.display().to_string(),
                owner: match owner.trim().parse::<u32>() {
                    Ok(pid) => format!("process {pid}"),
                    Err(_) => "process unknown".to_owned(),
                },
            });
        }
        Err(error) => return Err(EmbeddedError::folder("lock", &path)(error.into())),
    }
    let written = file
        .set_len(0)
        .and_then(|()| writeln!(file, "{}", std::process::id()));
    written.map_err(EmbeddedError::folder("write", &path))?;
    Ok(file)
}

const NAME_PREFIX: &str = "working-memory-";

/// An unpredictable path below `base`.
pub(crate) fn new_name(base: &Path) -> PathBuf {
    base.join(format!("{NAME_PREFIX}{:016x}", fastrand::u64(..)))
}

/// Whether `name` has the form that [`new_name`] generates.
fn is_new_name(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(NAME_PREFIX));
    random.is_some_and(|random| random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_goes_into_the_data_folder_only_where_its_path_is_short_and_plain() {
        assert!(fits_a_socket("/srv/working-memory_1.2/postgres/run"));
        assert!(!fits_a_socket("/srv/with blank/run"));
        assert!(!fits_a_socket("/srv/a,b/run"));
        assert!(fits_a_socket(&format!("/{}", "x".repeat(88))));
        assert!(!fits_a_socket(&format!("/{}", "x".repeat(89))));
    }

    #[test]
    fn a_folder_is_held_by_one_service_which_the_message_names() {
        let dir = tempfile::tempdir().unwrap();
        let held = lock(dir.path()).unwrap();
        let refused = lock(dir.path()).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("process {}", std::process::id())),
            "{refused}"
        );
        drop(held);
        assert!(lock(dir.path()).is_ok());
    }

    #[test]
    fn only_socket_folders_of_our_own_making_are_removed() {
        let other = tempfile::Builder::new()
            .prefix(NAME_PREFIX)
            .tempdir_in(TEMPORARY)
            .unwrap();
        let own = new_name(Path::new(TEMPORARY));
        fs::create_dir(&own).unwrap();
        let user = rustix::process::geteuid().as_raw();
        remove_socket_dir(other.path(), user);
        remove_socket_dir(&own, user + 1);
        assert!(other.path().exists() && own.exists());
        remove_socket_dir(&own, user);
        assert!(!own.exists());
    }
}
