//! A folder on disk from which no path leads out: every step is opened relative to the open folder above it, and no
//! symbolic link is followed.

use crate::cli::client::Failure;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
pub(in crate::cli) const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// An open folder. Paths are relative to it, with `/` between names; no name is `..`.
#[derive(Debug)]
pub(in crate::cli) struct Tree {
    /// Its path, for messages.
    pub(in crate::cli) shown: PathBuf,
    root: OwnedFd,
    /// Whether new folders and files are their owner's alone.
    is_private: bool,
}

impl Tree {
    /// Opens a folder.
    ///
    /// # Errors
    /// It is not a folder, or may not be read.
    pub(in crate::cli) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            shown: path.to_owned(),
            root: rustix::fs::open(path, FOLDER, Mode::empty())?,
            is_private: false,
        })
    }

    /// Creates the folder if it does not exist, and opens it.
    ///
    /// # Errors
    /// As [`Tree::open`], or it cannot be created.
    pub(in crate::cli) fn create(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => io::Error::other("is not a folder"),
            _ => error,
        })?;
        Self::open(path)
    }

    /// As [`Tree::create`], with folders and files that only their owner may read: they quote a memory.
    ///
    /// # Errors
    /// As [`Tree::create`].
    pub(in crate::cli) fn create_private(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Ok(Self {
            is_private: true,
            ..Self::open(path)?
        })
    }

    /// Locks the folder for as long as the value exists: out other writers, or with a shared lock writers only. Waits for the
    /// lock, unless the operation says otherwise.
    ///
    /// # Errors
    /// The file system does not support locks; [`ErrorKind::WouldBlock`]: another process holds it.
    pub(in crate::cli) fn lock(&self, operation: FlockOperation) -> io::Result<()> {
        Ok(rustix::fs::flock(&self.root, operation)?)
    }

    /// Whether its path still leads to it: not if it was moved, removed or replaced since it was opened.
    ///
    /// # Errors
    /// An I/O error.
    pub(in crate::cli) fn is_in_place(&self) -> io::Result<bool> {
        let opened = rustix::fs::fstat(&self.root)?;
        match rustix::fs::stat(&self.shown) {
            Ok(there) => Ok((there.st_dev, there.st_ino) == (opened.st_dev, opened.st_ino)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The folder of a path's file, and the file's name. `None` if that folder is missing.
    ///
    /// # Errors
    /// A step of it is a symbolic link or leads out of this one; one that is not a folder is [`ErrorKind::NotADirectory`].
    pub(in crate::cli) fn parent<'p>(
        &self,
        path: &'p str,
        make: bool,
    ) -> io::Result<Option<(OwnedFd, &'p str)>> {
        let mut folder = self.root.try_clone()?;
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            match step(&folder, part, make.then(|| self.mode(0o777))) {
                Ok(next) => folder = next,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        if matches!(name, "" | "." | "..") {
            return Err(io::Error::other("is not a file name"));
        }
        Ok(Some((folder, name)))
    }

    /// The permissions of something new.
    fn mode(&self, bits: u32) -> Mode {
        Mode::from_raw_mode(if self.is_private { bits & 0o700 } else { bits })
    }

    /// Writes a temporary file in place of one that an earlier writer left behind, and syncs it to disk. Who may read the file
    /// `like` beside it, if there is one, may read it.
    ///
    /// # Errors
    /// An I/O error; then there is no such file.
    pub(in crate::cli) fn write_part(
        &self,
        folder: &OwnedFd,
        part: &str,
        bytes: &[u8],
        like: &str,
    ) -> io::Result<()> {
        unlink(folder, part)?;
        let like = kind_of(folder, like)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(folder, part, flags, self.mode(0o666))?);
        if let Some((FileType::RegularFile, mode)) = like {
            // A file system without permissions has none to keep.
            let _ = rustix::fs::fchmod(&file, mode);
        }
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        written.inspect_err(|_| {
            // The first error is returned.
            let _ = unlink(folder, part);
        })
    }

    /// Writes a file atomically: a reader sees the old or the new content. What another program wrote
    /// meanwhile is replaced too: where that must not be, [`swap`](super::swap) is used.
    ///
    /// # Errors
    /// A folder above it is a symbolic link, or an I/O error.
    pub(in crate::cli) fn replace(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let (folder, name) = self.parent(path, true)?.ok_or_else(no_folder)?;
        let part = format!(".{name}.working-memory.part");
        self.write_part(&folder, &part, bytes, name)?;
        rustix::fs::renameat(&folder, &part, &folder, name)?;
        Ok(rustix::fs::fsync(&folder)?)
    }

    /// The bytes of a file; `None` if it does not exist.
    ///
    /// # Errors
    /// It, or a folder above it, is a symbolic link; it is not a regular file; it is over 64 MiB.
    pub(in crate::cli) fn read(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        let Some((folder, name)) = self.parent(path, false)? else {
            return Ok(None);
        };
        // NONBLOCK: do not wait for the other end of a pipe.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&folder, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(is_link()),
            Err(error) => return Err(error.into()),
        };
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("is not a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(io::Error::other(format!("is over {MAX_FILE_BYTES} bytes")));
        }
        Ok(Some(bytes))
    }

    /// The failure of an operation on a file.
    pub(in crate::cli) fn failed(&self, path: &str, error: &io::Error) -> Failure {
        Failure::failed(format!("{} {error}", self.shown.join(path).display()))
    }

    /// Reads a state file; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read; one that has another form is [`ErrorKind::InvalidData`].
    pub(in crate::cli) fn state<T: DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        let state = self.read(name)?.map(|bytes| serde_json::from_slice(&bytes));
        state
            .transpose()
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }

    /// Writes it atomically.
    ///
    /// # Errors
    /// An I/O error.
    pub(in crate::cli) fn save(&self, name: &str, state: &impl Serialize) -> Result<(), Failure> {
        let json = serde_json::to_string_pretty(state).map_err(io::Error::from);
        json.and_then(|json| self.replace(name, format!("{json}\n").as_bytes()))
            .map_err(|error| self.failed(name, &error))
    }

    /// The names in a folder, in order; none if it does not exist. Names that are not UTF-8 are omitted.
    ///
    /// # Errors
    /// It is a symbolic link, or cannot be read.
    pub(in crate::cli) fn names(&self, folder: &str) -> io::Result<Vec<String>> {
        let Some((folder, _)) = self.parent(&format!("{folder}x"), false)? else {
            return Ok(Vec::new());
        };
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            if entry.file_type() != FileType::Directory
                && let Ok(name) = entry.file_name().to_str()
            {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// Opens the subfolder of this name, and creates it first with the permissions of `make`.
fn step(folder: &OwnedFd, name: &str, make: Option<Mode>) -> io::Result<OwnedFd> {
    if matches!(name, "." | "..") {
        return Err(io::Error::other("leads out of the folder"));
    }
    if let Some(mode) = make {
        match rustix::fs::mkdirat(folder, name, mode) {
            // The new name is on disk when the folder above it is.
            Ok(()) => rustix::fs::fsync(folder)?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match rustix::fs::openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(next) => Ok(next),
        Err(Errno::LOOP) => Err(is_link()),
        // So is a symbolic link for some kernels.
        Err(Errno::NOTDIR) => Err(match kind_of(folder, name)? {
            Some((FileType::Symlink, _)) => is_link(),
            _ => io::Error::new(ErrorKind::NotADirectory, format!("{name} is not a folder")),
        }),
        Err(error) => Err(error.into()),
    }
}

fn is_link() -> io::Error {
    io::Error::other("is or is behind a symbolic link, which is not followed")
}

/// What has this name, itself and not what it links to, and its permissions.
///
/// # Errors
/// An I/O error.
pub(in crate::cli) fn kind_of(folder: &OwnedFd, name: &str) -> io::Result<Option<(FileType, Mode)>> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some((
            FileType::from_raw_mode(found.st_mode),
            Mode::from_raw_mode(found.st_mode & 0o777),
        ))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Removes a file, if it exists.
pub(in crate::cli) fn unlink(folder: &OwnedFd, name: &str) -> io::Result<()> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(in crate::cli) fn no_folder() -> io::Error {
    io::Error::other("its folder cannot be created")
}
