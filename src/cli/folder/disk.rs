//! A locked folder on a disk: its half of the [engine](super::engine)'s operations, and its state file. And single files.

use super::engine::Bases;
use super::swap::{self, Placed};
use super::tree::Tree;
use crate::cli::client::{Failure, note};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The hash by which texts are compared.
pub(in crate::cli) fn hash(text: &[u8]) -> String {
    hex::encode(Sha256::digest(text))
}

/// The folder.
pub(in crate::cli) struct Disk<'d> {
    /// Its path, for messages.
    pub(in crate::cli) shown: &'d Path,
    pub(in crate::cli) tree: Tree,
}

impl Disk<'_> {
    pub(in crate::cli) fn failed(&self, path: &str, error: &io::Error) -> Failure {
        Failure::failed(format!("{} {error}", self.shown.join(path).display()))
    }

    pub(in crate::cli) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.tree.read(path).map_err(|error| self.failed(path, &error))
    }

    pub(in crate::cli) fn write(
        &self,
        path: &str,
        text: &str,
        expected: Option<&str>,
    ) -> Result<Placed, Failure> {
        let done = match expected {
            Some(expected) => swap::replace(&self.tree, path, text.as_bytes(), expected),
            None => swap::create(&self.tree, path, text.as_bytes()),
        };
        self.placed(path, done)
    }

    pub(in crate::cli) fn remove(&self, path: &str, expected: &str) -> Result<Placed, Failure> {
        self.placed(path, swap::remove(&self.tree, path, expected))
    }

    pub(in crate::cli) fn keep(
        &self,
        copies: impl Iterator<Item = String>,
        path: &str,
        text: &[u8],
    ) -> Result<String, Failure> {
        swap::keep(&self.tree, copies, text).map_err(|error| self.failed(path, &error))
    }

    /// An error of a single file is reported and the other files continue; a full disk ends the work.
    fn placed(&self, path: &str, done: io::Result<Placed>) -> Result<Placed, Failure> {
        match done {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                Err(self.failed(path, &error))
            }
            Err(error) => Ok(Placed::Blocked(error.to_string())),
            Ok(placed) => Ok(placed),
        }
    }

    /// Cleans up what a killed program left behind in some folders (`""`, or paths that end in `/`).
    ///
    /// # Errors
    /// An I/O error.
    pub(in crate::cli) fn recover<'f>(
        &self,
        folders: impl IntoIterator<Item = &'f str>,
        bases: &Bases,
    ) -> Result<(), Failure> {
        let base = |path: &str| bases.get(path).map(|base| base.sha256.clone());
        for above in folders {
            let names = self.tree.names(above).unwrap_or_default();
            for name in names.iter().filter(|name| swap::is_left_behind(name)) {
                let kept = swap::recover(&self.tree, above, name, base);
                if let Some(kept) = kept.map_err(|error| self.failed(&format!("{above}{name}"), &error))? {
                    note(&format!(
                        "an earlier run was interrupted; a text of it is kept as {kept}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Reads the state file; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read; one that has another form is [`ErrorKind::InvalidData`].
    pub(in crate::cli) fn state<T: DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        let bytes = self.tree.read(name)?;
        let state = bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose();
        state.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }

    /// Writes it atomically.
    ///
    /// # Errors
    /// An I/O error.
    pub(in crate::cli) fn save(&self, name: &str, state: &impl Serialize) -> Result<(), Failure> {
        let json = serde_json::to_string_pretty(state).map_err(io::Error::from);
        json.and_then(|json| self.tree.replace(name, format!("{json}\n").as_bytes()))
            .map_err(|error| self.failed(name, &error))
    }
}

/// A new file, which appears under its name when it is complete, and is removed if it never is.
pub(in crate::cli) struct NewFile<'p> {
    path: &'p Path,
    part: PathBuf,
}

impl<'p> NewFile<'p> {
    /// Creates it beside its final name: a rename is atomic only within one folder.
    ///
    /// # Errors
    /// It cannot be created.
    pub(in crate::cli) fn create(path: &'p Path, mode: u32) -> Result<(Self, File), Failure> {
        let part = path.with_file_name(format!(".working-memory.{}.part", std::process::id()));
        let new = Self { path, part };
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&new.part);
        file.map_err(|error| new.failed(&error)).map(|file| (new, file))
    }

    /// Gives it its name; replaces an existing file only with `replace`.
    ///
    /// # Errors
    /// An I/O error.
    pub(in crate::cli) fn place(self, replace: bool) -> Result<(), Failure> {
        let done = match replace {
            true => fs::rename(&self.part, self.path),
            false => fs::hard_link(&self.part, self.path),
        };
        done.map_err(|error| self.failed(&error))
    }

    pub(in crate::cli) fn failed(&self, error: &io::Error) -> Failure {
        Failure::failed(format!("cannot write {}: {error}", self.path.display()))
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        // After a rename no file has that name any more.
        let _ = fs::remove_file(&self.part);
    }
}

/// Writes a file atomically; replaces an existing one only with `replace`.
pub(in crate::cli) fn write_file(path: &Path, text: &str, mode: u32, replace: bool) -> Result<(), Failure> {
    let (new, mut file) = NewFile::create(path, mode)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| new.failed(&error))?;
    new.place(replace)
}
