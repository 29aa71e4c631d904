//! Single files, which appear under their names when they are complete.

use super::swap::rename_new;
use crate::cli::client::Failure;
use crate::clock::{Clock as _, SystemClock};
use rustix::fs::CWD;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// A new file, which appears under its name when it is complete, and is removed if it never is.
pub(in crate::cli) struct NewFile<'p> {
    path: &'p Path,
    part: PathBuf,
}

impl<'p> NewFile<'p> {
    /// Creates it beside its final name: a rename is atomic only within one folder. No killed program left a file of this
    /// name; the number of its process may be given again, and in a container it is. Who may not use the file that it
    /// replaces may not use it.
    ///
    /// # Errors
    /// It cannot be created, or something else than a file has its name: a device or a pipe is not replaced.
    pub(in crate::cli) fn create(path: &'p Path, mode: u32) -> Result<(Self, File), Failure> {
        let mode = match fs::metadata(path) {
            Ok(there) if there.is_file() => mode & there.permissions().mode(),
            Ok(_) => {
                let shown = path.display();
                return Err(Failure::usage(format!("{shown} is not a regular file")));
            }
            Err(_) => mode,
        };
        let part = path.with_file_name(format!(".working-memory.{}.part", SystemClock.new_id()));
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
            false => rename_new(CWD, &*self.part, self.path).map_err(Into::into),
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
