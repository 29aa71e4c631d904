//! The data folder: its lock and its layout.
//!
//! ```text
//! <data folder>/
//!   service.lock      locked while a service uses the folder (which belongs to root if that runs as root)
//!   postgres/         the server's files (a link, if its account cannot access the data folder)
//!     cluster/        the PostgreSQL cluster
//!     run/            its socket, unless the path would be too long
//!     server.log      its log; server.log.1 is the previous one
//! ```

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags};

use super::account::Account;
use super::error::EmbeddedError;
use super::handle::Folder;
use super::server_log;

/// Where root places a cluster if the server's account cannot access the data folder.
const REACHABLE: &str = "/var/lib/working-memory";
/// The same for throw-away clusters, and the location of sockets whose path would be too long.
const TEMPORARY: &str = "/tmp";
/// The longest socket path that every system accepts (104 bytes on macOS and the BSDs, 108 on Linux, including the
/// NUL).
const SOCKET_PATH_BYTES: usize = 103;
const SOCKET_FILE: &str = ".s.PGSQL.5432";

/// The locked data folder.
#[derive(Debug)]
pub(super) struct DataFolder {
    /// The `postgres` folder, with links resolved.
    pub(super) home: Folder,
    /// The account that runs the server.
    pub(super) account: Account,
    _lock: File,
}

impl DataFolder {
    /// Locks the folder, and creates what is missing.
    pub(super) async fn open(data_dir: &Path, throw_away: bool) -> Result<Self, EmbeddedError> {
        fs::create_dir_all(data_dir).map_err(EmbeddedError::folder("make", data_dir))?;
        let root = data_dir
            .canonicalize()
            .and_then(|path| Folder::open(&path))
            .map_err(EmbeddedError::folder("read", data_dir))?;
        keep_for_root(&root).map_err(EmbeddedError::folder("change the owner of", data_dir))?;
        let lock = lock(&root)?;
        let link = root.path().join("postgres");
        let there = root.has("postgres");
        let home = match there {
            true => Some(home_of(&root)?),
            false => None,
        };
        let account = Account::choose(home.as_ref())?;
        let home = match home {
            Some(home) => home,
            None => {
                make_home(&root, &link, account, throw_away).await?;
                home_of(&root)?
            }
        };
        Ok(Self {
            home,
            account,
            _lock: lock,
        })
    }

    pub(super) fn cluster(&self) -> PathBuf {
        self.home.path().join("cluster")
    }

    pub(super) fn log_file(&self) -> PathBuf {
        self.home.path().join(server_log::NAME)
    }

    /// Creates the private folder of the socket: in the data folder, or a new one under `/tmp` if the path is too long
    /// for a socket or contains characters that would need quoting in settings and URLs.
    pub(super) fn make_socket_dir(&self) -> Result<SocketDir, EmbeddedError> {
        let owner = self.account.uid();
        let near = self.home.path().join("run");
        if let Some(path) = near.to_str()
            && fits_a_socket(path)
        {
            if !self.home.has("run") {
                private_dir(&self.home, "run", self.account)?;
            }
            let run = self.home.folder("run");
            run.map_err(EmbeddedError::folder("read", &near))?;
            return Ok(SocketDir {
                path: path.to_owned(),
                temporary: false,
                owner,
            });
        }
        let far = new_name(Path::new(TEMPORARY));
        private_dir_at(&far, self.account)?;
        Ok(SocketDir {
            path: far.display().to_string(),
            temporary: true,
            owner,
        })
    }
}

/// As root, the data folder must belong to root: earlier releases gave it to the server's account if that could not
/// pass through it. A folder of an ordinary user keeps its owner.
fn keep_for_root(root: &Folder) -> std::io::Result<()> {
    if rustix::process::geteuid().is_root() && Account::is_a_servers(root.owner()?) {
        root.take_back()?;
    }
    Ok(())
}

