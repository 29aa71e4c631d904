//! Single files, which appear under their names when they are complete.

use crate::cli::client::Failure;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// Creates a file that [`place`] gives its name, beside that name: a rename is atomic only within one folder. It is removed
/// if it is never placed. Who may not use the file that it replaces may not use it.
///
/// # Errors
/// It cannot be created, or something else than a file has its name: a device or a pipe is not replaced.
pub(in crate::cli) fn new_file(path: &Path, mode: u32) -> Result<NamedTempFile, Failure> {
    let mode = match fs::metadata(path) {
        Ok(there) if there.is_file() => mode & there.permissions().mode(),
        Ok(_) => {
            let shown = path.display();
            return Err(Failure::usage(format!("{shown} is not a regular file")));
        }
        Err(_) => mode,
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Builder::new()
        .prefix(".working-memory.")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .map_err(|error| failed(path, &error))
}

/// Gives a new file its name; replaces an existing file only with `replace`.
///
/// # Errors
/// An I/O error.
pub(in crate::cli) fn place(new: NamedTempFile, path: &Path, replace: bool) -> Result<(), Failure> {
    let placed = match replace {
        true => new.persist(path),
        false => new.persist_noclobber(path),
    };
    placed.map(drop).map_err(|error| failed(path, &error.error))
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("cannot write {}: {error}", path.display()))
}

/// Writes a file atomically; replaces an existing one only with `replace`.
///
/// # Errors
/// As [`new_file`], or an I/O error.
pub(in crate::cli) fn write_file(path: &Path, text: &str, mode: u32, replace: bool) -> Result<(), Failure> {
    let mut new = new_file(path, mode)?;
    let written = new
        .write_all(text.as_bytes())
        .and_then(|()| new.as_file().sync_all());
    written.map_err(|error| failed(path, &error))?;
    place(new, path, replace)
}