fn home_of(root: &Folder) -> Result<Folder, EmbeddedError> {
    let path = root.path().join("postgres");
    root.folder_or_own_link("postgres")
        .map_err(EmbeddedError::folder("read", &path))
}

/// The folder of the server's socket.
#[derive(Debug)]
pub(super) struct SocketDir {
    pub(super) path: String,
    temporary: bool,
    /// The user that owns it.
    owner: u32,
}

impl Drop for SocketDir {
    fn drop(&mut self) {
        if self.temporary {
            remove_socket_dir(Path::new(&self.path), self.owner);
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
fn lock(root: &Folder) -> Result<File, EmbeddedError> {
    let path = root.path().join("service.lock");
    let mut file = root
        .private_file("service.lock", OFlags::empty())
        .map_err(EmbeddedError::folder("write", &path))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let mut owner = String::new();
            // If the file is unreadable, the message cannot contain the owner.
            let _ = file.read_to_string(&mut owner);
            return Err(EmbeddedError::InUse {
                folder: root.path().display().to_string(),
                pid: owner.trim().parse().ok(),
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

/// Creates the `postgres` folder. Another account must be able to reach it: a data folder without other content gets
/// permission to pass through. If that does not help (because of a parent folder of mode 0700), the cluster is created
/// in an accessible folder, with a link to it.
async fn make_home(
    root: &Folder,
    link: &Path,
    account: Account,
    throw_away: bool,
) -> Result<(), EmbeddedError> {
    let path = root.path();
    let mut reached = account.reaches(path).await;
    if !reached && holds_nothing_else(path) && account.reaches(path.parent().unwrap_or(path)).await {
        root.let_through()
            .map_err(EmbeddedError::folder("change the mode of", path))?;
        reached = account.reaches(path).await;
    }
    if reached {
        return private_dir(root, "postgres", account);
    }
    let base = Path::new(if throw_away { TEMPORARY } else { REACHABLE });
    fs::create_dir_all(base).map_err(EmbeddedError::folder("make", base))?;
    let home = new_name(base);
    private_dir_at(&home, account)?;
    symlink(&home, link).map_err(EmbeddedError::folder("make", link))?;
    tracing::warn!(
        data_dir = %path.display(),
        cluster = %home.display(),
        "PostgreSQL does not run as root, and its account cannot reach the data folder: the cluster is kept \
         elsewhere, with a link to it in the data folder"
    );
    Ok(())
}

fn holds_nothing_else(root: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(root) else {
        return false;
    };
    entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == "service.lock"))
}

const NAME_PREFIX: &str = "working-memory-";

/// An unpredictable path below `base`.
pub(crate) fn new_name(base: &Path) -> PathBuf {
    base.join(format!("{NAME_PREFIX}{:016x}", fastrand::u64(..)))
}

/// Whether `name` has the form that [`new_name`] generates.
pub(crate) fn is_new_name(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(NAME_PREFIX));
    random.is_some_and(|random| random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Creates a folder that only `account` and root may enter.
fn private_dir(parent: &Folder, name: &str, account: Account) -> Result<(), EmbeddedError> {
    parent
        .make_folder(name, account.ids())
        .map(drop)
        .map_err(EmbeddedError::folder("make", &parent.path().join(name)))
}

/// The same at a path whose parent folder is trusted.
fn private_dir_at(path: &Path, account: Account) -> Result<(), EmbeddedError> {
    let made = || -> std::io::Result<()> {
        let (parent, name) = (path.parent(), path.file_name().and_then(OsStr::to_str));
        let (Some(parent), Some(name)) = (parent, name) else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        Folder::open(&parent.canonicalize()?)?.make_folder(name, account.ids())?;
        Ok(())
    };
    made().map_err(EmbeddedError::folder("make", path))
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
        let folder = Folder::open(dir.path()).unwrap();
        let held = lock(&folder).unwrap();
        let refused = lock(&folder).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("process {}", std::process::id())),
            "{refused}"
        );
        drop(held);
        assert!(lock(&folder).is_ok());
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
